/* SPDX-License-Identifier: MIT */
#include "report/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/diff.h"
#include "util/alloc.h"

enum hd_status statistics_init(struct statistics *statistics, const struct hd_graph *graph,
			       struct hd_error *err)
{
	*statistics = (struct statistics){ .capacity = graph->type_count,
					   .row_count = graph->type_count };
	statistics->rows = pages_alloc(graph->type_count, sizeof(*statistics->rows));
	if (!statistics->rows)
		return fail_nomem(err);
	for (uint32_t i = 0; i < graph->type_count; i++)
		statistics->rows[i].type = i;
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

struct order {
	const struct hd_graph *graph;
	bool by_count;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *order = arg;
	const struct type_count *x = a, *y = b;
	int by_count = compare_u64(x->count, y->count), by_size = compare_u64(x->size, y->size);
	int result = order->by_count ? by_count : by_size;
	if (!result)
		result = order->by_count ? by_size : by_count;
	const struct graph_type *s = &order->graph->types[x->type];
	const struct graph_type *t = &order->graph->types[y->type];
	if (!result)
		result = compare_names(s->name, s->name_size, t->name, t->name_size);
	return result ? result : compare_u64(x->type, y->type);
}

void statistics_sort(struct statistics *statistics, const struct hd_graph *graph, bool by_count,
		     bool all)
{
	size_t kept = 0;
	for (size_t i = 0; i < statistics->row_count; i++) {
		if (all || statistics->rows[i].count)
			statistics->rows[kept++] = statistics->rows[i];
	}
	statistics->row_count = kept;
	struct order order = { graph, by_count };
	if (kept)
		qsort_r(statistics->rows, kept, sizeof(*statistics->rows), compare_rows, &order);
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

void statistics_text(const struct statistics *statistics, const struct hd_graph *graph,
		     struct out *out)
{
	int mt_width = (int)strlen("MT"), count_width = (int)strlen("Count");
	int size_width = (int)strlen("TotalSize");
	char number[27], size[27];
	for (size_t i = 0; i < statistics->row_count; i++) {
		const struct type_count *row = &statistics->rows[i];
		mt_width = max_int(mt_width,
				   snprintf(NULL, 0, "%" PRIx64, graph->types[row->type].id));
		count_width =
			max_int(count_width, (int)strlen(format_thousands(row->count, number)));
		size_width = max_int(size_width, (int)strlen(format_thousands(row->size, number)));
	}
	out_styled(out, STYLE_HEAD, "%*s %*s %*s Class Name", mt_width, "MT", count_width, "Count",
		   size_width, "TotalSize");
	out_puts(out, "\n");
	for (size_t i = 0; i < statistics->row_count && !out->stopped; i++) {
		const struct type_count *row = &statistics->rows[i];
		const struct graph_type *type = &graph->types[row->type];
		out_styled(out, STYLE_ADDRESS, "%*" PRIx64, mt_width, type->id);
		out_printf(out, " %*s %*s ", count_width, format_thousands(row->count, number),
			   size_width, format_thousands(row->size, size));
		out_type(out, type->name, type->name_size, type->id);
		out_puts(out, "\n");
	}
	out_printf(out, "Total %s objects, %s bytes\n", format_thousands(statistics->count, number),
		   format_thousands(statistics->size, size));
}

void statistics_json(const struct statistics *statistics, const struct hd_graph *graph,
		     struct json *json)
{
	json_array(json, "types");
	for (size_t i = 0; i < statistics->row_count && !json->out->stopped; i++) {
		const struct type_count *row = &statistics->rows[i];
		const struct graph_type *type = &graph->types[row->type];
		json_object(json, NULL);
		json_address(json, "mt", type->id);
		json_text(json, "name", type->name, type->name_size);
		json_number(json, "count", row->count);
		json_number(json, "size", row->size);
		const struct graph_domain *domain = &graph->domains[type->domain];
		json_text(json, "domain", domain->name, domain->name_size);
		json_end(json);
	}
	json_end(json);
	json_object(json, "total");
	json_number(json, "count", statistics->count);
	json_number(json, "size", statistics->size);
	json_end(json);
}

void object_row_header(struct out *out)
{
	out_styled(out, STYLE_HEAD, "%16s %16s %14s", "Address", "MT", "Size");
	out_puts(out, "\n");
}

void object_row(struct out *out, const struct hd_graph *graph, uint32_t node, bool type_name)
{
	bool missing = graph_is_missing(graph, node);
	char size[27];
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, graph->ids[node]);
	if (missing) {
		out_styled(out, STYLE_NOTE, " %16s %14s <not in this dump>", "", "");
		out_puts(out, "\n");
		return;
	}
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	out_printf(out, " %16" PRIx64 " %14s", type->id,
		   format_thousands(graph_size(graph, node), size));
	if (type_name) {
		out_puts(out, " ");
		out_type(out, type->name, type->name_size, type->id);
	}
	out_puts(out, "\n");
}

void object_json(struct json *json, const struct hd_graph *graph, uint32_t node)
{
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	json_object(json, NULL);
	json_address(json, "address", graph->ids[node]);
	json_address(json, "mt", type->id);
	json_text(json, "type", type->name, type->name_size);
	json_number(json, "size", graph_size(graph, node));
	json_bool(json, "free", false);
	json_null(json, "generation");
	json_end(json);
}
