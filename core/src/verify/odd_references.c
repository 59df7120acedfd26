/* SPDX-License-Identifier: MIT */
/* Finds the cause of references that do not lead to an object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gc/segments.h"
#include "util/sort.h"
#include "verify/resolve.h"

/* If a basic region belongs to no segment, but has this many objects, that is not a coincidence. */
#define REGION_OBJECTS 8u

/* References to one address: [first, end) of the resolver's, ascending by value, then object. */
struct value_run {
	size_t first, end;
	uint64_t value;
	size_t objects; /* objects that refer to it */
};

ORDER_BY3(compare_values, struct odd_reference, value, object, slot)

ORDER_BY2(compare_objects, struct odd_reference, object, slot)

static struct value_run next_value_run(const struct resolver *resolver, size_t first)
{
	const struct odd_reference *references = resolver->notes.references;
	struct value_run run = { first, first, references[first].value, 0 };
	for (; run.end < resolver->notes.reference_count && references[run.end].value == run.value;
	     run.end++) {
		if (run.end == first ||
		    references[run.end].object != references[run.end - 1].object)
			run.objects++;
	}
	return run;
}

/* Make a finding about the object @p block, which does not look as others expect. */
static enum hd_status blame_block(struct resolver *resolver, const struct segment *segment,
				  const struct object *block, uint64_t value, uint32_t *ret,
				  struct hd_error *err)
{
	/* Runs come in ascending order, so that those of one block follow each other. */
	const struct verify_finding *last =
		resolver->found.rows_count ? &resolver->found.rows[resolver->found.rows_count - 1]
					   : NULL;
	if (last && last->address == block->address) {
		*ret = (uint32_t)resolver->found.rows_count - 1;
		return HD_OK;
	}
	bool is_array = block->type->component_size != 0 && block->address != value;
	/*
	 * A background GC sweeps one region, or heap, after the other: dead objects still refer to
	 * what it has freed.
	 */
	bool is_swept = resolver->is_sweeping && block->type->is_free;
	struct verify_finding finding = {
		.kind = is_array ? "ObjectSizeMismatch" : "InvalidMethodTable",
		.verdict = is_swept ? VERDICT_GC_IN_PROGRESS : VERDICT_DAMAGE,
		.segment = segment->address,
		.address = block->address,
		.slot = block->address + (is_array ? 8 : 0),
		.word = is_array ? block->length : block->type->method_table
	};
	TRY(finding_list_add(&resolver->found, &finding, ret, err));
	if (*ret == NO_FINDING)
		return HD_OK;
	if (block->address == value) {
		verify_finding_detail(
			&resolver->found.rows[*ret],
			"Object %" PRIx64 " is a Free block, but other objects refer to it", value);
	} else {
		verify_finding_detail(&resolver->found.rows[*ret],
				      "Object %" PRIx64 " has size %" PRIu64 " and covers %" PRIx64
				      ", to which other objects refer",
				      block->address, block->size, value);
	}
	return HD_OK;
}

/* A segment that should be on a list, because others refer to objects in it. */
static enum hd_status blame_lists(struct resolver *resolver, const struct value_run *run,
				  uint32_t *ret, struct hd_error *err)
{
	*ret = resolver->list;
	if (*ret != NO_FINDING)
		return HD_OK;
	uint64_t block = run->value >> HEAP_REGION_SHIFT, last = 0;
	size_t sound = 0;
	for (size_t i = run->first; i < resolver->notes.reference_count && sound < REGION_OBJECTS;
	     i++) {
		uint64_t value = resolver->notes.references[i].value;
		if (value >> HEAP_REGION_SHIFT != block)
			break;
		sound += value != last && resolver_is_sound_at(resolver, value);
		last = value;
	}
	*ret = OWN_FAULT;
	if (sound < REGION_OBJECTS)
		return HD_OK;
	struct verify_finding finding = { .kind = "SegmentNotListed",
					  .verdict = VERDICT_DAMAGE,
					  .address = block << HEAP_REGION_SHIFT };
	TRY(finding_list_add(&resolver->found, &finding, ret, err));
	if (*ret != NO_FINDING) {
		verify_finding_detail(&resolver->found.rows[*ret],
				      "Objects refer to objects in %" PRIx64 "..%" PRIx64
				      ", which is in no segment of any generation's list",
				      block << HEAP_REGION_SHIFT, (block + 1) << HEAP_REGION_SHIFT);
	}
	return HD_OK;
}

static enum hd_status blame_inside(struct resolver *resolver, const struct segment *segment,
				   const struct value_run *run, uint32_t *ret, struct hd_error *err)
{
	struct object block;
	*ret = OWN_FAULT;
	if (!resolver_block_at(resolver, segment, run->value, &block))
		return HD_OK;
	if (block.address == run->value) {
		return run->objects > 1
			       ? blame_block(resolver, segment, &block, run->value, ret, err)
			       : HD_OK;
	}
	if (run->objects < 2 && !resolver_is_sound_at(resolver, run->value))
		return HD_OK;
	struct verify_gap *gap = resolver_gap_at(resolver, block.address + block.step);
	if (!gap || gap->damage.address != block.address + block.step)
		return blame_block(resolver, segment, &block, run->value, ret, err);
	gap->in_last++;
	*ret = gap->finding;
	return HD_OK;
}

/* Find the cause of all references of @p run. */
static enum hd_status blame(struct resolver *resolver, const struct value_run *run, uint32_t *ret,
			    struct hd_error *err)
{
	*ret = OWN_FAULT;
	if (run->value % 8)
		return HD_OK;
	const struct segment *segment = heap_segment_at(resolver->heap, run->value);
	struct verify_gap *gap = segment ? resolver_gap_at(resolver, run->value) : NULL;
	if (gap) {
		uint32_t *counter =
			run->value == gap->damage.address ? &gap->to_begin : &gap->inside;
		*counter += (uint32_t)run->objects;
		*ret = gap->finding;
		return HD_OK;
	}
	if (segment) {
		const struct context *context = resolver_context_over(resolver, run->value);
		if (!context)
			return blame_inside(resolver, segment, run, ret, err);
		if (run->objects < 2 && !resolver_is_sound_at(resolver, run->value))
			return HD_OK;
		return context_finding(resolver, context, "overlaps objects", ret, err);
	}
	if (!resolver_is_sound_at(resolver, run->value))
		return HD_OK;
	segment = resolver_segment_before(resolver, run->value);
	return segment ? segment_end_finding(resolver, segment, ret, err)
		       : blame_lists(resolver, run, ret, err);
}

static enum hd_status resolve_run(struct resolver *resolver, const struct value_run *run,
				  struct hd_error *err)
{
	uint32_t finding;
	TRY(blame(resolver, run, &finding, err));
	for (size_t i = run->first; i < run->end; i++) {
		struct odd_reference *reference = &resolver->notes.references[i];
		reference->finding = finding;
		if (finding != OWN_FAULT)
			TRY(finding_list_link(&resolver->found, finding, reference->object, err));
	}
	return HD_OK;
}

enum hd_status resolve_references(struct resolver *resolver, struct hd_error *err)
{
	if (!resolver->notes.reference_count)
		return HD_OK;
	qsort(resolver->notes.references, resolver->notes.reference_count,
	      sizeof(*resolver->notes.references), compare_values);
	for (size_t i = 0; i < resolver->notes.reference_count;) {
		struct value_run run = next_value_run(resolver, i);
		TRY(resolve_run(resolver, &run, err));
		i = run.end;
	}
	qsort(resolver->notes.references, resolver->notes.reference_count,
	      sizeof(*resolver->notes.references), compare_objects);
	return HD_OK;
}

const struct odd_reference *resolve_find_own_faults(const struct resolver *resolver,
						    uint64_t object, size_t *ret_count)
{
	size_t low = ROWS_FROM(resolver->notes.references, resolver->notes.reference_count, object,
			       object);
	const struct odd_reference *first = NULL;
	*ret_count = 0;
	for (; low < resolver->notes.reference_count &&
	       resolver->notes.references[low].object == object;
	     low++) {
		if (resolver->notes.references[low].finding != OWN_FAULT)
			continue;
		if (!first)
			first = &resolver->notes.references[low];
		++*ret_count;
	}
	return first;
}

/*
 * A thread that takes a part of a large Free block makes the rest a block of its own before it clears its part, where an
 * object of earlier collections may begin (gc_heap::a_fit_free_list_uoh_p(), gc.cpp): the header of the rest is not a
 * member of that one.
 */
static bool is_rest_of_block(const struct resolver *resolver, const struct segment *segment,
			     const struct odd_reference *odd)
{
	return resolver->may_allocate && segment && verify_is_large_or_pinned(segment) &&
	       odd->value == runtime_free_method_table(resolver->heap->runtime);
}

/* An object that a background GC has not freed yet may still refer to one that it has freed. */
static enum verdict own_verdict(const struct resolver *resolver, const struct odd_reference *odd)
{
	return resolver->is_sweeping && odd->value % 8 == 0 ? VERDICT_GC_IN_PROGRESS
							    : VERDICT_DAMAGE;
}

static enum hd_status own_fault(struct resolver *resolver, const struct odd_reference *odd,
				size_t count, struct hd_error *err)
{
	const struct segment *segment = heap_segment_at(resolver->heap, odd->object);
	const struct segment *target = heap_segment_at(resolver->heap, odd->value);
	struct object block;
	struct verify_finding finding = { .kind = "InvalidObjectReference",
					  .verdict = (uint8_t)own_verdict(resolver, odd),
					  .segment = segment ? segment->address : 0,
					  .address = odd->object,
					  .slot = odd->slot,
					  .word = odd->value };
	const char *what = "";
	if (is_rest_of_block(resolver, segment, odd)) {
		finding.kind = "UnownedContext";
		finding.verdict = VERDICT_UNOWNED_CONTEXT;
		what = ", a Free block: memory before it is not cleared yet";
	} else if (odd->value % 8) {
		finding.kind = "ObjectReferenceNotPointerAligned";
	} else if (!target) {
		what = ", which is outside of the heap";
	} else if (resolver_block_at(resolver, target, odd->value, &block)) {
		bool is_free = block.address == odd->value;
		if (is_free)
			finding.kind = "FreeObjectReference";
		what = is_free ? ", a Free block" : ", in the middle of an object";
	} else {
		what = ", where no object is";
	}
	uint32_t index;
	TRY(finding_list_add(&resolver->found, &finding, &index, err));
	if (index == NO_FINDING)
		return HD_OK;
	char more[48] = "";
	if (count > 1)
		(void)snprintf(more, sizeof(more), "; %zu more like it", count - 1);
	verify_finding_detail(&resolver->found.rows[index],
			      "Object %" PRIx64 " has a bad member at offset %" PRIx64 ": %" PRIx64
			      "%s%s",
			      odd->object, odd->slot - odd->object, odd->value, what, more);
	return HD_OK;
}

enum hd_status resolve_own_faults(struct resolver *resolver, struct hd_error *err)
{
	for (size_t i = 0; i < resolver->notes.reference_count;) {
		uint64_t object = resolver->notes.references[i].object;
		size_t count;
		const struct odd_reference *first =
			resolve_find_own_faults(resolver, object, &count);
		/* Something that is itself wrong may have words that are not references. */
		if (first && finding_list_at(&resolver->found, object) == NO_FINDING)
			TRY(own_fault(resolver, first, count, err));
		while (i < resolver->notes.reference_count &&
		       resolver->notes.references[i].object == object)
			i++;
	}
	return HD_OK;
}

/* The finding that explains why no object starts inside of @p block. */
static uint32_t finding_over(const struct resolver *resolver, const struct object *block)
{
	uint32_t known = finding_list_at(&resolver->found, block->address);
	const struct verify_gap *next = resolver_gap_at(resolver, block->address + block->step);
	if (known != NO_FINDING)
		return known;
	return next && next->blamed && next->blamed <= block->address ? next->finding : OWN_FAULT;
}

enum hd_status resolve_address(struct resolver *resolver, uint64_t address, uint32_t *ret,
			       struct hd_error *err)
{
	*ret = OWN_FAULT;
	const struct segment *segment = heap_segment_at(resolver->heap, address);
	if (!segment && resolver_is_sound_at(resolver, address)) {
		segment = resolver_segment_before(resolver, address);
		if (segment)
			return segment_end_finding(resolver, segment, ret, err);
		*ret = resolver->list == NO_FINDING ? OWN_FAULT : resolver->list;
		return HD_OK;
	}
	if (!segment)
		return HD_OK;
	const struct verify_gap *gap = resolver_gap_at(resolver, address);
	const struct context *context = resolver_context_over(resolver, address);
	struct object block;
	if (gap) {
		*ret = gap->finding;
	} else if (context && resolver_is_sound_at(resolver, address)) {
		return context_finding(resolver, context, "overlaps objects", ret, err);
	} else if (!context && resolver_block_at(resolver, segment, address, &block) &&
		   block.address != address) {
		*ret = finding_over(resolver, &block);
	}
	return HD_OK;
}
