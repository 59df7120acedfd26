/* SPDX-License-Identifier: MIT */
#include "report/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/diff.h"
#include "util/alloc.h"

enum hd_status statistics_init(struct statistics *statistics, size_t count, struct hd_error *err)
{
	*statistics = (struct statistics){ .capacity = count, .row_count = count };
	statistics->rows = pages_alloc(count, sizeof(*statistics->rows));
	if (!statistics->rows)
		return fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		statistics->rows[i].type = (uint32_t)i;
	return HD_OK;
}

enum hd_status statistics_of_graph(struct statistics *statistics, const struct hd_graph *graph,
				   struct hd_error *err)
{
	TRY(statistics_init(statistics, graph->type_count, err));
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		const struct graph_domain *domain = &graph->domains[type->domain];
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

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const bool *order_by_count = arg;
	const struct type_count *x = a, *y = b;
	int by_count = compare_u64(x->count, y->count), by_size = compare_u64(x->size, y->size);
	int result = *order_by_count ? by_count : by_size;
	if (!result)
		result = *order_by_count ? by_size : by_count;
	if (!result)
		result = compare_names(x->name, x->name_size, y->name, y->name_size);
	if (!result)
		result = compare_u64(x->id, y->id);
	return result ? result : compare_u64(x->type, y->type);
}

void statistics_sort(struct statistics *statistics, bool by_count, bool all)
{
	size_t kept = 0;
	for (size_t i = 0; i < statistics->row_count; i++) {
		if (all || statistics->rows[i].count)
			statistics->rows[kept++] = statistics->rows[i];
	}
	statistics->row_count = kept;
	if (kept)
		qsort_r(statistics->rows, kept, sizeof(*statistics->rows), compare_rows, &by_count);
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

void statistics_text(const struct statistics *statistics, struct out *out)
{
	int mt_width = (int)strlen("MT"), count_width = (int)strlen("Count");
	int size_width = (int)strlen("TotalSize");
	char number[27], size[27];
	for (size_t i = 0; i < statistics->row_count; i++) {
		const struct type_count *row = &statistics->rows[i];
		mt_width = max_int(mt_width, snprintf(NULL, 0, "%" PRIx64, row->id));
		count_width =
			max_int(count_width, (int)strlen(format_thousands(row->count, number)));
		size_width = max_int(size_width, (int)strlen(format_thousands(row->size, number)));
	}
	out_styled(out, STYLE_HEAD, "%*s %*s %*s Class Name", mt_width, "MT", count_width, "Count",
		   size_width, "TotalSize");
	out_puts(out, "\n");
	for (size_t i = 0; i < statistics->row_count && !out->stopped; i++) {
		const struct type_count *row = &statistics->rows[i];
		out_styled(out, STYLE_ADDRESS, "%*" PRIx64, mt_width, row->id);
		out_printf(out, " %*s %*s ", count_width, format_thousands(row->count, number),
			   size_width, format_thousands(row->size, size));
		out_type(out, row->name, row->name_size, row->id);
		out_puts(out, "\n");
	}
	out_printf(out, "Total %s objects, %s bytes\n", format_thousands(statistics->count, number),
		   format_thousands(statistics->size, size));
}

void statistics_json(const struct statistics *statistics, struct json *json)
{
	json_array(json, "types");
	for (size_t i = 0; i < statistics->row_count && !json->out->stopped; i++) {
		const struct type_count *row = &statistics->rows[i];
		json_object(json, NULL);
		json_address(json, "mt", row->id);
		json_text(json, "name", row->name, row->name_size);
		json_number(json, "count", row->count);
		json_number(json, "size", row->size);
		if (row->domain)
			json_text(json, "domain", row->domain, row->domain_size);
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
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, graph_id(graph, node));
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

/* Name of a node's generation; NULL: the graph knows none. */
static const char *node_generation(const struct hd_graph *graph, uint32_t node)
{
	static const char *const names[] = { "0", "1", "2", "loh", "poh", "nongc" };
	if (!graph->places.generation)
		return NULL;
	unsigned int generation = graph->places.generation(graph->places.arg, node);
	return generation < sizeof(names) / sizeof(names[0]) ? names[generation] : NULL;
}

void object_json(struct json *json, const struct hd_graph *graph, uint32_t node)
{
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	json_object(json, NULL);
	json_address(json, "address", graph_id(graph, node));
	json_address(json, "mt", type->id);
	json_text(json, "type", type->name, type->name_size);
	json_number(json, "size", graph_size(graph, node));
	json_bool(json, "free", false);
	json_string(json, "generation", node_generation(graph, node));
	json_end(json);
}
