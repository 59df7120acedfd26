/* SPDX-License-Identifier: MIT */
/* The nodes of a .gcdump become the objects of a graph. */
#include <inttypes.h>
#include <stdio.h>

#include "format/gcdump/gcdump_reading.h"
#include "format/read_mapped.h"
#include "util/alloc.h"
#include "util/arena.h"

/* Nodes between two checks for cancellation. */
#define NODES_STRIDE 16384u

enum hd_status gcdump_bad_record(const struct gcdump_reading *reading, uint32_t node)
{
	const struct gcdump *file = &reading->file;
	uint64_t at = (uint64_t)(file->blob - file->bytes) + gcdump_offset(file, node);
	return fail(reading->err, HD_ERR_FORMAT, at,
		    "%s: offset 0x%" PRIx64 ": the record of node %" PRIu32
		    " is damaged (--lenient goes on)",
		    file->path, at, node);
}

static bool record_is_good(const struct gcdump *file, uint32_t node)
{
	struct gcdump_record record;
	if (!gcdump_record(file, gcdump_offset(file, node), &record))
		return false;
	for (uint32_t i = 0; i < record.child_count; i++) {
		if (gcdump_child(&record.children, record.end, node, file->node_count) == HD_NONE)
			return false;
	}
	return true;
}

/* Offset of the last record that begins in the blob of a file that is cut there. */
static uint32_t last_offset(const struct gcdump *file)
{
	uint32_t last = 0;
	for (uint32_t node = 0; node < file->node_count; node++) {
		uint32_t offset = gcdump_offset(file, node);
		if (offset < file->blob_size && offset > last)
			last = offset;
	}
	return last;
}

/* For lenient reading, and for a file that is cut: find the records that are damaged or missing. */
static enum hd_status find_bad(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint64_t bad = 0, edges = 0;
	uint32_t last = file->cut.lacks_records ? last_offset(file) : UINT32_MAX;
	reading->undefined.bad = bitmap_alloc(file->node_count);
	TRY_MEMORY(reading->undefined.bad, reading->err);
	job_begin(reading->job, "Checking nodes", file->node_count);
	for (uint32_t node = 0; node < file->node_count; node++) {
		struct gcdump_record record;
		if (gcdump_record(file, gcdump_offset(file, node), &record))
			edges += record.child_count;
		/* The records of a file do not overlap, so it cannot have more references. */
		if (edges > file->blob_size || !record_is_good(file, node)) {
			(void)bitmap_add(reading->undefined.bad, node);
			if (file->cut.lacks_records && gcdump_offset(file, node) >= last) {
				reading->undefined.lost++;
			} else if (!reading->lenient) {
				return gcdump_bad_record(reading, node);
			} else {
				bad++;
			}
		}
		if (node % NODES_STRIDE == 0 && !job_step(reading->job, 0, NODES_STRIDE))
			return fail_cancelled(reading->err);
	}
	if (!bad)
		return HD_OK;
	reading->graph->info.is_partial = true;
	return raw_graph_finding(reading->graph, FINDING_BAD_RECORD, bad,
				 "nodes whose record is damaged are left out", reading->err);
}

static enum hd_status allocate(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint64_t bytes = (uint64_t)file->node_count * 5 + (uint64_t)file->type_count * 5;
	TRY(job_check_memory(reading->job, bytes, reading->err));
	reading->graph->arena = arena_create();
	reading->graph->origins.arena = arena_create();
	struct gcdump_numbers *numbers = &reading->numbers;
	numbers->blocks = (size_t)file->node_count / GCDUMP_BLOCK + 1;
	numbers->shifts = pages_alloc(numbers->blocks, sizeof(*numbers->shifts));
	numbers->firsts = pages_alloc(numbers->blocks, sizeof(*numbers->firsts));
	numbers->map = pages_alloc(file->node_count, sizeof(*numbers->map));
	reading->pseudo.nodes = bitmap_alloc(file->node_count);
	reading->used = pages_alloc(file->type_count, sizeof(*reading->used));
	reading->type_map = pages_alloc(file->type_count, sizeof(*reading->type_map));
	TRY_MEMORY(reading->graph->arena && reading->graph->origins.arena && numbers->shifts &&
			   numbers->firsts && numbers->map && reading->pseudo.nodes &&
			   reading->used && reading->type_map,
		   reading->err);
	struct gcdump_record record;
	reading->undefined.is_zero = gcdump_record(file, 0, &record) && !record.type &&
				     !record.has_size && !record.child_count;
	return HD_OK;
}

/* Set the ids of roots, which are values of the map so far. */
static void resolve_roots(struct gcdump_reading *reading)
{
	const struct raw_graph *raw = &reading->raw;
	for (size_t i = 0; i < reading->roots_count; i++) {
		struct raw_root *root = &reading->roots[i];
		uint32_t object = (uint32_t)root->id;
		if (object >= GCDUMP_MISSING) {
			root->id = reading->numbers.missing[object & ~GCDUMP_MISSING];
		} else {
			root->id = reading->graph->ids[raw->rank ? raw->rank[object] : object];
		}
	}
}

/* Undefined nodes of which only the address is known. */
static enum hd_status report_undefined(struct gcdump_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	uint32_t count = graph->node_count - graph->object_count;
	if (!count)
		return HD_OK;
	graph->info.is_partial = true;
	return raw_graph_finding(graph, FINDING_UNDEFINED_NODE, count,
				 "objects that the file mentions and does not describe: the tool "
				 "that wrote it did not reach them",
				 reading->err);
}

/* Report what a cut file lacks after its end. */
static enum hd_status report_cut(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	char detail[240];
	if (!file->cut.is_cut)
		return HD_OK;
	if (file->cut.lacks_records) {
		reading->graph->info.is_partial = true;
		bool has_root = !bitmap_has(reading->undefined.bad, file->root);
		(void)snprintf(
			detail, sizeof(detail),
			"the file is cut short: %" PRIu64 " of %" PRIu32
			" nodes (objects and groups of roots) are missing, and all addresses "
			"and what comes after them (process, time, log)%s",
			reading->undefined.lost, file->node_count,
			has_root ? "" : "; no root is known");
	} else if (file->cut.padded) {
		(void)snprintf(detail, sizeof(detail),
			       "the file is cut short: the addresses of %" PRIu32
			       " objects, and what follows them (process, time, log), are "
			       "missing",
			       file->node_count - file->cut.address_count);
	} else {
		(void)snprintf(detail, sizeof(detail),
			       "the file is cut short: a part of what follows its objects "
			       "(process, time, log) is missing");
	}
	return raw_graph_finding(reading->graph, FINDING_CUT_FILE, 1, detail, reading->err);
}

/* All nodes, as objects or pseudo-nodes. */
static enum hd_status sort_out_nodes(struct gcdump_reading *reading)
{
	if (reading->lenient || reading->file.cut.lacks_records)
		TRY(find_bad(reading));
	TRY(gcdump_find_pseudo(reading));
	bool met_pseudo, found = false;
	TRY(gcdump_read_nodes(reading, &met_pseudo));
	if (met_pseudo)
		TRY(gcdump_check_pseudo(reading, &found));
	return found ? gcdump_read_nodes(reading, &met_pseudo) : HD_OK;
}

static enum hd_status read_graph(struct gcdump_reading *reading)
{
	TRY(allocate(reading));
	TRY(sort_out_nodes(reading));
	if (reading->file.cut.lacks_records && !reading->raw.object_count) {
		return fail(reading->err, HD_ERR_FORMAT, reading->file.size,
			    "%s: offset 0x%" PRIx64 ": the file is cut short before the record of "
			    "its first object is whole",
			    reading->file.path, reading->file.size);
	}
	TRY(gcdump_true_sizes(reading));
	TRY(gcdump_collect_roots(reading));
	TRY(raw_graph_finish(&reading->raw, reading->numbers.missing,
			     reading->numbers.missing_count, reading->graph, reading->job,
			     reading->err));
	TRY(report_undefined(reading));
	resolve_roots(reading);
	TRY(raw_graph_roots(reading->graph, reading->roots, reading->roots_count, reading->err));
	TRY(report_cut(reading));
	return gcdump_make_info(reading);
}

static void numbers_deinit(struct gcdump_numbers *numbers, const struct gcdump *file)
{
	gcdump_starts_deinit(&numbers->starts, file->blob_size);
	pages_free(numbers->shifts, numbers->blocks, sizeof(*numbers->shifts));
	pages_free(numbers->firsts, numbers->blocks, sizeof(*numbers->firsts));
	pages_free(numbers->map, file->node_count, sizeof(*numbers->map));
	pages_free(numbers->missing, numbers->missing_capacity, sizeof(*numbers->missing));
}

static void deinit(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	numbers_deinit(&reading->numbers, file);
	raw_graph_deinit(&reading->raw);
	bitmap_free(reading->undefined.bad, file->node_count);
	bitmap_free(reading->pseudo.nodes, file->node_count);
	pages_free(reading->pseudo.tree, reading->pseudo.tree_capacity,
		   sizeof(*reading->pseudo.tree));
	pages_free(reading->used, file->type_count, sizeof(*reading->used));
	pages_free(reading->type_map, file->type_count, sizeof(*reading->type_map));
	pages_free(reading->roots, reading->roots_capacity, sizeof(*reading->roots));
	gcdump_deinit(&reading->file);
}

enum hd_status gcdump_read_bytes(const struct dump_input *input,
				 const struct format_options *options, struct job *job,
				 struct hd_graph **ret, struct hd_error *err)
{
	struct gcdump_reading reading = { .lenient = options && options->lenient,
					  .exact = options && options->exact,
					  .job = job,
					  .err = err,
					  .graph = mem_calloc(1, sizeof(struct hd_graph)) };
	TRY_MEMORY(reading.graph, err);
	enum hd_status status =
		gcdump_parse_cut(input->bytes, input->size, input->path, &reading.file, err);
	if (status == HD_OK)
		status = read_graph(&reading);
	deinit(&reading);
	return graph_hand_over(reading.graph, status, ret);
}

enum hd_status gcdump_read(const struct dump_input *input, const struct format_options *options,
			   struct job *job, struct hd_graph **ret, struct hd_error *err)
{
	return read_mapped(input, gcdump_read_bytes, options, job, ret, err);
}
