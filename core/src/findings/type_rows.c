/* SPDX-License-Identifier: MIT */
#include "findings/type_rows.h"

#include <stdlib.h>

#include "analysis/graph/retained_types.h"
#include "util/alloc.h"
#include "util/job.h"

static int compare_type_rows(const void *left, const void *right)
{
	const struct type_row *a = left, *b = right;
	if (a->retained != b->retained)
		return a->retained > b->retained ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

static struct type_row row_of(const struct report_facts *facts, uint32_t type, uint64_t retained)
{
	const struct graph_type *of = &facts->graph->types[type];
	struct type_row row = { .type = type,
				.objects = facts_live_count(facts, type),
				.retained = retained };
	for (uint32_t i = facts->type_begin[type]; i < facts->type_begin[type + 1]; i++)
		row.bytes += graph_size(facts->graph, facts->type_nodes[i]);
	row.dead = of->size > row.bytes ? of->size - row.bytes : 0;
	return row;
}

/* @p retained: by type. */
static enum hd_status fill_type_rows(struct type_rows *ret, const struct report_facts *facts,
				     const uint64_t *retained, struct hd_error *err)
{
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct type_row row = row_of(facts, type, retained[type]);
		if (!row.objects)
			continue;
		if (ret->count == ret->capacity)
			return HD_OK;
		ret->rows[ret->count++] = row;
		TRY(job_check(facts->job, row.objects, err));
	}
	return HD_OK;
}

enum hd_status type_rows_init(struct type_rows *ret, const struct report_facts *facts, size_t most,
			      struct hd_error *err)
{
	size_t types = facts->graph->type_count;
	*ret = (struct type_rows){ .capacity = types };
	uint64_t *retained = pages_alloc(types, sizeof(*retained));
	ret->rows = pages_alloc(types, sizeof(*ret->rows));
	enum hd_status status = retained && ret->rows ? HD_OK : fail_nomem(err);
	if (status == HD_OK) {
		status = retained_types(facts->graph, facts->dominators, facts->job, retained, err);
	}
	if (status == HD_OK)
		status = fill_type_rows(ret, facts, retained, err);
	pages_free(retained, types, sizeof(*retained));
	TRY(status);
	if (ret->count)
		qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_type_rows);
	for (; ret->count > most; ret->count--) {
		const struct type_row *last = &ret->rows[ret->count - 1];
		ret->left_types++;
		ret->left_objects += last->objects;
		ret->left_bytes += last->bytes;
	}
	return HD_OK;
}

void type_rows_deinit(struct type_rows *rows)
{
	pages_free(rows->rows, rows->capacity, sizeof(*rows->rows));
	*rows = (struct type_rows){ 0 };
}
