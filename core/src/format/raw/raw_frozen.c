/* SPDX-License-Identifier: MIT */
/* Roots of frozen objects, which the runtime does not send. */
#include <string.h>

#include "format/raw/raw_graph.h"
#include "util/alloc.h"
#include "util/sort.h"

/* As graph_places.generation() has it. */
#define FROZEN 5u

static bool has_frozen_roots(const struct hd_graph *graph)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (graph->roots[i].kind == HD_ROOT_GC)
			return true;
	}
	return false;
}

/* Is the generation of every object known?  Ids that are made up lie in no range. */
static bool knows_generations(const struct hd_graph *graph)
{
	for (size_t i = 0; i < graph->findings.count; i++) {
		if (graph->findings.rows[i].kind == FINDING_SYNTHETIC_ID)
			return false;
	}
	return graph->places.generation && !graph->info.is_partial;
}

static bool is_in_ranges(const struct raw_frozen *frozen, uint64_t id)
{
	size_t after = id < UINT64_MAX ? lower_bound_u64(frozen->starts, frozen->count, id + 1) : 0;
	return after && id < frozen->ends[after - 1];
}

static bool is_frozen(const struct hd_graph *graph, const struct raw_frozen *frozen, uint32_t node)
{
	if (frozen && frozen->is_known)
		return is_in_ranges(frozen, graph_id(graph, node));
	return graph->places.generation(graph->places.arg, node) == FROZEN;
}

/* Make room for @p count more roots. */
static enum hd_status grow_roots(struct hd_graph *graph, uint32_t count, struct hd_error *err)
{
	const size_t before = graph->root_count, after = before + count;
	struct graph_root *roots = pages_alloc(after, sizeof(*roots));
	struct graph_root_detail *details = pages_alloc(after, sizeof(*details));
	if (!roots || !details) {
		pages_free(roots, after, sizeof(*roots));
		pages_free(details, after, sizeof(*details));
		return fail_nomem(err);
	}
	if (before) {
		memcpy(roots, graph->roots, before * sizeof(*roots));
		memcpy(details, graph->origins.details, before * sizeof(*details));
	}
	pages_free(graph->roots, before, sizeof(*roots));
	pages_free(graph->origins.details, before, sizeof(*details));
	graph->roots = roots;
	graph->origins.details = details;
	graph->root_count = (uint32_t)after;
	return HD_OK;
}

enum hd_status raw_graph_frozen(struct hd_graph *graph, const struct raw_frozen *frozen,
				struct hd_error *err)
{
	uint32_t count = 0;
	if (has_frozen_roots(graph))
		return HD_OK;
	graph->origins.lacks_frozen = !(frozen && frozen->is_known) && !knows_generations(graph);
	for (uint32_t i = 0; !graph->origins.lacks_frozen && i < graph->object_count; i++)
		count += is_frozen(graph, frozen, i);
	if (!count)
		return HD_OK;
	uint32_t next = graph->root_count;
	if (count >= HD_NONE - next)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4 billion roots");
	TRY(grow_roots(graph, count, err));
	for (uint32_t i = 0; i < graph->object_count; i++) {
		if (!is_frozen(graph, frozen, i))
			continue;
		graph->roots[next] =
			(struct graph_root){ .node = i, .container = HD_NONE, .kind = HD_ROOT_GC };
		graph->origins.details[next++] =
			(struct graph_root_detail){ .thread = HD_NONE, .frame = HD_NONE };
	}
	return HD_OK;
}
