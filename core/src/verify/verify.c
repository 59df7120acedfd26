/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gc/heap.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "verify/resolve.h"

const char *verdict_name(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_DAMAGE:
		return "damage";
	case VERDICT_GC_IN_PROGRESS:
		return "gc-in-progress";
	case VERDICT_MISSING_BYTES:
		return "missing-bytes";
	case VERDICT_UNOWNED_CONTEXT:
		break;
	}
	return "unowned-context";
}

void verify_result_deinit(struct verify_result *result)
{
	verify_findings_free(result->findings, result->count, result->capacity);
	mem_free(result->damaged);
	*result = (struct verify_result){ 0 };
}

static void resolver_deinit(struct resolver *resolver)
{
	pages_free(resolver->notes.gaps, resolver->notes.gap_count, sizeof(*resolver->notes.gaps));
	pages_free(resolver->notes.references, resolver->notes.reference_count,
		   sizeof(*resolver->notes.references));
	pages_free(resolver->notes.objects, resolver->notes.object_count,
		   sizeof(*resolver->notes.objects));
	finding_list_deinit(&resolver->found);
	pages_free(resolver->contexts, resolver->contexts_capacity, sizeof(*resolver->contexts));
	mem_free(resolver->segment_ends);
	mem_free(resolver->damaged);
	window_deinit(&resolver->window);
	*resolver = (struct resolver){ 0 };
}

static enum hd_status resolver_init(struct resolver *resolver, struct heap *heap,
				    const struct verify_options *options, struct address_map *map,
				    struct hd_error *err)
{
	const struct runtime *runtime = heap->runtime;
	*resolver =
		(struct resolver){ .heap = heap,
				   .options = options,
				   .map = map,
				   .window = { .memory = heap->memory },
				   .list = NO_FINDING,
				   .may_allocate = !runtime_knows_thread_modes(runtime) ||
						   !runtime_knows_all_threads(runtime),
				   .is_background = runtime_gc(runtime)->gc_state != GC_STATE_FREE,
				   .is_sweeping =
					   runtime_gc(runtime)->gc_state == GC_STATE_PLANNING };
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		resolver->may_allocate =
			resolver->may_allocate ||
			thread_may_allocate(resolver, runtime_thread_at(runtime, i));
	}
	resolver->segment_ends =
		mem_alloc(heap->segment_count + 1, sizeof(*resolver->segment_ends));
	TRY_MEMORY(resolver->segment_ends, err);
	for (size_t i = 0; i < heap->segment_count; i++)
		resolver->segment_ends[i] = NO_FINDING;
	return HD_OK;
}

/* Put the rows of all workers into one array of @p count. */
#define GATHER(scans, field, to, to_count)                                                \
	do {                                                                              \
		size_t count_ = 0;                                                        \
		for (unsigned int i_ = 0; i_ < (scans)->count; i_++)                      \
			count_ += (scans)->rows[i_].notes.field##_count;                  \
		if (count_) {                                                             \
			(to) = pages_alloc(count_, sizeof(*(to)));                        \
			if (!(to))                                                        \
				return fail_nomem(err);                                   \
		}                                                                         \
		for (unsigned int i_ = 0; i_ < (scans)->count; i_++) {                    \
			struct scan_notes *from_ = &(scans)->rows[i_].notes;              \
			if ((to) && from_->field##_count)                                 \
				memcpy((to) + (to_count), from_->field,                   \
				       from_->field##_count * sizeof(*(to)));             \
			(to_count) += from_->field##_count;                               \
			pages_free(from_->field, from_->field##_capacity, sizeof(*(to))); \
			from_->field = NULL;                                              \
			from_->field##_count = from_->field##_capacity = 0;               \
		}                                                                         \
	} while (0)

ORDER_BY(compare_gaps, struct verify_gap, damage.address)

ORDER_BY(compare_odd, struct odd_object, object)

static enum hd_status gather_gaps(struct resolver *resolver, struct scans *scans,
				  struct hd_error *err)
{
	GATHER(scans, gaps, resolver->notes.gaps, resolver->notes.gap_count);
	for (unsigned int i = 0; i < scans->count; i++) {
		resolver->marks.nodes += scans->rows[i].marks.nodes;
		resolver->marks.is_planning |= scans->rows[i].marks.is_planning;
		if (scans->rows[i].marks.condemned > resolver->marks.condemned)
			resolver->marks.condemned = scans->rows[i].marks.condemned;
	}
	if (resolver->notes.gap_count) {
		qsort(resolver->notes.gaps, resolver->notes.gap_count,
		      sizeof(*resolver->notes.gaps), compare_gaps);
	}
	return HD_OK;
}

static enum hd_status gather_references(struct resolver *resolver, struct scans *scans,
					struct hd_error *err)
{
	GATHER(scans, references, resolver->notes.references, resolver->notes.reference_count);
	resolver->notes.reference_capacity = resolver->notes.reference_count;
	return HD_OK;
}

static enum hd_status gather_objects(struct resolver *resolver, struct scans *scans,
				     struct hd_error *err)
{
	GATHER(scans, objects, resolver->notes.objects, resolver->notes.object_count);
	if (resolver->notes.object_count) {
		qsort(resolver->notes.objects, resolver->notes.object_count,
		      sizeof(*resolver->notes.objects), compare_odd);
	}
	for (unsigned int i = 0; i < scans->count; i++) {
		resolver->found.not_kept += scans->rows[i].notes.not_kept;
		resolver->marks.marked += scans->rows[i].marks.marked;
	}
	return HD_OK;
}

/* Does the target lack bytes of the heap?  Then other bytes may be missing, too. */
static bool is_partial(const struct resolver *resolver)
{
	const struct target *target = heap_target(resolver->heap);
	for (size_t i = 0; i < resolver->notes.gap_count; i++) {
		if (resolver->notes.gaps[i].damage.kind == DAMAGE_MISSING_BYTES)
			return true;
	}
	return resolver->heap->segment_count == 0 || (target && target->core.is_truncated);
}

/* Note everything that is wrong. */
static enum hd_status find_odd(struct resolver *resolver, struct scans *scans, struct hd_error *err)
{
	TRY(scan_starts(scans, err));
	TRY(gather_gaps(resolver, scans, err));
	resolver->is_partial = is_partial(resolver);
	TRY(verify_lists(resolver, err));
	TRY(open_gaps(resolver, err));
	TRY(verify_contexts(resolver, err));
	TRY(scan_objects(scans, err));
	TRY(gather_references(resolver, scans, err));
	return gather_objects(resolver, scans, err);
}

/* Find the causes. */
static enum hd_status find_faults(struct resolver *resolver, struct scans *scans,
				  struct hd_error *err)
{
	TRY(find_zones(resolver, scans, err));
	TRY(resolve_zones(resolver, err));
	TRY(resolve_references(resolver, err));
	TRY(finding_list_index(&resolver->found, err));
	TRY(resolve_gaps(resolver, err));
	TRY(resolve_own_faults(resolver, err));
	TRY(resolve_objects(resolver, err));
	return verify_finalizer_queues(resolver, err);
}

ORDER_BY2(compare_links, struct link, finding, object)

static bool has_range(const struct verify_options *options)
{
	return options->begin || options->end;
}

/* Give the findings their consequences, each object once. */
static void set_consequences(struct resolver *resolver)
{
	const struct verify_options *options = resolver->options;
	for (size_t i = 0; i < resolver->found.links_count; i++) {
		resolver->found.links[i].finding =
			finding_list_final(&resolver->found, resolver->found.links[i].finding);
	}
	if (resolver->found.links_count) {
		qsort(resolver->found.links, resolver->found.links_count,
		      sizeof(*resolver->found.links), compare_links);
	}
	for (size_t i = 0; i < resolver->found.links_count; i++) {
		const struct link *link = &resolver->found.links[i];
		if (link->finding == NO_FINDING || (i && compare_links(link, link - 1) == 0) ||
		    resolver->found.rows[link->finding].address == link->object)
			continue;
		struct verify_finding *finding = &resolver->found.rows[link->finding];
		if (finding->consequence_count < CONSEQUENCES_KEPT)
			finding->consequences[finding->consequence_count] = link->object;
		finding->consequence_count++;
		finding->reaches_range |= !has_range(options) || (link->object >= options->begin &&
								  link->object < options->end);
	}
}

static bool is_damage(const struct verify_finding *finding)
{
	return finding->kind && finding->verdict == VERDICT_DAMAGE;
}

/* Findings keep few of their consequences, but all are here. */
static enum hd_status list_damaged(struct resolver *resolver, struct hd_error *err)
{
	const struct finding_list *found = &resolver->found;
	size_t count = 0, kept = 0;
	uint64_t *rows = mem_alloc(found->rows_count + found->links_count + 1, sizeof(*rows));
	TRY_MEMORY(rows, err);
	for (size_t i = 0; i < found->rows_count; i++) {
		if (is_damage(&found->rows[i]))
			rows[count++] = found->rows[i].address;
	}
	for (size_t i = 0; i < found->links_count; i++) {
		const struct link *link = &found->links[i];
		if (link->finding != NO_FINDING && is_damage(&found->rows[link->finding]))
			rows[count++] = link->object;
	}
	sort_u64(rows, count);
	for (size_t i = 0; i < count; i++) {
		if (!kept || rows[kept - 1] != rows[i])
			rows[kept++] = rows[i];
	}
	resolver->damaged = rows;
	resolver->damaged_count = kept;
	return HD_OK;
}

static bool is_chosen_finding(const struct verify_options *options,
			      const struct verify_finding *finding)
{
	if (finding->reaches_range || (!options->segments && !has_range(options)))
		return true;
	if (has_range(options) &&
	    (finding->address < options->begin || finding->address >= options->end))
		return false;
	for (size_t i = 0; options->segments && i < options->segment_count; i++) {
		if (options->segments[i]->address == finding->segment)
			return true;
	}
	return !options->segments;
}

ORDER_BY3(compare_findings, struct verify_finding, segment, address, slot)

/* Keep those that are confirmed and were asked for, in order, with the objects before them. */
static void select_findings(struct resolver *resolver)
{
	size_t kept = 0;
	for (size_t i = 0; i < resolver->found.rows_count; i++) {
		struct verify_finding *finding = &resolver->found.rows[i];
		if (!finding->kind || !is_chosen_finding(resolver->options, finding)) {
			mem_free(finding->detail);
			continue;
		}
		const struct segment *segment = heap_segment_at(resolver->heap, finding->address);
		struct object before;
		if (!finding->last_good.type && segment && finding->address > segment->begin &&
		    resolver_block_at(resolver, segment, finding->address - 8, &before) &&
		    before.address < finding->address)
			finding->last_good = before;
		resolver->found.rows[kept++] = *finding;
	}
	resolver->found.rows_count = kept;
	if (kept)
		qsort(resolver->found.rows, kept, sizeof(*resolver->found.rows), compare_findings);
}

ORDER_BY2(compare_referrers, struct referrer, target, object)

static void add_referrer(struct resolver *resolver, const struct referrer *referrer)
{
	uint32_t index = finding_list_at(&resolver->found, referrer->target);
	if (index == NO_FINDING)
		return;
	struct verify_finding *finding = &resolver->found.rows[index];
	if (finding->referrer_count < CONSEQUENCES_KEPT)
		finding->referrers[finding->referrer_count] = referrer->object;
	finding->referrer_count++;
}

/* Walk the heap once more: which objects refer to what was found? */
static enum hd_status set_referrers(struct resolver *resolver, struct scans *scans,
				    struct hd_error *err)
{
	TRY(finding_list_index(&resolver->found, err));
	address_map_clear(resolver->map);
	for (size_t i = 0; i < resolver->found.rows_count; i++) {
		uint64_t address = resolver->found.rows[i].address;
		const struct segment *segment = heap_segment_at(resolver->heap, address);
		if (segment && address % 8 == 0)
			address_map_add(resolver->map, segment, address);
	}
	TRY(scan_referrers(scans, err));
	for (unsigned int i = 0; i < scans->count; i++) {
		const struct referrer *rows = scans->rows[i].notes.referrers;
		size_t count = scans->rows[i].notes.referrers_count;
		if (count) {
			qsort(scans->rows[i].notes.referrers, count, sizeof(*rows),
			      compare_referrers);
		}
		for (size_t j = 0; j < count; j++) {
			if (j == 0 || compare_referrers(&rows[j], &rows[j - 1]) != 0)
				add_referrer(resolver, &rows[j]);
		}
	}
	return HD_OK;
}

static void move_result(struct resolver *resolver, const struct scans *scans,
			struct verify_result *ret)
{
	*ret = (struct verify_result){ .findings = resolver->found.rows,
				       .count = resolver->found.rows_count,
				       .capacity = resolver->found.rows_capacity,
				       .not_kept = resolver->found.not_kept,
				       .damaged = resolver->damaged,
				       .damaged_count = resolver->damaged_count,
				       .marked = resolver->marks.marked,
				       .plug_nodes = resolver->marks.nodes };
	for (unsigned int i = 0; i < scans->count; i++)
		ret->objects += scans->rows[i].verified;
	for (size_t i = 0; i < ret->count; i++)
		ret->damage_count += ret->findings[i].verdict == VERDICT_DAMAGE;
	resolver->damaged = NULL;
	resolver->found.rows = NULL;
	resolver->found.rows_count = resolver->found.rows_capacity = 0;
}

static enum hd_status verify(struct resolver *resolver, struct scans *scans,
			     struct verify_result *ret, struct hd_error *err)
{
	TRY(find_odd(resolver, scans, err));
	TRY(resolver->heap->gc_in_progress ? resolve_moving(resolver, err)
					   : find_faults(resolver, scans, err));
	set_consequences(resolver);
	if (resolver->options->list_damaged)
		TRY(list_damaged(resolver, err));
	select_findings(resolver);
	if (resolver->found.rows_count && !resolver->heap->gc_in_progress)
		TRY(set_referrers(resolver, scans, err));
	move_result(resolver, scans, ret);
	return HD_OK;
}

enum hd_status verify_heap(struct heap *heap, const struct verify_options *options, struct job *job,
			   struct verify_result *ret, struct hd_error *err)
{
	static const struct verify_options all = { 0 };
	HD_CLEANUP(address_map) struct address_map map = { 0 };
	HD_CLEANUP(scans) struct scans scans = { 0 };
	HD_CLEANUP(resolver) struct resolver resolver = { 0 };
	options = options ? options : &all;
	TRY(address_map_init(&map, heap, job, err));
	TRY(resolver_init(&resolver, heap, options, &map, err));
	TRY(scans_init(&scans, heap, options, &map, job, err));
	return verify(&resolver, &scans, ret, err);
}
