/* SPDX-License-Identifier: MIT */
#include "analysis/heap/object_strings.h"

#include "analysis/name_match.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/text.h"

/* UTF-16 units of a string that are searched. */
#define SEARCHED_UNITS ((uint32_t)1 << 20)

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

/* Does the value of the string at @p address contain @p part?  @p scratch is for its text. */
static bool value_contains(struct heap *heap, uint64_t address, const char *part,
			   struct text *scratch)
{
	scratch->size = 0;
	return string_value(heap, address, SEARCHED_UNITS, scratch, NULL) &&
	       name_matches(scratch->bytes ? scratch->bytes : "", scratch->size, part);
}

enum hd_status strings_keep(struct strings *strings, const char *part, struct job *job,
			    struct hd_error *err)
{
	HD_CLEANUP(text) struct text scratch = { 0 };
	size_t kept = 0;
	strings->count = strings->size = 0;
	job_begin(job, "Searching strings", strings->rows_count);
	for (size_t i = 0; i < strings->rows_count; i++) {
		const struct string_count row = strings->rows[i];
		if (!job_step(job, 0, 1))
			return fail_cancelled(err);
		if (!value_contains(strings->heap, row.address, part, &scratch))
			continue;
		strings->rows[kept++] = row;
		strings->count += row.count;
		strings->size += string_count_size(strings, &row);
	}
	strings->rows_count = kept;
	return scratch.failed ? fail_nomem(err) : HD_OK;
}

enum hd_status string_nodes_init(const struct hd_graph *graph, const struct strings *strings,
				 const char *part, struct job *job, struct string_nodes *ret,
				 struct hd_error *err)
{
	HD_CLEANUP(text) struct text scratch = { 0 };
	*ret = (struct string_nodes){ 0 };
	job_begin(job, "Searching strings", graph->object_count);
	for (uint32_t node = 0; node < graph->object_count; node++) {
		const struct graph_type *type = &graph->types[graph->node_types[node]];
		if (node % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		if (!strings->type || type->id != strings->type->method_table ||
		    !value_contains(strings->heap, graph_id(graph, node), part, &scratch))
			continue;
		TRY_MEMORY(PAGES_RESERVE(ret, nodes), err);
		ret->nodes[ret->nodes_count++] = node;
	}
	return scratch.failed ? fail_nomem(err) : HD_OK;
}

void string_nodes_deinit(struct string_nodes *nodes)
{
	pages_free(nodes->nodes, nodes->nodes_capacity, sizeof(*nodes->nodes));
	*nodes = (struct string_nodes){ 0 };
}
