/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "util/alloc.h"
#include "verify/verify.h"

/* The error at @p address belongs to another object: make a finding that says so. */
static enum hd_status add_nothing(const struct heap *heap, uint64_t address,
				  struct verify_result *result, struct hd_error *err)
{
	const struct segment *segment = heap_segment_at(heap, address);
	char buf[160];
	(void)snprintf(buf, sizeof(buf),
		       "Object %" PRIx64 " is not one: no object of the walk starts there",
		       address);
	if (result->count == result->capacity &&
	    !pages_grow((void **)&result->findings, &result->capacity, sizeof(*result->findings)))
		return fail_nomem(err);
	struct verify_finding *finding = &result->findings[result->count];
	*finding = (struct verify_finding){ .kind = "InvalidMethodTable",
					    .verdict = VERDICT_DAMAGE,
					    .segment = segment ? segment->address : 0,
					    .address = address,
					    .slot = address,
					    .detail = mem_strndup(buf, strlen(buf)) };
	(void)memory_u64(heap->memory, address, &finding->word);
	result->count++;
	result->damage_count++;
	return HD_OK;
}

enum hd_status verify_object(struct heap *heap, uint64_t address, struct job *job,
			     struct verify_result *ret, struct hd_error *err)
{
	const struct segment *segment = heap_segment_at(heap, address);
	const struct verify_options options = { .segments = &segment,
						.segment_count = segment ? 1 : 0,
						.begin = address,
						.end = address + 1 };
	struct verify_result result = { 0 };
	if (segment)
		TRY(verify_heap(heap, &options, job, &result, err));
	if (!result.objects && !result.count) {
		enum hd_status status = add_nothing(heap, address, &result, err);
		if (status != HD_OK) {
			verify_result_deinit(&result);
			return status;
		}
	}
	*ret = result;
	return HD_OK;
}
