/* SPDX-License-Identifier: MIT */
/* Finds the objects that can still be reached when those who wait for something are left out. */
#pragma once

#include "graph/reach.h"
#include "hangs/waits.h"

struct hd_graph;
struct job;
struct root_set;

/**
 * One of these: what weak handles have, for native code has its delegates so, and a FileSystemWatcher is called by what knows it
 * so; and dead objects whose finalizers are not the framework's.
 */
struct wait_actor {
	uint32_t node;
	bool is_weak;
};

/** The graph of the heap, which is made when it is needed first.  Only waits is set before. */
struct wait_graph {
	const struct waits *waits;
	struct root_set *roots;
	struct hd_graph *graph; /**< NULL: not made */
	/** Who may act though no root leads there. */
	struct wait_actor *actors;
	size_t actors_count, actors_capacity;
	bool was_tried;
};

void wait_graph_deinit(struct wait_graph *graph);

/**
 * Make the graph, unless it is there.
 *
 * @param[out] ret_is_known false: the stack of a thread cannot be walked, the heap cannot be read, there is no memory for its
 * graph, or it has more objects than are worth it.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the objects of the heap and their references, the first time.
 */
HD_NODISCARD enum hd_status wait_graph_open(struct wait_graph *graph, struct job *job,
					    bool *ret_is_known, struct hd_error *err);

/** Nodes and objects that are left out; empty when zero-initialised. */
struct wait_cut {
	const bool *blocked; /**< by node, wait_nodes() of them: it is left out; NULL: none is */
	const uint64_t *objects; /**< addresses of objects that are not followed, either */
	size_t objects_count;
	/** Addresses of objects, ascending: it is nothing that a weak handle has one of these itself. */
	const uint64_t *weak;
	size_t weak_count;
};

/**
 * Mark all objects that are reached from the roots and actors, but not by some nodes: the stack and the thread statics of a thread are
 * no roots then, and what an async method refers to is not followed.
 *
 * @param[out] ret To be given to reach_pass_deinit(); untouched on failure.  What is left out counts as reached.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the objects of the heap and their references.
 */
HD_NODISCARD enum hd_status wait_graph_reach(const struct wait_graph *graph,
					     const struct wait_cut *cut, struct job *job,
					     struct reach_pass *ret, struct hd_error *err);

/** Was the object at @p address reached?  true also when there is none. */
bool wait_graph_has(const struct wait_graph *graph, const struct reach_pass *pass,
		    uint64_t address);
