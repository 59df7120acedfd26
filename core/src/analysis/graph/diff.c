/* SPDX-License-Identifier: MIT */
#include "analysis/graph/diff.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

int diff_compare_names(const char *a, uint32_t a_size, const char *b, uint32_t b_size)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
	return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare_row_names(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	return diff_compare_names(x->name, x->name_size, y->name, y->name_size);
}

/* Order of after - before, more first; differences of 64-bit numbers have a sign and 64 bits. */
static int compare_growth(uint64_t a_before, uint64_t a_after, uint64_t b_before, uint64_t b_after)
{
	bool a_grew = a_after >= a_before, b_grew = b_after >= b_before;
	if (a_grew != b_grew)
		return a_grew ? -1 : 1;
	uint64_t a = a_grew ? a_after - a_before : a_before - a_after;
	uint64_t b = b_grew ? b_after - b_before : b_before - b_after;
	int more = (a < b) - (a > b);
	return a_grew ? more : -more;
}

static int by_growth(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int order = compare_growth(x->size_before, x->size_after, y->size_before, y->size_after);
	if (!order) {
		order = compare_growth(x->count_before, x->count_after, y->count_before,
				       y->count_after);
	}
	return order ? order : compare_row_names(a, b);
}

static void add_side_rows(struct diff *diff, const struct diff_side *side, bool after)
{
	for (size_t i = 0; i < side->type_count; i++) {
		const struct graph_type *type = &side->types[i];
		diff->rows[diff->row_count++] = (struct diff_row){
			.name = type->name,
			.name_size = type->name_size,
			.count_before = after ? 0 : type->count,
			.size_before = after ? 0 : type->size,
			.count_after = after ? type->count : 0,
			.size_after = after ? type->size : 0,
		};
	}
}

/* One row per name, but none for a type without objects in both heaps. */
static void join_named_rows(struct diff *diff)
{
	size_t kept = 0;
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct diff_row *row = &diff->rows[i];
		if (!row->count_before && !row->count_after)
			continue;
		if (!kept || compare_row_names(&diff->rows[kept - 1], row) != 0) {
			diff->rows[kept++] = *row;
			continue;
		}
		struct diff_row *to = &diff->rows[kept - 1];
		to->count_before += row->count_before;
		to->count_after += row->count_after;
		to->size_before += row->size_before;
		to->size_after += row->size_after;
	}
	diff->row_count = kept;
}

enum hd_status diff_init(const struct diff_side *before, const struct diff_side *after,
			 struct diff *ret, struct hd_error *err)
{
	struct diff diff = { .row_capacity = before->type_count + after->type_count };
	diff.rows = pages_alloc(diff.row_capacity, sizeof(*diff.rows));
	TRY_MEMORY(diff.rows, err);
	add_side_rows(&diff, before, false);
	add_side_rows(&diff, after, true);
	if (diff.row_count)
		qsort(diff.rows, diff.row_count, sizeof(*diff.rows), compare_row_names);
	join_named_rows(&diff);
	if (diff.row_count)
		qsort(diff.rows, diff.row_count, sizeof(*diff.rows), by_growth);
	*ret = diff;
	return HD_OK;
}

void diff_deinit(struct diff *diff)
{
	pages_free(diff->rows, diff->row_capacity, sizeof(*diff->rows));
	*diff = (struct diff){ 0 };
}

static bool contains(const char *name, uint32_t size, const char *part)
{
	return name && memmem(name, size, part, strlen(part));
}

bool diff_is_tracing(const char *name, uint32_t size)
{
	return contains(name, size, "System.Diagnostics.Tracing.");
}

bool diff_has_events(const struct diff_side *side)
{
	/* A trace without the module's file does not have the outer class. */
	static const char bare[] = "EventMetadata[]";
	for (size_t i = 0; i < side->type_count; i++) {
		const struct graph_type *type = &side->types[i];
		if (!type->count || !type->name)
			continue;
		if (contains(type->name, type->name_size,
			     "System.Diagnostics.Tracing.EventSource+EventMetadata") ||
		    diff_compare_names(type->name, type->name_size, bare, sizeof(bare) - 1) == 0)
			return true;
	}
	return false;
}

bool diff_has_event_sources(const struct diff_side *side)
{
	static const char source[] = "System.Diagnostics.Tracing.NativeRuntimeEventSource";
	for (size_t i = 0; i < side->type_count; i++) {
		const struct graph_type *type = &side->types[i];
		if (type->count && type->name && type->name_size == sizeof(source) - 1 &&
		    memcmp(type->name, source, sizeof(source) - 1) == 0)
			return true;
	}
	return false;
}
