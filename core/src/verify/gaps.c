/* SPDX-License-Identifier: MIT */
/*
 * Finds what is wrong where a walk met damage: the object there, the one before, or something else?
 */
#include <inttypes.h>

#include "gc/heap.h"
#include "util/sort.h"
#include "verify/resolve.h"

/* How many objects in a row may result from reading the rest of a larger object as objects. */
#define BOGUS_MAX 4u
/*
 * How far before its end the objects that an array covers are searched for, and how many in a row
 * are needed.
 */
#define COVERED_BYTES 4096u
#define COVERED_MAX   256u

static struct verify_finding *finding_of(const struct resolver *resolver,
					 const struct verify_gap *gap)
{
	return &resolver->found.rows[gap->finding];
}

static bool is_last_adjacent(const struct verify_gap *gap)
{
	const struct object *last = &gap->damage.last_good;
	return last->type && last->address + last->step == gap->damage.address;
}

static void describe_gap(struct resolver *resolver, const struct verify_gap *gap)
{
	struct verify_finding *finding = finding_of(resolver, gap);
	const struct damage *damage = &gap->damage;
	switch ((enum damage_kind)damage->kind) {
	case DAMAGE_BAD_SIZE:
		finding->kind = "ObjectTooLarge";
		if (damage->type && damage->type->component_size) {
			uint32_t length = 0;
			finding->slot = damage->address + OBJECT_LENGTH;
			(void)memory_u32(resolver->heap->memory, finding->slot, &length);
			finding->word = length;
		}
		verify_finding_detail(finding,
				      "Object %" PRIx64 " is too large, size=%" PRIx64
				      ", segmentEnd: %" PRIx64,
				      damage->address, damage->size, gap->segment->end);
		return;
	case DAMAGE_MISSING_BYTES:
		finding->kind = "CouldNotReadObject";
		finding->verdict = VERDICT_MISSING_BYTES;
		verify_finding_detail(finding,
				      "Object %" PRIx64 " is not in the target: %" PRIu64
				      " bytes cannot be walked",
				      damage->address, damage->skipped);
		return;
	case DAMAGE_BAD_METHOD_TABLE:
	case DAMAGE_ZERO_RUN:
	case DAMAGE_PLUG_NODE:
		break;
	}
	finding->kind = "InvalidMethodTable";
	verify_finding_detail(finding, "Object %" PRIx64 " has an invalid method table %" PRIx64,
			      damage->address, damage->word);
}

/* Could the word be a MethodTable that is not in the target? */
static bool is_type_missing(const struct resolver *resolver, const struct damage *damage)
{
	return resolver->is_partial && damage->kind == DAMAGE_BAD_METHOD_TABLE &&
	       type_may_be_missing(resolver->heap->runtime, damage->word & ~(uint64_t)7);
}

enum hd_status open_gaps(struct resolver *resolver, struct hd_error *err)
{
	for (size_t i = 0; i < resolver->notes.gap_count; i++) {
		struct verify_gap *gap = &resolver->notes.gaps[i];
		const struct damage *damage = &gap->damage;
		struct verify_finding finding = { .kind = "InvalidMethodTable",
						  .verdict = resolver->heap->gc_in_progress
								     ? VERDICT_GC_IN_PROGRESS
								     : VERDICT_DAMAGE,
						  .segment = gap->segment->address,
						  .address = damage->address,
						  .slot = damage->address,
						  .word = damage->word,
						  .last_good = damage->last_good,
						  .skipped = damage->skipped };
		TRY(finding_list_add(&resolver->found, &finding, &gap->finding, err));
		if (gap->finding == NO_FINDING)
			continue;
		describe_gap(resolver, gap);
		if (is_type_missing(resolver, damage)) {
			struct verify_finding *added = finding_of(resolver, gap);
			added->kind = "CouldNotReadMethodTable";
			added->verdict = VERDICT_MISSING_BYTES;
			verify_finding_detail(added,
					      "Object %" PRIx64 " has the method table %" PRIx64
					      ", which is not in the target",
					      damage->address, damage->word);
		}
		/* Its end may be the header of the next object. */
		uint64_t end = gap->end == gap->segment->end ? gap->end : gap->end - 8;
		gap->is_zero = damage->kind != DAMAGE_MISSING_BYTES && damage->word == 0 &&
			       (damage->kind == DAMAGE_ZERO_RUN ||
				resolver_is_zero(resolver, damage->address, end));
	}
	return HD_OK;
}

static uint64_t context_end(uint64_t limit)
{
	return (limit + CONTEXT_RESERVE + 7) & ~(uint64_t)7;
}

/* The broken context that left this gap, or NULL. */
static struct broken_context *context_of(const struct resolver *resolver,
					 const struct verify_gap *gap)
{
	uint64_t begin = gap->damage.address, end = gap->end;
	struct broken_context *any = NULL;
	for (size_t i = 0; i < resolver->contexts_count; i++) {
		struct broken_context *broken = &resolver->contexts[i];
		uint64_t last = context_end(broken->limit);
		if (begin == broken->pointer || begin == last || end == last ||
		    end == broken->pointer || (broken->limit >= begin && broken->limit < end) ||
		    (broken->pointer <= begin && end <= last))
			return broken;
		if (!broken->met && !any)
			any = broken;
	}
	bool is_rest = gap->is_zero && !gap->to_begin && !gap->inside &&
		       verify_is_young(gap->segment, begin);
	return is_rest ? any : NULL;
}

/*
 * Is a context the reason for the gap, although it looks correct by itself?  Then make a finding
 * about it.
 */
static enum hd_status blame_context(struct resolver *resolver, const struct verify_gap *gap,
				    uint32_t *ret, struct hd_error *err)
{
	const struct damage *damage = &gap->damage;
	*ret = NO_FINDING;
	struct broken_context *broken = context_of(resolver, gap);
	if (broken) {
		broken->met = true;
		*ret = broken->finding;
		return HD_OK;
	}
	if (gap->to_begin || gap->inside)
		return HD_OK;
	const struct context *next = heap_context_at(resolver->heap, gap->end);
	bool crosses =
		damage->kind == DAMAGE_BAD_SIZE && damage->type && !damage->type->component_size;
	if (next && (gap->is_zero || crosses) && context_is_at_rest(resolver, next)) {
		return context_finding(resolver, next, "does not begin where the objects end", ret,
				       err);
	}
	const struct context *before = resolver_context_over(resolver, damage->address - 1);
	if (before && gap->is_zero && context_end(before->limit) == damage->address &&
	    context_is_at_rest(resolver, before)) {
		TRY(context_finding(resolver, before, "ends before what is empty does", ret, err));
		struct verify_finding *finding =
			*ret == NO_FINDING ? NULL : &resolver->found.rows[*ret];
		if (finding && finding->slot && finding->word == before->pointer) {
			struct alloc_layout layout = runtime_alloc_layout(resolver->heap->runtime);
			finding->slot += (uint64_t)layout.limit - layout.pointer;
			finding->word = before->limit;
		}
	}
	return HD_OK;
}

/* Could the gap be a large or pinned object that is being allocated? */
static bool may_be_large(const struct resolver *resolver, const struct verify_gap *gap)
{
	return gap->segment->generation == GENERATION_POH ||
	       (gap->segment->generation == GENERATION_LOH &&
		zone_end(resolver, gap) - gap->damage.address >= OBJECT_SIZE_LARGE);
}

/* Does the object before the gap refer to what is not an object? */
static bool has_own_faults(const struct resolver *resolver, const struct verify_gap *gap)
{
	size_t count;
	return is_last_adjacent(gap) &&
	       resolve_find_own_faults(resolver, gap->damage.last_good.address, &count) != NULL;
}

/* Do sound objects from @p address on lead exactly to @p end? */
static bool leads_to(struct resolver *resolver, uint64_t address, uint64_t end)
{
	struct object object;
	for (unsigned int i = 0; i < COVERED_MAX && address < end; i++) {
		if (!resolver_is_sound_at(resolver, address) ||
		    !resolver_read_block(resolver, address, &object))
			return false;
		address += object.step;
	}
	return address == end;
}

bool gap_covers_objects(struct resolver *resolver, const struct verify_gap *gap)
{
	const struct object *last = &gap->damage.last_good;
	if (!is_last_adjacent(gap) || !last->type->component_size)
		return false;
	uint64_t begin = last->address + 16, end = last->address + last->step;
	if (end - begin > COVERED_BYTES)
		begin = end - COVERED_BYTES;
	for (uint64_t at = end - 8; at >= begin; at -= 8) {
		if (leads_to(resolver, at, gap->end))
			return true;
	}
	return false;
}

/* Is it the segment's end that is wrong? */
static bool segment_end_is_wrong(struct resolver *resolver, const struct verify_gap *gap)
{
	const struct segment *segment = gap->segment;
	const struct damage *damage = &gap->damage;
	if (gap->end != segment->end)
		return false;
	if (resolver->segment_ends[segment - resolver->heap->segments] != NO_FINDING)
		return true;
	if (gap->is_zero) {
		return !gap->to_begin && !gap->inside && !gap->in_last &&
		       !gap_covers_objects(resolver, gap) && !has_own_faults(resolver, gap) &&
		       !verify_is_young(segment, damage->address) &&
		       !(resolver->may_allocate && may_be_large(resolver, gap));
	}
	/* Plausible objects continue after the end. */
	uint64_t size = (damage->size + 7) & ~(uint64_t)7;
	struct object object;
	if (damage->kind != DAMAGE_BAD_SIZE || size > segment->reserved - damage->address)
		return false;
	uint64_t next = damage->address + size;
	return next < segment->reserved && resolver_read_block(resolver, next, &object) &&
	       next + object.step < segment->reserved &&
	       resolver_read_block(resolver, next + object.step, &object);
}

static bool is_text(uint64_t word)
{
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t byte = (uint8_t)(word >> (8 * i));
		if (byte < ' ' || byte > '~')
			return false;
	}
	return true;
}

/* Could there be the header of an object before @p address? */
static bool has_header(const struct resolver *resolver, uint64_t address)
{
	uint32_t padding = 0;
	struct odd_object odd;
	struct verify_scan scan = { .heap = resolver->heap,
				    .any_sync = true,
				    .knows_threads =
					    verify_knows_threads(resolver->heap->runtime) };
	(void)memory_u32(resolver->heap->memory, address - 8, &padding);
	return padding == 0 && !scan_header(&scan, address, &odd);
}

/* Do the words of the gap look like more elements of an array of references? */
static bool continues_references(struct resolver *resolver, const struct verify_gap *gap)
{
	struct segment_cache cache = { 0 };
	bool any = false;
	for (uint64_t at = gap->damage.address; at + 8 < gap->end; at += 8) {
		uint64_t word;
		if (!memory_u64(resolver->heap->memory, at, &word) ||
		    (word && !address_map_has(resolver->map, &cache, word)))
			return false;
		any = any || word;
	}
	return any;
}

/* Does a string end with the NUL that the runtime puts after its characters? */
static bool is_terminated(const struct resolver *resolver, const struct object *string)
{
	uint16_t last = 0;
	return !memory_u16(resolver->heap->memory,
			   string->address + 12 + 2 * (uint64_t)string->length, &last) ||
	       last == 0;
}

/* Does it have an impossible header? */
static bool is_odd(const struct resolver *resolver, const struct object *object)
{
	struct odd_object odd;
	struct verify_scan scan = { .heap = resolver->heap,
				    .any_sync = true,
				    .knows_threads =
					    verify_knows_threads(resolver->heap->runtime) };
	/* The header of a Free block is not checked. */
	return !object->type->is_free && scan_header(&scan, object->address, &odd);
}

/* Is the cause the object before the gap, because its size was changed? */
static bool is_last_at_fault(struct resolver *resolver, const struct verify_gap *gap)
{
	const struct object *last = &gap->damage.last_good;
	size_t own;
	if (!is_last_adjacent(gap) || gap->to_begin || gap->damage.kind == DAMAGE_BAD_SIZE)
		return false;
	if (gap->in_last || gap_covers_objects(resolver, gap) ||
	    resolve_find_own_faults(resolver, last->address, &own) || is_odd(resolver, last))
		return true;
	if (gap->inside)
		return false;
	bool odd_header = !has_header(resolver, gap->damage.address);
	if (!last->type->component_size)
		return odd_header && !is_text(gap->damage.word);
	if (last->type->is_string)
		return !is_terminated(resolver, last);
	if (gap->segment->generation == GENERATION_LOH && !last->type->is_free &&
	    last->size < OBJECT_SIZE_LARGE)
		return true;
	if (last->type->has_pointers)
		return continues_references(resolver, gap) || gap->is_zero;
	return gap->is_zero || (odd_header && !is_text(gap->damage.word));
}

/*
 * The object that is wrong: the one before the gap, or, if that only looks like an object, one of
 * those before it.
 */
static struct object first_at_fault(struct resolver *resolver, const struct verify_gap *gap)
{
	struct object object = gap->damage.last_good, before;
	for (unsigned int i = 0; i < BOGUS_MAX && is_odd(resolver, &object); i++) {
		if (object.address <= gap->segment->begin ||
		    !resolver_block_at(resolver, gap->segment, object.address - 8, &before) ||
		    before.address + before.step != object.address)
			break;
		object = before;
	}
	return object;
}

enum hd_status gap_blame_last(struct resolver *resolver, struct verify_gap *gap,
			      struct hd_error *err)
{
	struct object last = first_at_fault(resolver, gap);
	bool has_length = last.type->component_size != 0;
	uint32_t known = finding_list_at(&resolver->found, last.address);
	gap->blamed = last.address;
	if (known != NO_FINDING && resolver->found.rows[known].kind) {
		TRY(finding_list_merge(&resolver->found, gap->finding, known, err));
		gap->finding = known;
		return HD_OK;
	}
	struct verify_finding *finding = finding_of(resolver, gap);
	finding->kind = has_length ? "ObjectSizeMismatch" : "InvalidMethodTable";
	finding->address = last.address;
	finding->slot = last.address + (has_length ? 8 : 0);
	finding->word = has_length ? last.length : last.type->method_table;
	finding->last_good = (struct object){ 0 };
	verify_finding_detail(finding,
			      "Object %" PRIx64 " has size %" PRIu64
			      ", but what follows it at %" PRIx64 " is %s",
			      last.address, last.size, last.address + last.step,
			      gap->in_last ? "the rest of an object that it covers"
					   : "more of it, not an object");
	return HD_OK;
}

/* Verdicts for what need not be damage. */
static void judge(struct resolver *resolver, const struct verify_gap *gap)
{
	struct verify_finding *finding = finding_of(resolver, gap);
	uint64_t address = gap->damage.address;
	bool is_young_gap = verify_is_young(gap->segment, address);
	bool is_known =
		gap->to_begin || gap->inside || gap->in_last || gap_covers_objects(resolver, gap);
	if (!is_known && gap->is_zero &&
	    (is_young_gap || (may_be_large(resolver, gap) && resolver->may_allocate))) {
		finding->verdict = VERDICT_UNOWNED_CONTEXT;
		finding->kind = "UnownedContext";
		verify_finding_detail(
			finding,
			"Zeros from %" PRIx64 " to %" PRIx64
			": the rest of an allocation context that no thread has, or an "
			"object in the making",
			address, gap->end);
	} else if (!is_known && is_young_gap && resolver->may_allocate &&
		   gap->end == gap->segment->end) {
		finding->verdict = VERDICT_UNOWNED_CONTEXT;
		verify_finding_detail(
			finding,
			"From %" PRIx64 " to the end of its segment at %" PRIx64
			" memory is not cleared yet: an allocation context in the making",
			address, gap->end);
	} else if (!is_known && resolver->may_allocate && gap->damage.word == 0 &&
		   may_be_large(resolver, gap)) {
		finding->verdict = VERDICT_UNOWNED_CONTEXT;
		verify_finding_detail(
			finding,
			"From %" PRIx64 " to %" PRIx64
			" memory is not cleared yet: a large or pinned object in the making",
			address, gap->end);
	} else if (resolver->is_sweeping && !is_young_gap &&
		   (gap->damage.word == 0 ||
		    (gap->damage.last_good.type && gap->damage.last_good.type->is_free))) {
		finding->verdict = VERDICT_GC_IN_PROGRESS;
	}
}

/* Wrong references between the wrong object and the gap are its consequences. */
static void take_own_faults(struct resolver *resolver, const struct verify_gap *gap)
{
	struct odd_reference *references = resolver->notes.references;
	size_t low = ROWS_FROM(references, resolver->notes.reference_count, object, gap->blamed);
	for (;
	     low < resolver->notes.reference_count && references[low].object < gap->damage.address;
	     low++) {
		if (references[low].finding == OWN_FAULT)
			references[low].finding = gap->finding;
	}
}

/* Bytes that run from the object before the gap into it were overwritten. */
static bool blame_run(struct resolver *resolver, struct verify_gap *gap)
{
	size_t count;
	const struct object *last = &gap->damage.last_good;
	const struct odd_reference *own =
		is_last_adjacent(gap) ? resolve_find_own_faults(resolver, last->address, &count)
				      : NULL;
	if (!own || !gap->to_begin)
		return false;
	struct verify_finding *finding = finding_of(resolver, gap);
	finding->kind = "InvalidObjectReference";
	finding->slot = own->slot;
	finding->word = own->value;
	finding->address = last->address;
	verify_finding_detail(finding,
			      "Object %" PRIx64 " has a bad member at offset %" PRIx64 ": %" PRIx64
			      ", and what follows it at %" PRIx64 " is not an object either",
			      last->address, own->slot - last->address, own->value,
			      gap->damage.address);
	finding->last_good = (struct object){ 0 };
	gap->blamed = last->address;
	return true;
}

static enum hd_status resolve_gap(struct resolver *resolver, struct verify_gap *gap,
				  struct hd_error *err)
{
	uint32_t other = zone_finding(resolver, gap->damage.address);
	if (finding_of(resolver, gap)->verdict == VERDICT_MISSING_BYTES)
		return HD_OK;
	if (other != NO_FINDING)
		return finding_list_merge(&resolver->found, gap->finding, other, err);
	TRY(blame_context(resolver, gap, &other, err));
	if (other == NO_FINDING && segment_end_is_wrong(resolver, gap))
		TRY(segment_end_finding(resolver, gap->segment, &other, err));
	if (other != NO_FINDING)
		return finding_list_merge(&resolver->found, gap->finding, other, err);
	judge(resolver, gap);
	if (finding_of(resolver, gap)->verdict != VERDICT_DAMAGE)
		return HD_OK;
	if (!blame_run(resolver, gap) && is_last_at_fault(resolver, gap))
		TRY(gap_blame_last(resolver, gap, err));
	if (gap->blamed)
		take_own_faults(resolver, gap);
	return HD_OK;
}

enum hd_status resolve_gaps(struct resolver *resolver, struct hd_error *err)
{
	for (size_t i = 0; i < resolver->notes.gap_count; i++) {
		if (resolver->notes.gaps[i].finding != NO_FINDING)
			TRY(resolve_gap(resolver, &resolver->notes.gaps[i], err));
	}
	return HD_OK;
}
