/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/graph/path_tree.h"

/**
 * A root that reaches the target, or an object of an older generation that does: see
 * gcroot_options.is_young.
 */
struct rooted {
	uint32_t root;     /**< index in graph->roots; HD_NONE: an older object */
	uint32_t node;     /**< the rooted object, or the older object */
	uint32_t distance; /**< links from it to the target */
};

/** The roots that keep an object alive, and the weak roots that refer to it. */
struct gcroot {
	struct path_tree tree;
	/**
	 * Stack, handle, static, thread static, finalizer, gc, internal, older objects; nearest first
	 * in each.  Stack roots of a heap are by thread, frame, distance.
	 */
	struct rooted *strong;
	struct rooted *weak; /**< weak roots of the target; with all_weak, of all objects that reach
			      * it */
	size_t strong_count, strong_capacity;
	size_t weak_count, weak_capacity;
	uint64_t hidden_stack; /**< strong stack roots that no_stacks left out */
};

struct gcroot_options {
	bool all_weak;  /**< also weak roots that reach the target through references */
	bool no_stacks; /**< leave out roots of kind stack */
	/**
	 * Find what keeps the target alive in a collection of @p generation: roots of objects that
	 * are not older than that, older objects (dead or alive) that refer to such objects, and
	 * the paths from these to the target.  Only for graphs that know generations.
	 */
	bool is_young;
	unsigned int generation;
};

/** Place of a root kind in the order of answers: stack, handle, static, ... */
unsigned int root_kind_order(uint8_t kind);

/**
 * Find them.  Records that repeat an earlier root are skipped.
 *
 * @param[out] ret To be given to gcroot_deinit(); untouched on failure.
 * Statuses as path_tree_init().
 */
HD_NODISCARD enum hd_status gcroot_init(struct hd_graph *graph, uint32_t target,
					const struct gcroot_options *options, struct job *job,
					struct gcroot *ret, struct hd_error *err);

/** A zeroed struct is allowed. */
void gcroot_deinit(struct gcroot *gcroot);
