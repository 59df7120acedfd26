/* SPDX-License-Identifier: MIT */
#include "analysis/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/graph/diff.h"
#include "util/alloc.h"

enum hd_status statistics_init(struct statistics *statistics, size_t count, struct hd_error *err)
{
	*statistics = (struct statistics){ .capacity = count, .row_count = count };
	statistics->rows = pages_alloc(count, sizeof(*statistics->rows));
	TRY_MEMORY(statistics->rows, err);
	for (size_t i = 0; i < count; i++)
		statistics->rows[i].type = (uint32_t)i;
	return HD_OK;
}

enum hd_status statistics_of_graph(struct statistics *statistics, const struct hd_graph *graph,
				   size_t more, struct hd_error *err)
{
	TRY(statistics_init(statistics, graph->type_count + more, err));
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		const struct graph_domain *domain = &graph->domains.rows[type->domain];
		struct type_count *row = &statistics->rows[i];
		row->id = type->id;
		row->name = type->name;
		row->name_size = type->name_size;
		row->domain = domain->name;
		row->domain_size = domain->name_size;
	}
	return HD_OK;
}

void statistics_deinit(struct statistics *statistics)
{
	pages_free(statistics->rows, statistics->capacity, sizeof(*statistics->rows));
	*statistics = (struct statistics){ 0 };
}

void statistics_add(struct statistics *statistics, uint32_t type, uint64_t size)
{
	statistics->rows[type].count++;
	statistics->rows[type].size += size;
	statistics->count++;
	statistics->size += size;
}

static int counts_compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_type_counts(const void *a, const void *b, void *arg)
{
	const bool *order_by_count = arg;
	const struct type_count *x = a, *y = b;
	int by_count = counts_compare_u64(x->count, y->count),
	    by_size = counts_compare_u64(x->size, y->size);
	int result = *order_by_count ? by_count : by_size;
	if (!result)
		result = *order_by_count ? by_size : by_count;
	if (!result)
		result = diff_compare_names(x->name, x->name_size, y->name, y->name_size);
	if (!result)
		result = counts_compare_u64(x->id, y->id);
	return result ? result : counts_compare_u64(x->type, y->type);
}

void statistics_sort(struct statistics *statistics, bool by_count, bool all)
{
	size_t kept = 0;
	for (size_t i = 0; i < statistics->row_count; i++) {
		if (all || statistics->rows[i].count)
			statistics->rows[kept++] = statistics->rows[i];
	}
	statistics->row_count = kept;
	if (kept) {
		qsort_r(statistics->rows, kept, sizeof(*statistics->rows), compare_type_counts,
			&by_count);
	}
}
