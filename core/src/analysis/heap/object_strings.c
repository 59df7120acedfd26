/* SPDX-License-Identifier: MIT */
#include "analysis/heap/object_strings.h"

/* Is the string that a walk met one of those that are asked for? */
static bool is_asked_for(void *arg, const struct walker *walker)
{
	const struct object_filter *filter = arg;
	return object_filter_has(filter, walker->segment, &walker->object) &&
	       life_has(filter->life, walker->object.address);
}

enum hd_status object_strings(struct heap *heap, const struct object_filter *filter,
			      struct job *job, struct strings *ret, struct gaps *gaps,
			      struct hd_error *err)
{
	struct object_filter copy = *filter;
	struct strings_filter chosen = { .segments = filter->range->segments,
					 .segment_count = filter->range->count,
					 .accept = is_asked_for,
					 .arg = &copy };
	TRY(strings_collect(heap, &chosen, job, ret, err));
	for (size_t i = 0; i < ret->gaps_count; i++)
		gaps_add(gaps, heap, &ret->gaps[i]);
	return HD_OK;
}

uint64_t strings_duplicate_size(const struct strings *strings)
{
	uint64_t size = 0;
	for (size_t i = 0; i < strings->rows_count; i++) {
		const struct string_count *row = &strings->rows[i];
		size += string_count_size(strings, row) / row->count * (row->count - 1);
	}
	return size;
}
