/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/starts.h"
#include "graph/heap_graph.h"
#include "roots/root_set.h"
#include "runtime/coreclr/statics/handle_arrays.h"
#include "snapshot/name_table.h"

/** link() keeps this for later calls. */
struct link_state {
	struct window window;
	struct name_table names; /**< by MethodTable and offset, for objects that are not arrays */
	struct arena *arena;     /**< holds their texts */
	struct handle_arrays handle_arrays; /**< set when they were first needed */
	bool has_handle_arrays;
};

/** The heap that belongs to the nodes of a heap's graph. */
struct places {
	struct heap *heap;            /**< borrowed */
	const struct root_set *roots; /**< borrowed; NULL: none */
	struct starts *starts;
	uint64_t *edges; /**< number of edges before each segment, and in all; some may not lead to
			  * an object */
	uint32_t *
		types; /**< maps indices of the runtime's types to those of the graph's, or HD_NONE */
	size_t type_count;
	struct link_state *links;
};

/**
 * Make the places of @p graph, which owns them from then on; starts, edges and types are set later.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status places_create(struct hd_graph *graph, struct heap *heap,
					  const struct root_set *roots, struct places **ret,
					  struct hd_error *err);

/**
 * Append the same as graph_places.link, for a given slot of @p object that refers to @p to.  For
 * callers that go through all references of an object: link() would do that for each of them.
 *
 * @param graph The graph of a heap.
 * @return false, and nothing is appended: it is the slot of a static, which is not a reference of
 * the object
 */
bool places_slot_link(const struct hd_graph *graph, const struct object *object, uint64_t slot,
		      uint64_t to, struct text *text);

/** Make graph->forward, and what belongs to it; see graph_forward(). */
HD_NODISCARD enum hd_status places_forward(struct hd_graph *graph, struct job *job,
					   struct hd_error *err);
/** Make graph->reverse without graph->forward; see graph_reverse(). */
HD_NODISCARD enum hd_status places_reverse(struct hd_graph *graph, struct job *job,
					   struct hd_error *err);
