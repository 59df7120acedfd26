/* SPDX-License-Identifier: MIT */
#include "verify/resolve.h"

#include <inttypes.h>

#include "gc/resync.h"
#include "util/sort.h"

/* How many blocks without a bit (Free ones) a search for the block of an address skips. */
#define FREE_BLOCKS_MAX 65536u

enum hd_status segment_end_finding(struct resolver *resolver, const struct segment *segment,
				   uint32_t *ret, struct hd_error *err)
{
	uint32_t *known = &resolver->segment_ends[segment - resolver->heap->segments];
	if (*known == NO_FINDING) {
		/* A background GC that frees dead objects moves the end; others may still refer there. */
		struct verify_finding finding = { .kind = "InvalidSegmentEnd",
						  .verdict = resolver->is_sweeping
								     ? VERDICT_GC_IN_PROGRESS
								     : VERDICT_DAMAGE,
						  .segment = segment->address,
						  .address = segment->address,
						  .slot = segment->end_slot,
						  .word = segment->end };
		TRY(finding_list_add(&resolver->found, &finding, known, err));
		if (*known != NO_FINDING) {
			verify_finding_detail(&resolver->found.rows[*known],
					      "Segment %" PRIx64 " ends at %" PRIx64
					      ", which is not where its objects end",
					      segment->address, segment->end);
		}
	}
	*ret = *known;
	return HD_OK;
}

bool resolver_read_block(struct resolver *resolver, uint64_t address, struct object *ret)
{
	return object_read(resolver->heap, &resolver->window, address, ret);
}

bool resolver_is_sound_at(struct resolver *resolver, uint64_t address)
{
	struct object object;
	struct odd_object odd;
	struct verify_scan scan = { .heap = resolver->heap,
				    .any_sync = true,
				    .knows_threads =
					    verify_knows_threads(resolver->heap->runtime) };
	return resolver_read_block(resolver, address, &object) && !object.type->is_free &&
	       !heap_segment_at(resolver->heap, object.type->method_table) &&
	       !scan_header(&scan, address, &odd);
}

bool resolver_block_at(struct resolver *resolver, const struct segment *segment, uint64_t address,
		       struct object *ret)
{
	uint64_t at = address_map_before(resolver->map, segment, address);
	if (!at)
		at = segment->begin;
	for (unsigned int i = 0; i < FREE_BLOCKS_MAX && at <= address; i++) {
		const struct context *context = resolver_context_over(resolver, at);
		const struct verify_gap *gap = resolver_gap_at(resolver, at);
		if (context && context->pointer == at) {
			at = (context->limit + CONTEXT_RESERVE + 7) & ~(uint64_t)7;
		} else if (gap) {
			at = gap->end;
		} else if (!resolver_read_block(resolver, at, ret)) {
			return false;
		} else if (address - at < ret->step) {
			return true;
		} else {
			at += ret->step;
		}
	}
	return false;
}

uint64_t resolver_first_nonzero(struct resolver *resolver, uint64_t begin, uint64_t end)
{
	uint64_t misses = 0;
	while (begin < end && misses < UNREADABLE_MAX) {
		uint64_t size;
		const uint8_t *bytes = window_at(&resolver->window, begin, 8, &size);
		if (!bytes) {
			begin = walker_next_captured(resolver->heap, begin);
			misses++;
			continue;
		}
		misses = 0;
		size = (size < end - begin ? size : end - begin) & ~(uint64_t)7;
		for (uint64_t i = 0; i < size; i += 8) {
			if (load_u64(bytes + i))
				return begin + i;
		}
		begin += size ? size : 8;
	}
	return end;
}

bool resolver_is_zero(struct resolver *resolver, uint64_t begin, uint64_t end)
{
	return resolver_first_nonzero(resolver, begin, end) == end;
}

const struct segment *resolver_segment_before(const struct resolver *resolver, uint64_t address)
{
	const struct heap *heap = resolver->heap;
	size_t low = ROWS_ABOVE(heap->segments, heap->segment_count, begin, address);
	const struct segment *segment = low ? &heap->segments[low - 1] : NULL;
	return segment && address >= segment->end && address < segment->reserved ? segment : NULL;
}

struct verify_gap *resolver_gap_at(const struct resolver *resolver, uint64_t address)
{
	size_t low = ROWS_ABOVE(resolver->notes.gaps, resolver->notes.gap_count, damage.address,
				address);
	return low && address < resolver->notes.gaps[low - 1].end ? &resolver->notes.gaps[low - 1]
								  : NULL;
}

const struct context *resolver_context_over(const struct resolver *resolver, uint64_t address)
{
	const struct heap *heap = resolver->heap;
	size_t low = ROWS_ABOVE(heap->contexts, heap->context_count, pointer, address);
	if (!low)
		return NULL;
	const struct context *context = &heap->contexts[low - 1];
	return address - context->pointer < context->limit + CONTEXT_RESERVE - context->pointer &&
			       context_is_sound(heap, context)
		       ? context
		       : NULL;
}

bool verify_is_large_or_pinned(const struct segment *segment)
{
	return segment->generation == GENERATION_LOH || segment->generation == GENERATION_POH;
}

bool verify_is_young(const struct segment *segment, uint64_t address)
{
	return segment_generation_at(segment, address) == GENERATION_0;
}
