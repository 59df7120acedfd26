/* SPDX-License-Identifier: MIT */
/* Merges the sections, types and findings of a text log from its chunks. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/rpm/rpm_merge.h"
#include "util/alloc.h"
#include "util/text.h"

enum hd_status merge_finding(struct merge *merge, enum finding_kind kind, uint64_t count,
			     uint64_t line, const char *format, ...)
{
	struct hd_graph *graph = merge->graph;
	if (graph->findings.count == merge->findings_capacity) {
		size_t capacity =
			grown_capacity(merge->findings_capacity, sizeof(*graph->findings.rows));
		void *ptr =
			mem_realloc(graph->findings.rows, capacity, sizeof(*graph->findings.rows));
		TRY_MEMORY(ptr, merge->err);
		graph->findings.rows = ptr;
		merge->findings_capacity = capacity;
	}
	char detail[512];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	char *copy = mem_strndup(detail, strlen(detail));
	TRY_MEMORY(copy, merge->err);
	graph->findings.rows[graph->findings.count++] = (struct graph_finding){
		.kind = kind, .count = count, .line = line, .detail = copy
	};
	return HD_OK;
}

enum hd_status merge_fail(const struct merge *merge, uint64_t line, size_t column, const char *text)
{
	char where[48] = "";
	if (column)
		(void)snprintf(where, sizeof(where), ", column %zu", column);
	return fail(merge->err, HD_ERR_FORMAT, line, "%s: line %llu%s: %s (--lenient goes on)",
		    merge->chunks[0].range.path, (unsigned long long)line, where, text);
}

/* Number of lines before chunk @p index. */
static uint64_t merge_line_base(const struct merge *merge, size_t index)
{
	uint64_t lines = 0;
	for (size_t i = 0; i < index; i++)
		lines += merge->chunks[i].lines;
	return lines;
}

static enum hd_status merge_add_domain(struct merge *merge, struct rpm_segment *segment)
{
	struct hd_graph *graph = merge->graph;
	if (graph->domains.count == merge->domains_capacity &&
	    !pages_grow((void **)&graph->domains.rows, &merge->domains_capacity,
			sizeof(*graph->domains.rows)))
		return fail_nomem(merge->err);
	segment->domain = graph->domains.count;
	graph->domains.rows[graph->domains.count++] = (struct graph_domain){
		.name = segment->name ? segment->name : "",
		.name_size = segment->name_size,
		.version = segment->name && segment->version ? segment->version : 2,
		.start = segment->start,
		.has_start = segment->has_start,
	};
	return HD_OK;
}

/* Names of a section as messages show them. */
static const char *shown(const char *name, uint32_t size, struct text *text)
{
	text_deinit(text);
	text_escape(text, name, size < 80 ? size : 80);
	return text->bytes ? text->bytes : "";
}

static enum hd_status end_domain(struct merge *merge, uint32_t domain,
				 const struct rpm_segment *segment)
{
	struct graph_domain *of = &merge->graph->domains.rows[domain];
	of->has_end = segment->has_end;
	of->end = segment->end;
	if (of->name_size == segment->end_name_size &&
	    memcmp(of->name, segment->end_name, of->name_size) == 0)
		return HD_OK;
	HD_CLEANUP(text) struct text a = { 0 }, b = { 0 };
	enum hd_status status =
		merge_finding(merge, FINDING_SECTION_NAME_MISMATCH, 1, 0,
			      "section \"%s\" ends as \"%s\"", shown(of->name, of->name_size, &a),
			      shown(segment->end_name, segment->end_name_size, &b));
	return status;
}

static enum hd_status not_ended(struct merge *merge, uint32_t domain, bool at_end)
{
	const struct graph_domain *of = &merge->graph->domains.rows[domain];
	HD_CLEANUP(text) struct text name = { 0 };
	return merge_finding(
		merge, FINDING_MISSING_END_RECORD, 1, 0, "section \"%s\" has no \"c\" record%s",
		shown(of->name, of->name_size, &name), at_end ? ": the file may be cut short" : "");
}

static enum hd_status chunk_sections(struct merge *merge, size_t index, bool *open)
{
	struct rpm_chunk *chunk = &merge->chunks[index];
	/* The first segment continues the open section; there may be none. */
	struct rpm_segment *first = &chunk->sections.segments[0];
	first->domain = *open ? merge->graph->domains.count - 1 : HD_NONE;
	if (!*open && first->has_records)
		return HD_ERR_FORMAT; /* read in order, this is one line's problem */
	for (size_t i = 0; i < chunk->sections.segments_count; i++) {
		struct rpm_segment *segment = &chunk->sections.segments[i];
		if (i) {
			if (*open)
				TRY(not_ended(merge, merge->graph->domains.count - 1, false));
			TRY(merge_add_domain(merge, segment));
			*open = true;
		}
		if (segment->closed && *open) {
			TRY(end_domain(merge, segment->domain, segment));
			*open = false;
		}
	}
	if (!chunk->problems.first.count)
		return HD_OK;
	return merge_fail(merge, merge_line_base(merge, index) + chunk->problems.first.line,
			  chunk->problems.first.column, chunk->problems.first.text);
}

enum hd_status merge_sections(struct merge *merge)
{
	bool open = false;
	for (size_t i = 0; i < merge->count; i++)
		TRY(chunk_sections(merge, i, &open));
	return open ? not_ended(merge, merge->graph->domains.count - 1, true) : HD_OK;
}

static enum hd_status merge_add_type(struct merge *merge, size_t index, const struct rpm_type *type,
				     uint32_t *ret)
{
	struct hd_graph *graph = merge->graph;
	uint32_t domain = merge->chunks[index].sections.segments[type->segment].domain;
	uint32_t global = type_table_add(&merge->table, domain, type->id, graph->type_count);
	if (global == HD_NONE ||
	    (graph->type_count == merge->types_capacity &&
	     !pages_grow((void **)&graph->types, &merge->types_capacity, sizeof(*graph->types))))
		return fail_nomem(merge->err);
	struct graph_type *to = &graph->types[global];
	if (global == graph->type_count) {
		*to = (struct graph_type){ .id = type->id, .domain = domain };
		graph->type_count++;
	}
	*ret = global;
	if (!type->name || !type->name_size)
		return HD_OK;
	if (to->name && (to->name_size != type->name_size ||
			 memcmp(to->name, type->name, type->name_size) != 0))
		return HD_ERR_FORMAT; /* read in order, this is one line's problem */
	to->name = type->name;
	to->name_size = type->name_size;
	return HD_OK;
}

enum hd_status merge_types(struct merge *merge)
{
	merge->type_maps = mem_calloc(merge->count, sizeof(*merge->type_maps));
	TRY_MEMORY(merge->type_maps, merge->err);
	for (size_t i = 0; i < merge->count; i++) {
		const struct rpm_types *types = &merge->chunks[i].types;
		merge->type_maps[i] = pages_alloc(types->rows_count, sizeof(uint32_t));
		TRY_MEMORY(merge->type_maps[i], merge->err);
		for (size_t k = 0; k < types->rows_count; k++)
			TRY(merge_add_type(merge, i, &types->rows[k], &merge->type_maps[i][k]));
	}
	return HD_OK;
}

enum hd_status merge_problems(struct merge *merge)
{
	for (enum rpm_problem_kind kind = 0; kind < RPM_PROBLEM_COUNT; kind++) {
		uint64_t count = 0, line = 0;
		const struct rpm_problem *first = NULL;
		for (size_t i = 0; i < merge->count; i++) {
			const struct rpm_problem *problem =
				&merge->chunks[i].problems.counted[kind];
			if (!first && problem->count) {
				first = problem;
				line = merge_line_base(merge, i) + problem->line;
			}
			count += problem->count;
		}
		if (!first)
			continue;
		TRY(merge_finding(merge, rpm_problem_finding(kind), count, line,
				  "line %llu, column %zu: %s", (unsigned long long)line,
				  first->column, first->text));
	}
	return HD_OK;
}
