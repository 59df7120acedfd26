/* SPDX-License-Identifier: MIT */
/*
 * Checks everything that is not a reference: headers and marks of objects, lists of segments,
 * finalizer queues.
 */
#include <inttypes.h>

#include "gc/finalizer.h"
#include "util/sort.h"
#include "verify/resolve.h"

/* With only this many marks, no garbage collection was marking. */
#define STRAY_MARKS_MAX 3u
#define QUEUE_CHUNK     512u
/* How many bad entries of a queue are reported one by one. */
#define QUEUE_BAD_MAX 100u

static const char *list_problem(const char *kind)
{
	static const struct {
		const char *kind, *text;
	} texts[] = {
		{ "cycle", "leads back into its list: segments after it are not known" },
		{ "unreadable", "leads to where no segment is: segments after it are not known" },
		{ "bounds", "has bounds that cannot be: it was not walked" },
		{ "two-lists", "is on two lists" },
		{ "overlap", "overlaps another: it was not walked" },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(kind, texts[i].kind) == 0)
			return texts[i].text;
	}
	return "is not as it should be";
}

static enum verdict list_verdict(const struct resolver *resolver,
				 const struct heap_problem *problem)
{
	uint8_t byte;
	if (resolver->heap->gc_in_progress)
		return VERDICT_GC_IN_PROGRESS;
	bool is_missing = strcmp(problem->kind, "unreadable") == 0 && resolver->is_partial &&
			  !memory_u8(resolver->heap->memory, problem->word, &byte);
	return is_missing ? VERDICT_MISSING_BYTES : VERDICT_DAMAGE;
}

enum hd_status verify_lists(struct resolver *resolver, struct hd_error *err)
{
	const struct heap *heap = resolver->heap;
	for (size_t i = 0; i < heap->problem_count; i++) {
		const struct heap_problem *problem = &heap->problems[i];
		struct verify_finding finding = {
			.kind = "InvalidSegmentList",
			.verdict = (uint8_t)list_verdict(resolver, problem),
			.segment = problem->segment,
			.address = problem->segment ? problem->segment : problem->slot,
			.slot = problem->slot,
			.word = problem->word,
		};
		uint32_t index;
		TRY(finding_list_add(&resolver->found, &finding, &index, err));
		if (index == NO_FINDING)
			continue;
		if (resolver->list == NO_FINDING)
			resolver->list = index;
		verify_finding_detail(&resolver->found.rows[index],
				      "Segment %" PRIx64 " of heap %u, generation %s %s",
				      problem->segment, problem->heap,
				      generation_name((enum generation)problem->generation),
				      list_problem(problem->kind));
	}
	return HD_OK;
}

static void describe_header(const struct resolver *resolver, const struct odd_object *odd,
			    struct verify_finding *finding)
{
	struct sync_info info = { 0 };
	(void)runtime_sync_info(resolver->heap->runtime, odd->object, &info);
	switch ((enum odd_kind)odd->kind) {
	case ODD_SYNC_MISMATCH:
		finding->kind = "SyncBlockMismatch";
		verify_finding_detail(finding,
				      "Object %" PRIx64
				      " has sync block index %u, whose entry is %s %" PRIx64,
				      odd->object, info.index,
				      info.owner ? "that of object" : "free:", info.owner);
		break;
	case ODD_SYNC_ZERO:
		finding->kind = "SyncBlockZero";
		verify_finding_detail(finding, "Object %" PRIx64 " has sync block index 0",
				      odd->object);
		break;
	case ODD_THIN_LOCK:
		finding->kind = "InvalidThinlock";
		verify_finding_detail(
			finding,
			"Object %" PRIx64
			" has a thin lock of thread %u, which is not a managed thread",
			odd->object, info.lock_thread);
		break;
	case ODD_MARK:
		finding->kind = "MarkBitSet";
		finding->slot = odd->object;
		verify_finding_detail(finding,
				      "Object %" PRIx64 " carries GC bits %" PRIx64
				      ", though no GC is marking",
				      odd->object, odd->word);
		break;
	case ODD_MISSING:
		finding->kind = "CouldNotReadObject";
		finding->verdict = VERDICT_MISSING_BYTES;
		finding->slot = odd->object;
		verify_finding_detail(finding, "Object %" PRIx64 " is not all in the target",
				      odd->object);
		break;
	}
}

/* A gap that ends at @p object, or whose cause begins before it, or NULL. */
static const struct verify_gap *gap_beside(const struct resolver *resolver, uint64_t object)
{
	size_t low =
		ROWS_ABOVE(resolver->notes.gaps, resolver->notes.gap_count, damage.address, object);
	const struct verify_gap *gap = low ? &resolver->notes.gaps[low - 1] : NULL;
	if (gap && gap->end == object)
		return gap;
	gap = low < resolver->notes.gap_count ? &resolver->notes.gaps[low] : NULL;
	return gap && gap->blamed && gap->blamed < object ? gap : NULL;
}

static enum hd_status resolve_object(struct resolver *resolver, const struct odd_object *odd,
				     struct hd_error *err)
{
	const struct segment *segment = heap_segment_at(resolver->heap, odd->object);
	bool is_header = odd->kind == ODD_SYNC_MISMATCH || odd->kind == ODD_SYNC_ZERO ||
			 odd->kind == ODD_THIN_LOCK;
	uint32_t zone = zone_finding(resolver, odd->object);
	if (zone != NO_FINDING)
		return finding_list_link(&resolver->found, zone, odd->object, err);
	const struct verify_gap *gap = is_header ? gap_beside(resolver, odd->object) : NULL;
	if (gap && gap->finding != NO_FINDING)
		return finding_list_link(&resolver->found, gap->finding, odd->object, err);
	/* Sync blocks of objects that a background GC has not freed yet are already gone. */
	bool is_busy = resolver->is_sweeping || (odd->kind == ODD_MARK && resolver->is_background);
	struct verify_finding finding = { .kind = "",
					  .verdict =
						  is_busy ? VERDICT_GC_IN_PROGRESS : VERDICT_DAMAGE,
					  .segment = segment ? segment->address : 0,
					  .address = odd->object,
					  .slot = odd->object - 4,
					  .word = odd->word };
	/* The structure that the header refers to may also be missing. */
	if (is_header && resolver->is_partial)
		finding.verdict = VERDICT_MISSING_BYTES;
	describe_header(resolver, odd, &finding);
	uint32_t index;
	enum hd_status status = finding_list_add(&resolver->found, &finding, &index, err);
	if (status != HD_OK || index == NO_FINDING)
		mem_free(finding.detail);
	return status;
}

/* One finding for all marks of a collection that was marking; @p first has one. */
static enum hd_status note_marking(struct resolver *resolver, const struct odd_object *first,
				   struct hd_error *err)
{
	const struct segment *segment = heap_segment_at(resolver->heap, first->object);
	struct verify_finding finding = { .kind = "MarkBitSet",
					  .verdict = VERDICT_GC_IN_PROGRESS,
					  .segment = segment ? segment->address : 0,
					  .address = first->object,
					  .slot = first->object,
					  .word = first->word };
	uint32_t index;
	TRY(finding_list_add(&resolver->found, &finding, &index, err));
	if (index != NO_FINDING) {
		verify_finding_detail(&resolver->found.rows[index],
				      "%" PRIu64 " objects carry GC bits: a GC was marking",
				      resolver->marks.marked);
	}
	return HD_OK;
}

enum hd_status resolve_objects(struct resolver *resolver, struct hd_error *err)
{
	const struct odd_object *mark = NULL;
	bool is_marking = resolver->marks.marked > STRAY_MARKS_MAX;
	for (size_t i = 0; i < resolver->notes.object_count; i++) {
		const struct odd_object *odd = &resolver->notes.objects[i];
		/* Marks of dead objects in a zone mean nothing. */
		bool is_mark = odd->kind == ODD_MARK && is_marking &&
			       zone_finding(resolver, odd->object) == NO_FINDING;
		if (is_mark && !mark) {
			mark = odd;
		}
		if (!is_mark) {
			TRY(resolve_object(resolver, odd, err));
		}
	}
	return mark ? note_marking(resolver, mark, err) : HD_OK;
}

static enum hd_status add_queue_finding(struct resolver *resolver, uint64_t queue, uint64_t slot,
					uint64_t word, const char *what, struct hd_error *err)
{
	struct verify_finding finding = { .kind = "InvalidFinalizerQueue",
					  .verdict = VERDICT_DAMAGE,
					  .address = queue,
					  .slot = slot,
					  .word = word };
	uint32_t index;
	TRY(finding_list_add(&resolver->found, &finding, &index, err));
	if (index != NO_FINDING) {
		verify_finding_detail(&resolver->found.rows[index],
				      "The finalizer queue %" PRIx64 " has at %" PRIx64 " %" PRIx64
				      ", %s",
				      queue, slot, word, what);
	}
	return HD_OK;
}

static enum hd_status check_entry(struct resolver *resolver, uint64_t queue, uint64_t slot,
				  uint64_t word, size_t *bad, struct hd_error *err)
{
	struct segment_cache *cache = &resolver->cache;
	const char *what = "which is not an object";
	struct object object;
	if (address_map_has(resolver->map, cache, word)) {
		if (!resolver_read_block(resolver, word, &object) || object.type->has_finalizer)
			return HD_OK;
		what = "an object without finalizer";
		/* Its type may be wrong: then what follows is not an object either. */
		const struct verify_gap *gap = resolver_gap_at(resolver, word + object.step);
		if (gap && gap->damage.address == word + object.step && gap->finding != NO_FINDING)
			return finding_list_link(&resolver->found, gap->finding, slot, err);
	} else {
		uint32_t finding;
		TRY(resolve_address(resolver, word, &finding, err));
		if (finding != OWN_FAULT)
			return finding_list_link(&resolver->found, finding, slot, err);
	}
	if ((*bad)++ >= QUEUE_BAD_MAX) {
		resolver->found.not_kept++;
		return HD_OK;
	}
	return add_queue_finding(resolver, queue, slot, word, what, err);
}

/* Every entry of a queue whose bounds are in order. */
static enum hd_status check_entries(struct resolver *resolver, const struct finalizer_queue *queue,
				    struct hd_error *err)
{
	size_t bad = 0;
	uint64_t chunk[QUEUE_CHUNK], last = queue->bounds[FINALIZER_PARTS];
	for (uint64_t at = queue->bounds[0]; at < last;) {
		uint64_t size = last - at < sizeof(chunk) ? last - at : sizeof(chunk);
		uint64_t got = memory_prefix(resolver->heap->memory, at, chunk, size) / 8;
		for (uint64_t i = 0; i < got; i++) {
			TRY(check_entry(resolver, queue->address, at + 8 * i, chunk[i], &bad, err));
		}
		if (got * 8 < size)
			break;
		at += size;
	}
	return HD_OK;
}

enum hd_status verify_finalizer_queues(struct resolver *resolver, struct hd_error *err)
{
	for (uint32_t i = 0; i < resolver->heap->heap_count; i++) {
		struct finalizer_queue queue;
		uint64_t slot = 0, word = 0;
		enum queue_result result =
			finalizer_queue_read(resolver->heap, i, &queue, &slot, &word);
		if (result == QUEUE_DAMAGED) {
			TRY(add_queue_finding(resolver, queue.address, slot, word,
					      "which is out of order", err));
		} else if (result == QUEUE_SOUND) {
			TRY(check_entries(resolver, &queue, err));
		}
	}
	return HD_OK;
}
