/* SPDX-License-Identifier: MIT */
/*
 * Reads an open text log into a graph: all chunks at the same time, then the merge, roots and
 * totals.
 */
#include "format/rpm/rpm_reader.h"

#include <string.h>

#include "format/format.h"
#include "format/raw/raw_graph.h"
#include "format/rpm/rpm_chunk.h"
#include "format/rpm/rpm_merge.h"
#include "util/alloc.h"
#include "util/arena.h"

/* For fewer bytes than this, another worker is not worth it. */
#define CHUNK_MIN ((uint64_t)1 << 20)

bool rpm_detect(const char *bytes, size_t size)
{
	size_t i = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	while (i < size && strchr(" \t\r\n", bytes[i]) && bytes[i])
		i++;
	bool blank_follows = i + 1 < size && (bytes[i + 1] == ' ' || bytes[i + 1] == '\t');
	return blank_follows && bytes[i] && strchr("atorc", bytes[i]);
}

static void rpm_read_chunk(void *arg, unsigned int index)
{
	struct rpm_chunk *chunks = arg;
	rpm_chunk_read(&chunks[index]);
}

/* The failure to report when not every chunk was read; malformed lines are the merge's. */
static enum hd_status chunk_failure(const struct rpm_chunk *chunks, size_t count,
				    struct hd_error *err)
{
	const struct rpm_chunk *failed = NULL;
	for (size_t i = 0; i < count; i++) {
		enum hd_status status = chunks[i].status;
		if (status == HD_ERR_FORMAT && !failed)
			return HD_OK;
		if (status == HD_OK || status == HD_ERR_FORMAT)
			continue;
		if (!failed || failed->status == HD_ERR_CANCELLED)
			failed = &chunks[i];
	}
	if (failed && err)
		*err = failed->err;
	return failed ? failed->status : HD_OK;
}

static enum hd_status merge_roots(struct merge *merge)
{
	struct hd_graph *graph = merge->graph;
	uint64_t count = 0;
	for (size_t i = 0; i < merge->count; i++)
		count += merge->chunks[i].roots_count;
	if (count >= HD_NONE)
		return fail(merge->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion roots");
	graph->roots = pages_alloc(count, sizeof(*graph->roots));
	TRY_MEMORY(graph->roots, merge->err);
	graph->root_count = (uint32_t)count;
	uint32_t next = 0;
	for (size_t i = 0; i < merge->count; i++) {
		const struct rpm_chunk *chunk = &merge->chunks[i];
		for (size_t k = 0; k < chunk->roots_count; k++) {
			const struct rpm_root *root = &chunk->roots[k];
			bool has_container = root->container != HD_NONE;
			graph->roots[next++] = (struct graph_root){
				.node = hd_graph_find(graph, root->id),
				.container = has_container ? merge->type_maps[i][root->container]
							   : HD_NONE,
				.domain = chunk->sections.segments[root->segment].domain,
				.kind = root->kind,
				.flags = root->flags,
			};
		}
	}
	/*
	 * Equal records are separate roots: two slots of a stack, for example, have no addresses.
	 */
	return HD_OK;
}

/* Count objects and bytes of each type, and find types without a definition. */
static enum hd_status count_types(struct merge *merge)
{
	struct hd_graph *graph = merge->graph;
	TRY(raw_graph_count_types(graph, NULL, merge->chunks[0].range.path, merge->job,
				  merge->err));
	uint64_t objects = 0, types = 0;
	for (uint32_t i = 0; i < graph->type_count; i++) {
		if (graph->types[i].name)
			continue;
		types++;
		objects += graph->types[i].count;
	}
	if (!types)
		return HD_OK;
	return merge_finding(merge, FINDING_UNRESOLVED_TYPE, types, 0,
			     "type ids without a \"t\" record; %llu objects have one of them",
			     (unsigned long long)objects);
}

static enum hd_status merge_all(struct merge *merge)
{
	TRY(merge_sections(merge));
	TRY(merge_types(merge));
	TRY(merge_nodes(merge));
	TRY(merge_roots(merge));
	TRY(count_types(merge));
	TRY(merge_problems(merge));
	struct hd_graph *graph = merge->graph;
	graph->arena = merge->chunks[0].arena;
	merge->chunks[0].arena = NULL;
	for (size_t i = 1; i < merge->count; i++) {
		arena_merge(graph->arena, merge->chunks[i].arena);
		merge->chunks[i].arena = NULL;
	}
	return HD_OK;
}

/*
 * Cut arrays that have grown to their count, because graph_destroy() uses the count to free them.
 */
static enum hd_status fit_arrays(struct merge *merge)
{
	struct hd_graph *graph = merge->graph;
	void *types = pages_resize(graph->types, merge->types_capacity, graph->type_count,
				   sizeof(*graph->types));
	TRY_MEMORY(types, merge->err);
	graph->types = types;
	merge->types_capacity = graph->type_count;
	void *domains = pages_resize(graph->domains.rows, merge->domains_capacity,
				     graph->domains.count, sizeof(*graph->domains.rows));
	TRY_MEMORY(domains, merge->err);
	graph->domains.rows = domains;
	merge->domains_capacity = graph->domains.count;
	return HD_OK;
}

static void merge_deinit(struct merge *merge)
{
	for (size_t i = 0; merge->type_maps && i < merge->count; i++) {
		pages_free(merge->type_maps[i], merge->chunks[i].types.rows_count,
			   sizeof(uint32_t));
	}
	mem_free(merge->type_maps);
	type_table_deinit(&merge->table);
	pages_free(merge->order, merge->file_rows.node_count, sizeof(*merge->order));
	csr_deinit(&merge->file_rows);
}

enum hd_status rpm_merge(struct rpm_chunk *chunks, size_t count, struct job *job,
			 struct hd_graph **ret, struct hd_error *err)
{
	struct merge merge = { .chunks = chunks, .count = count, .job = job, .err = err };
	merge.graph = mem_calloc(1, sizeof(*merge.graph));
	TRY_MEMORY(merge.graph, err);
	enum hd_status status = merge_all(&merge);
	if (status == HD_OK)
		status = fit_arrays(&merge);
	merge_deinit(&merge);
	if (status == HD_OK) {
		*ret = merge.graph;
		return HD_OK;
	}
	/*
	 * graph_destroy() uses counts to free arrays; those that still have a larger capacity are
	 * freed by it here.
	 */
	pages_free(merge.graph->types, merge.types_capacity, sizeof(*merge.graph->types));
	pages_free(merge.graph->domains.rows, merge.domains_capacity,
		   sizeof(*merge.graph->domains.rows));
	merge.graph->types = NULL;
	merge.graph->domains.rows = NULL;
	graph_destroy(merge.graph);
	return status;
}

static bool has_problems(const struct rpm_chunk *chunks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (chunks[i].problems.first.count)
			return true;
		for (size_t kind = 0; kind < RPM_PROBLEM_COUNT; kind++) {
			if (chunks[i].problems.counted[kind].count)
				return true;
		}
	}
	return false;
}

/*
 * Read a whole file in @p count chunks.  With more than one, HD_ERR_FORMAT says
 * that the file is malformed somewhere, in lenient reading too.
 */
static enum hd_status rpm_read_chunks(const struct rpm_range *whole, size_t count,
				      struct hd_graph **ret, struct hd_error *err)
{
	HD_FREE struct rpm_chunk *chunks = mem_calloc(count, sizeof(*chunks));
	TRY_MEMORY(chunks, err);
	uint64_t size = whole->file_size;
	for (size_t i = 0; i < count; i++) {
		chunks[i].range = *whole;
		chunks[i].range.begin = size / count * i;
		chunks[i].range.end = i + 1 == count ? size : size / count * (i + 1);
		chunks[i].range.worker = (unsigned int)i;
	}
	job_begin(whole->job, "Reading", size);
	run_parallel((unsigned int)count, whole->job, rpm_read_chunk, chunks);
	enum hd_status status = chunk_failure(chunks, count, err);
	if (status == HD_OK && count > 1 && has_problems(chunks, count)) {
		status = HD_ERR_FORMAT;
	} else if (status == HD_OK) {
		status = rpm_merge(chunks, count, whole->job, ret, err);
	}
	for (size_t i = 0; i < count; i++)
		rpm_chunk_deinit(&chunks[i]);
	return status;
}

enum hd_status rpm_read(const struct dump_input *input, const struct format_options *options,
			struct job *job, struct hd_graph **ret, struct hd_error *err)
{
	const struct rpm_range whole = {
		.fd = input->fd,
		.path = input->path,
		.file_size = input->size,
		.lenient = options->lenient,
		.job = job,
	};
	size_t count = job_workers(job);
	while (count > 1 && input->size / count < CHUNK_MIN)
		count--;
	enum hd_status status = rpm_read_chunks(&whole, count, ret, err);
	if (status != HD_ERR_FORMAT || count == 1)
		return status;
	/*
	 * The first problem, and its consequences, can only be seen when lines are read in order.
	 */
	atomic_store(&job->stop, false);
	return rpm_read_chunks(&whole, 1, ret, err);
}
