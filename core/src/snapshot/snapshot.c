/* SPDX-License-Identifier: MIT */
#include "snapshot/snapshot.h"

#include <inttypes.h>
#include <string.h>

#include "snapshot/snapshot_parts.h"
#include "util/alloc.h"
#include "util/arena.h"

/*
 * The name that every host gives the only AppDomain (corehost: "clrhost" to coreclr_initialize()).
 */
#define DOMAIN_NAME "clrhost"

static enum hd_status add_snapshot_domain(struct hd_graph *graph, struct hd_error *err)
{
	char *name = arena_alloc(graph->arena, sizeof(DOMAIN_NAME) - 1);
	graph->domains.rows = pages_alloc(1, sizeof(*graph->domains.rows));
	TRY_MEMORY(name && graph->domains.rows, err);
	memcpy(name, DOMAIN_NAME, sizeof(DOMAIN_NAME) - 1);
	graph->domains.count = 1;
	graph->domains.rows[0].name = name;
	graph->domains.rows[0].name_size = sizeof(DOMAIN_NAME) - 1;
	return HD_OK;
}

static void report_gaps(const struct snapshot *snapshot)
{
	if (snapshot->missing)
		heap_report_missing(snapshot->heap, snapshot->missing_bytes, snapshot->missing);
	if (snapshot->gaps)
		heap_report_gaps(snapshot->heap, snapshot->gaps);
}

/* Bytes of the arrays: those of each object, and of each reference, forward and reverse. */
static enum hd_status check_snapshot_memory(const struct snapshot *snapshot)
{
	uint64_t edges = snapshot->places->edges[snapshot->heap->segment_count];
	uint64_t bytes = starts_bytes(snapshot->places->starts) +
			 (uint64_t)snapshot->graph->node_count * 16 + edges * 8;
	return job_check_memory(snapshot->job, bytes, snapshot->err);
}

/* Edges of dependent handles whose primary is not an object. */
static void report_lost_edges(const struct snapshot *snapshot)
{
	const struct root_set *roots = snapshot->roots;
	uint64_t lost = roots ? roots->edges_count - snapshot->extra : 0;
	if (!lost)
		return;
	findings_add_counted(heap_findings(snapshot->heap), FINDING_HANDLE_TO_NO_OBJECT, lost, NULL,
			     "%" PRIu64 " dependent handle%s of what is not an object: left out",
			     lost, lost == 1 ? "" : "s");
}

static enum hd_status fill_graph(struct snapshot *snapshot)
{
	struct hd_graph *graph = snapshot->graph;
	TRY(places_create(graph, snapshot->heap, snapshot->roots, &snapshot->places,
			  snapshot->err));
	TRY(snapshot_count(snapshot));
	uint64_t count = starts_count(snapshot->places->starts);
	if (count > HD_NONE - 2) {
		return fail(snapshot->err, HD_ERR_UNSUPPORTED, 0,
			    "over 4 billion objects: dumpheap and verifyheap do without a graph");
	}
	graph->object_count = graph->node_count = (uint32_t)count;
	TRY(check_snapshot_memory(snapshot));
	TRY(snapshot_types(snapshot));
	TRY(add_snapshot_domain(graph, snapshot->err));
	TRY(snapshot_info(snapshot));
	TRY(snapshot_roots(graph, snapshot->job, snapshot->err));
	report_gaps(snapshot);
	report_lost_edges(snapshot);
	return HD_OK;
}

static void free_workers(struct snapshot *snapshot)
{
	for (unsigned int i = 0; snapshot->workers && i < snapshot->worker_count; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];
		pages_free(worker->totals, worker->totals_capacity, sizeof(*worker->totals));
	}
	mem_free(snapshot->workers);
}

enum hd_status snapshot_create_nodes(struct heap *heap, const struct root_set *roots,
				     struct job *job, struct hd_graph **ret, struct hd_error *err)
{
	struct snapshot snapshot = { .heap = heap,
				     .roots = roots,
				     .job = job,
				     .err = err,
				     .graph = mem_calloc(1, sizeof(*snapshot.graph)),
				     .worker_count = job_workers(job) };
	snapshot.workers = mem_calloc(snapshot.worker_count, sizeof(*snapshot.workers));
	enum hd_status status = HD_OK;
	if (snapshot.graph)
		snapshot.graph->arena = arena_create();
	if (!snapshot.graph || !snapshot.graph->arena || !snapshot.workers)
		status = fail_nomem(err);
	for (unsigned int i = 0; status == HD_OK && i < snapshot.worker_count; i++)
		snapshot.workers[i].snapshot = &snapshot;
	if (status == HD_OK)
		status = fill_graph(&snapshot);
	free_workers(&snapshot);
	return graph_hand_over(snapshot.graph, status, ret);
}

enum hd_status snapshot_create(struct heap *heap, const struct root_set *roots, struct job *job,
			       struct hd_graph **ret, struct hd_error *err)
{
	struct hd_graph *graph;
	const struct csr *forward;
	TRY(snapshot_create_nodes(heap, roots, job, &graph, err));
	enum hd_status status = graph_forward(graph, job, &forward, err);
	if (status != HD_OK) {
		graph_destroy(graph);
		return status;
	}
	*ret = graph;
	return HD_OK;
}

enum hd_status snapshot_set_roots(struct hd_graph *graph, const struct root_set *roots,
				  struct job *job, struct hd_error *err)
{
	struct places *places = graph->places.arg;
	graph_clear_roots(graph);
	places->roots = roots;
	return snapshot_roots(graph, job, err);
}
