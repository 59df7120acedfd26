/* SPDX-License-Identifier: MIT */
#include "snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/fill.h"
#include "util/alloc.h"
#include "util/arena.h"

/* What every host gives the one AppDomain (corehost: "clrhost" to coreclr_initialize()). */
#define DOMAIN_NAME "clrhost"

static uint64_t place_id(const void *arg, uint32_t node)
{
	return starts_address(arg, node);
}

static uint32_t place_lower_bound(const void *arg, uint64_t id)
{
	return (uint32_t)starts_rank(arg, id);
}

static void place_destroy(void *arg)
{
	starts_destroy(arg);
}

/* A type of the clr that has objects. */
struct used_type {
	struct type *type;
	uint64_t count, size;
};

static int compare_types(const void *a, const void *b)
{
	const struct used_type *left = a, *right = b;
	return (left->type->method_table > right->type->method_table) -
	       (left->type->method_table < right->type->method_table);
}

static enum hd_status copy_name(struct hd_graph *graph, struct clr *clr, const struct type *from,
				struct graph_type *to, struct hd_error *err)
{
	size_t size = 0;
	const char *name = type_name(clr, from, &size);
	char *copy = arena_alloc(graph->arena, size ? size : 1);
	if (!copy)
		return fail_nomem(err);
	memcpy(copy, name, size);
	to->name = size ? copy : NULL;
	to->name_size = (uint32_t)size;
	return HD_OK;
}

/* The graph's types out of those used, ascending by MethodTable; @p map gets their new indices. */
static enum hd_status make_types(struct snapshot *snapshot, struct used_type *used, size_t count,
				 uint32_t *map)
{
	struct hd_graph *graph = snapshot->graph;
	qsort(used, count, sizeof(*used), compare_types);
	graph->types = pages_alloc(count, sizeof(*graph->types));
	if (!graph->types)
		return fail_nomem(snapshot->err);
	graph->type_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		struct graph_type *type = &graph->types[i];
		type->id = used[i].type->method_table;
		type->count = used[i].count;
		type->size = used[i].size;
		map[used[i].type->index] = (uint32_t)i;
		TRY(copy_name(graph, snapshot->heap->clr, used[i].type, type, snapshot->err));
	}
	return HD_OK;
}

/* Count the objects of each type, and turn node_types into indices of the graph's types. */
static enum hd_status map_types(struct snapshot *snapshot, struct used_type *used, uint32_t *map)
{
	struct hd_graph *graph = snapshot->graph;
	for (uint32_t node = 0; node < graph->node_count; node++) {
		struct used_type *type = &used[graph->node_types[node]];
		type->count++;
		type->size += graph_size(graph, node);
	}
	size_t count = 0;
	for (size_t i = 0; i < snapshot->type_count; i++) {
		if (!used[i].count)
			continue;
		used[count] = used[i];
		used[count++].type = type_at(snapshot->heap->clr, i);
	}
	TRY(make_types(snapshot, used, count, map));
	for (uint32_t node = 0; node < graph->node_count; node++)
		graph->node_types[node] = map[graph->node_types[node]];
	return HD_OK;
}

static enum hd_status read_types(struct snapshot *snapshot)
{
	snapshot->type_count = type_count(snapshot->heap->clr);
	struct used_type *used = mem_calloc(snapshot->type_count, sizeof(*used));
	uint32_t *map = mem_calloc(snapshot->type_count, sizeof(*map));
	enum hd_status status =
		used && map ? map_types(snapshot, used, map) : fail_nomem(snapshot->err);
	mem_free(used);
	mem_free(map);
	return status;
}

static enum hd_status add_domain(struct hd_graph *graph, struct hd_error *err)
{
	char *name = arena_alloc(graph->arena, sizeof(DOMAIN_NAME) - 1);
	graph->domains = pages_alloc(1, sizeof(*graph->domains));
	if (!name || !graph->domains)
		return fail_nomem(err);
	memcpy(name, DOMAIN_NAME, sizeof(DOMAIN_NAME) - 1);
	graph->domain_count = 1;
	graph->domains[0].name = name;
	graph->domains[0].name_size = sizeof(DOMAIN_NAME) - 1;
	return HD_OK;
}

static enum hd_status add_finding(struct snapshot *snapshot, const char *kind, uint64_t count,
				  const char *detail)
{
	struct hd_graph *graph = snapshot->graph;
	struct graph_finding *findings =
		mem_realloc(graph->findings, graph->finding_count + 1, sizeof(*findings));
	char *copy = findings ? mem_strndup(detail, strlen(detail)) : NULL;
	if (findings)
		graph->findings = findings;
	if (!copy)
		return fail_nomem(snapshot->err);
	findings[graph->finding_count++] =
		(struct graph_finding){ .kind = kind, .count = count, .detail = copy };
	return HD_OK;
}

static enum hd_status add_findings(struct snapshot *snapshot)
{
	uint64_t gaps = 0, slot = 0, value = 0;
	for (unsigned int i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		gaps += worker->gaps;
		if (!worker->dropped || (slot && slot <= worker->dropped_slot))
			continue;
		slot = worker->dropped_slot;
		value = worker->dropped_value;
	}
	if (gaps) {
		TRY(add_finding(snapshot, "unwalkable", gaps,
				"gaps where no object can be read: verifyheap shows them"));
	}
	if (!snapshot->dropped)
		return HD_OK;
	char detail[160];
	(void)snprintf(detail, sizeof(detail),
		       "references to what is no object, the first at 0x%" PRIx64 " to 0x%" PRIx64
		       ": they are left out, verifyheap shows them",
		       slot, value);
	return add_finding(snapshot, "reference-to-no-object", snapshot->dropped, detail);
}

/* Bytes of the arrays: those of each object, and of each reference, forward and reverse. */
static enum hd_status check_memory(const struct snapshot *snapshot)
{
	uint64_t bytes = starts_bytes(snapshot->starts) +
			 (uint64_t)snapshot->graph->node_count * 16 + snapshot->edges * 8;
	return job_check_memory(snapshot->job, bytes, snapshot->err);
}

static enum hd_status fill_graph(struct snapshot *snapshot)
{
	struct hd_graph *graph = snapshot->graph;
	TRY(starts_create(snapshot->heap, false, snapshot->job, &snapshot->starts, snapshot->err));
	graph->places = (struct graph_places){ .id = place_id,
					       .lower_bound = place_lower_bound,
					       .destroy = place_destroy,
					       .arg = snapshot->starts };
	uint64_t count = starts_count(snapshot->starts);
	if (count > HD_NONE - 2) {
		return fail(snapshot->err, HD_ERR_UNSUPPORTED, 0,
			    "over 4 billion objects: dumpheap and verifyheap do without a graph");
	}
	graph->object_count = graph->node_count = (uint32_t)count;
	TRY(check_memory(snapshot));
	TRY(snapshot_objects(snapshot));
	TRY(check_memory(snapshot));
	TRY(snapshot_references(snapshot));
	TRY(read_types(snapshot));
	TRY(add_domain(graph, snapshot->err));
	return add_findings(snapshot);
}

enum hd_status snapshot_create(struct heap *heap, struct job *job, struct hd_graph **ret,
			       struct hd_error *err)
{
	struct snapshot snapshot = { .heap = heap,
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
	for (unsigned int i = 0; snapshot.workers && i < snapshot.worker_count; i++) {
		struct snapshot_worker *worker = &snapshot.workers[i];
		pages_free(worker->large, worker->large_capacity, sizeof(*worker->large));
	}
	mem_free(snapshot.workers);
	if (status == HD_OK) {
		*ret = snapshot.graph;
	} else {
		graph_destroy(snapshot.graph);
	}
	return status;
}
