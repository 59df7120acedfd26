/* SPDX-License-Identifier: MIT */
#include "verify/resolve.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "heap/resync.h"
#include "util/sort.h"

/* Blocks without a bit (Free ones) that a search for the block of an address steps over. */
#define FREE_BLOCKS_MAX 65536u

enum hd_status verify_finding_add(struct resolver *resolver, const struct verify_finding *finding,
				  uint32_t *ret, struct hd_error *err)
{
	*ret = NO_FINDING;
	if (resolver->findings_count >= FINDINGS_KEPT) {
		resolver->not_kept++;
		return HD_OK;
	}
	if (!PAGES_RESERVE(resolver, findings))
		return fail_nomem(err);
	*ret = (uint32_t)resolver->findings_count;
	resolver->findings[resolver->findings_count++] = *finding;
	return HD_OK;
}

void verify_finding_detail(struct verify_finding *finding, const char *format, ...)
{
	char buf[512];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(buf, sizeof(buf), format, args);
	va_end(args);
	if (size < 0)
		return;
	mem_free(finding->detail);
	finding->detail =
		mem_strndup(buf, (size_t)size < sizeof(buf) ? (size_t)size : sizeof(buf) - 1);
}

enum hd_status verify_finding_merge(struct resolver *resolver, uint32_t from, uint32_t into,
				    struct hd_error *err)
{
	if (from == NO_FINDING || from == into)
		return HD_OK;
	struct verify_finding *finding = &resolver->findings[from];
	TRY(resolver_add_link(resolver, into, finding->address, err));
	mem_free(finding->detail);
	*finding = (struct verify_finding){ .merged = into == NO_FINDING ? 0 : into + 1 };
	return HD_OK;
}

uint32_t verify_finding_final(const struct resolver *resolver, uint32_t index)
{
	for (unsigned int i = 0; i < 16 && index < resolver->findings_count; i++) {
		const struct verify_finding *finding = &resolver->findings[index];
		if (finding->kind)
			return index;
		index = finding->merged ? finding->merged - 1 : NO_FINDING;
	}
	return NO_FINDING;
}

static int compare_finding_places(const void *a, const void *b)
{
	const struct finding_place *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->finding < y->finding ? -1 : x->finding > y->finding;
}

enum hd_status verify_index_findings(struct resolver *resolver, struct hd_error *err)
{
	pages_free(resolver->places, resolver->place_count, sizeof(*resolver->places));
	resolver->place_count = 0;
	resolver->places = pages_alloc(resolver->findings_count + 1, sizeof(*resolver->places));
	if (!resolver->places)
		return fail_nomem(err);
	resolver->place_count = resolver->findings_count + 1;
	size_t count = 0;
	for (size_t i = 0; i < resolver->findings_count; i++) {
		if (resolver->findings[i].kind) {
			resolver->places[count++] =
				(struct finding_place){ resolver->findings[i].address,
							(uint32_t)i };
		}
	}
	/* What is left over ends the index. */
	while (count < resolver->place_count)
		resolver->places[count++] = (struct finding_place){ UINT64_MAX, NO_FINDING };
	qsort(resolver->places, resolver->place_count, sizeof(*resolver->places),
	      compare_finding_places);
	return HD_OK;
}

uint32_t verify_finding_at(const struct resolver *resolver, uint64_t address)
{
	size_t low = ROWS_FROM(resolver->places, resolver->place_count, address, address);
	bool found = low < resolver->place_count && resolver->places[low].address == address;
	return found ? resolver->places[low].finding : NO_FINDING;
}

enum hd_status resolver_add_link(struct resolver *resolver, uint32_t finding, uint64_t object,
				 struct hd_error *err)
{
	if (finding == NO_FINDING)
		return HD_OK;
	if (!PAGES_RESERVE(resolver, links))
		return fail_nomem(err);
	resolver->links[resolver->links_count++] = (struct link){ finding, object };
	return HD_OK;
}

enum hd_status segment_end_finding(struct resolver *resolver, const struct segment *segment,
				   uint32_t *ret, struct hd_error *err)
{
	uint32_t *known = &resolver->segment_ends[segment - resolver->heap->segments];
	if (*known == NO_FINDING) {
		struct verify_finding finding = { .kind = "InvalidSegmentEnd",
						  .verdict = VERDICT_DAMAGE,
						  .segment = segment->address,
						  .address = segment->address,
						  .slot = segment->end_slot,
						  .word = segment->end };
		TRY(verify_finding_add(resolver, &finding, known, err));
		if (*known != NO_FINDING) {
			verify_finding_detail(&resolver->findings[*known],
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
				    .any_threads = clr_thread_count(resolver->heap->clr) > 0 };
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
	size_t low = ROWS_ABOVE(resolver->gaps, resolver->gap_count, damage.address, address);
	return low && address < resolver->gaps[low - 1].end ? &resolver->gaps[low - 1] : NULL;
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
