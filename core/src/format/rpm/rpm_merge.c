/* SPDX-License-Identifier: MIT */
#include "format/rpm/rpm_merge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/fuzzed.h"
#include "util/sort.h"
#include "util/text.h"

/* Merges the sections, types and findings of a text log from its chunks. */

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

/* Makes a graph of the objects, references and roots in the chunks of a text log. */

/* How many references are resolved between two checks for cancellation. */
#define RESOLVE_BATCH ((size_t)1 << FUZZED(14, 5))

uint64_t merge_raw_ref(const struct merge *merge, uint64_t index)
{
	size_t i = 0;
	while (index >= merge->chunks[i].objects.refs_count)
		index -= merge->chunks[i++].objects.refs_count;
	return merge->chunks[i].objects.refs[index];
}

/* Copy objects after those of the first chunk, which has room for them, and free them. */
static void move_objects(struct rpm_objects *to, struct rpm_objects *from, const uint32_t *types)
{
	size_t n = from->count, at = to->count;
	to->ascending = to->ascending && from->ascending && (!at || to->ids[at - 1] < from->ids[0]);
	memcpy(to->ids + at, from->ids, n * sizeof(*to->ids));
	memcpy(to->sizes + at, from->sizes, n * sizeof(*to->sizes));
	memcpy(to->degrees + at, from->degrees, n * sizeof(*to->degrees));
	for (size_t k = 0; k < n; k++)
		to->types[at + k] = types[from->types[k]];
	for (size_t k = 0; k < from->large_count; k++)
		from->large[k].object += at;
	to->count += n;
	pages_free(from->ids, from->capacity, sizeof(*from->ids));
	pages_free(from->types, from->capacity, sizeof(*from->types));
	pages_free(from->sizes, from->capacity, sizeof(*from->sizes));
	pages_free(from->degrees, from->capacity, sizeof(*from->degrees));
	from->ids = NULL;
	from->types = from->sizes = from->degrees = NULL;
	from->count = from->capacity = 0;
}

/* Move the objects of every later chunk into the first. */
static enum hd_status append_objects(struct merge *merge)
{
	struct rpm_chunk *all = &merge->chunks[0];
	for (size_t i = 1; i < merge->count; i++) {
		struct rpm_objects *objects = &merge->chunks[i].objects;
		while (all->objects.capacity - all->objects.count < objects->count) {
			all->range.position = all->range.file_size;
			if (rpm_objects_grow(&all->objects, &all->range, &all->err) != HD_OK)
				return fail(merge->err, HD_ERR_NOMEM, 0, "%s", all->err.message);
		}
		if (objects->count)
			move_objects(&all->objects, objects, merge->type_maps[i]);
	}
	return HD_OK;
}

/* A part of all references, for one worker. */
struct resolve_part {
	struct merge *merge;
	uint32_t *targets;
	unsigned int workers;
	bool stopped[JOB_WORKERS_MAX];
};

static bool resolve_range(const struct resolve_part *part, unsigned int worker, uint64_t begin,
			  uint64_t end)
{
	const struct merge *merge = part->merge;
	const struct hd_graph *graph = merge->graph;
	uint64_t base = 0;
	for (size_t i = 0; i < merge->count; i++) {
		const struct rpm_objects *objects = &merge->chunks[i].objects;
		uint64_t from = begin > base ? begin - base : 0;
		uint64_t to = end - base < objects->refs_count ? end - base : objects->refs_count;
		for (; end > base && from < to; from += RESOLVE_BATCH) {
			size_t n = to - from < RESOLVE_BATCH ? (size_t)(to - from) : RESOLVE_BATCH;
			id_index_find_all(&graph->index, graph->ids, objects->refs + from,
					  part->targets + base + from, n);
			if (!job_step(merge->job, worker, n))
				return false;
		}
		base += objects->refs_count;
	}
	return true;
}

static void resolve_worker(void *arg, unsigned int index)
{
	struct resolve_part *part = arg;
	uint64_t share = part->merge->edge_total / part->workers;
	uint64_t begin = share * index;
	uint64_t end = index + 1 == part->workers ? part->merge->edge_total : begin + share;
	part->stopped[index] = !resolve_range(part, index, begin, end);
}

/* Turn the ids of all references into nodes, in the order of the file. */
static enum hd_status resolve(struct merge *merge)
{
	struct resolve_part part = { .merge = merge,
				     .targets = merge->graph->forward.targets,
				     .workers = job_workers(merge->job) };
	job_begin(merge->job, "Resolving references", merge->edge_total);
	run_parallel(part.workers, merge->job, resolve_worker, &part);
	for (unsigned int i = 0; i < part.workers; i++) {
		if (part.stopped[i])
			return fail_cancelled(merge->err);
	}
	return HD_OK;
}

static void free_refs(struct merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		struct rpm_objects *objects = &merge->chunks[i].objects;
		pages_free(objects->refs, objects->refs_capacity, sizeof(*objects->refs));
		objects->refs = NULL;
		objects->refs_count = objects->refs_capacity = 0;
	}
}

/* Ids that are named but not defined. */
struct missing {
	uint64_t *ids;
	size_t ids_count, ids_capacity;
	uint64_t references, roots;
};

static bool add_missing_ref(struct missing *missing, uint64_t id)
{
	if (!PAGES_RESERVE(missing, ids))
		return false;
	missing->ids[missing->ids_count++] = id;
	return true;
}

static enum hd_status collect_missing_refs(struct merge *merge, const uint32_t *targets,
					   struct missing *missing)
{
	uint64_t base = 0;
	for (size_t i = 0; i < merge->count; i++) {
		const struct rpm_chunk *chunk = &merge->chunks[i];
		const struct rpm_objects *objects = &chunk->objects;
		for (size_t k = 0; k < objects->refs_count; k++) {
			if (targets[base + k] != HD_NONE)
				continue;
			missing->references++;
			TRY_MEMORY(add_missing_ref(missing, objects->refs[k]), merge->err);
		}
		base += objects->refs_count;
		for (size_t k = 0; k < chunk->roots_count; k++) {
			uint32_t node = id_index_find(&merge->graph->index, merge->graph->ids,
						      chunk->roots[k].id);
			if (node != HD_NONE)
				continue;
			missing->roots++;
			TRY_MEMORY(add_missing_ref(missing, chunk->roots[k].id), merge->err);
		}
	}
	sort_u64(missing->ids, missing->ids_count);
	size_t unique = 0;
	for (size_t k = 0; k < missing->ids_count; k++) {
		if (!unique || missing->ids[unique - 1] != missing->ids[k])
			missing->ids[unique++] = missing->ids[k];
	}
	missing->ids_count = unique;
	return HD_OK;
}

/* Put the missing ids after the objects and point the references to them. */
static enum hd_status add_missing_nodes(struct merge *merge, uint32_t *targets,
					const struct missing *missing)
{
	struct hd_graph *graph = merge->graph;
	if (missing->ids_count > HD_NONE - 2 - graph->object_count)
		return fail(merge->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	uint32_t nodes = graph->object_count + (uint32_t)missing->ids_count;
	uint64_t *ids = pages_resize(graph->ids, graph->object_count, nodes, sizeof(*ids));
	TRY_MEMORY(ids, merge->err);
	graph->ids = ids;
	graph->node_count = nodes;
	if (missing->ids_count)
		memcpy(ids + graph->object_count, missing->ids, missing->ids_count * sizeof(*ids));
	uint64_t base = 0;
	for (size_t i = 0; missing->references && i < merge->count; i++) {
		const struct rpm_objects *objects = &merge->chunks[i].objects;
		for (size_t k = 0; k < objects->refs_count; k++) {
			if (targets[base + k] == HD_NONE)
				targets[base + k] = hd_graph_find(graph, objects->refs[k]);
		}
		base += objects->refs_count;
	}
	if (missing->references) {
		TRY(merge_finding(merge, FINDING_UNRESOLVED_REFERENCE, missing->references, 0,
				  "references to objects that the file does not define"));
	}
	if (missing->roots) {
		TRY(merge_finding(merge, FINDING_UNRESOLVED_ROOT, missing->roots, 0,
				  "roots of objects that the file does not define"));
	}
	return HD_OK;
}

static enum hd_status merge_missing(struct merge *merge, uint32_t *targets)
{
	struct missing missing = { 0 };
	enum hd_status status = collect_missing_refs(merge, targets, &missing);
	if (status == HD_OK)
		status = add_missing_nodes(merge, targets, &missing);
	pages_free(missing.ids, missing.ids_capacity, sizeof(*missing.ids));
	return status;
}

/* Give an array that was made for @p capacity elements to the graph, cut to @p count. */
static enum hd_status take_array(struct merge *merge, void *from, size_t capacity, size_t count,
				 size_t size, void **ret)
{
	void *ptr = pages_resize(from, capacity, count, size);
	TRY_MEMORY(ptr, merge->err);
	*ret = ptr;
	return HD_OK;
}

/* The first chunk's arrays, which hold all objects by now, become the graph's. */
static enum hd_status take_chunk_objects(struct merge *merge)
{
	struct rpm_objects *all = &merge->chunks[0].objects;
	struct hd_graph *graph = merge->graph;
	size_t count = all->count, capacity = all->capacity;
	if (count > HD_NONE - 2)
		return fail(merge->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	graph->object_count = graph->node_count = (uint32_t)count;
	TRY(take_array(merge, all->ids, capacity, count, sizeof(*all->ids), (void **)&graph->ids));
	all->ids = NULL;
	TRY(take_array(merge, all->types, capacity, count, sizeof(*all->types),
		       (void **)&graph->node_types));
	all->types = NULL;
	TRY(take_array(merge, all->sizes, capacity, count, sizeof(*all->sizes),
		       (void **)&graph->sizes));
	all->sizes = NULL;
	return HD_OK;
}

/* Put the degrees of the nodes in the place of their offsets. */
static enum hd_status take_chunk_degrees(struct merge *merge)
{
	struct rpm_objects *all = &merge->chunks[0].objects;
	struct hd_graph *graph = merge->graph;
	struct csr *forward = &graph->forward;
	size_t count = graph->object_count;
	forward->node_count = graph->object_count;
	if (!merge->order) {
		TRY(take_array(merge, all->degrees, all->capacity, count + 1, sizeof(*all->degrees),
			       (void **)&forward->offsets));
		all->degrees = NULL;
		forward->offsets[count] = 0;
		return HD_OK;
	}
	forward->offsets = pages_alloc(count + 1, sizeof(*forward->offsets));
	TRY_MEMORY(forward->offsets, merge->err);
	for (size_t i = 0; i < count; i++)
		forward->offsets[i] = (uint32_t)csr_degree(&merge->file_rows, merge->order[i]);
	return HD_OK;
}

/* Also make rows for the missing nodes, and turn degrees into offsets. */
static enum hd_status freeze_rows(struct merge *merge)
{
	struct csr *csr = &merge->graph->forward;
	uint32_t nodes = merge->graph->node_count;
	uint32_t *offsets = pages_resize(csr->offsets, (size_t)csr->node_count + 1,
					 (size_t)nodes + 1, sizeof(*offsets));
	TRY_MEMORY(offsets, merge->err);
	csr->offsets = offsets;
	csr->node_count = nodes;
	csr->bases = pages_alloc(csr_block_count(nodes), sizeof(*csr->bases));
	TRY_MEMORY(csr->bases, merge->err);
	return csr_offsets_from_degrees(csr, merge->err);
}

/* The arrays of objects, in the order of the nodes, and the index over their ids. */
static enum hd_status merge_objects(struct merge *merge)
{
	TRY(append_objects(merge));
	if (!merge->chunks[0].objects.ascending) {
		TRY(merge_sort(merge));
	}
	TRY(take_chunk_objects(merge));
	TRY(take_chunk_degrees(merge));
	merge->chunks[0].objects.capacity = 0;
	struct hd_graph *graph = merge->graph;
	TRY(id_index_init(&graph->index, graph->ids, graph->object_count, merge->err));
	return merge_large(merge);
}

enum hd_status merge_nodes(struct merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		merge->object_total += merge->chunks[i].objects.count;
		merge->edge_total += merge->chunks[i].objects.refs_count;
	}
	TRY(job_check_memory(merge->job, merge->object_total * 32 + merge->edge_total * 12,
			     merge->err));
	TRY(merge_objects(merge));
	struct csr *forward = &merge->graph->forward;
	forward->targets = pages_alloc(merge->edge_total, sizeof(*forward->targets));
	TRY_MEMORY(forward->targets, merge->err);
	forward->edge_count = merge->edge_total;
	TRY(resolve(merge));
	TRY(merge_missing(merge, forward->targets));
	free_refs(merge);
	TRY(freeze_rows(merge));
	return merge->order ? merge_sort_rows(merge) : HD_OK;
}
