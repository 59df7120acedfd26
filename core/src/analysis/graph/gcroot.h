/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_GCROOT_H
#define HEAPDUMP_SRC_ANALYSIS_GCROOT_H

#include "analysis/graph/path_tree.h"

/** A root that reaches the target, or an older object that does: see gcroot_options.is_young. */
struct rooted {
	uint32_t root;     /**< index in graph->roots; HD_NONE: an older object */
	uint32_t node;     /**< the rooted object, or the older one */
	uint32_t distance; /**< links from it to the target */
};

/** What keeps an object alive, and what weakly sees it. */
struct gcroot {
	struct path_tree tree;
	/**
	 * Stack, handle, static, thread static, finalizer, gc, internal, older objects; nearest first
	 * in each.  Stack roots of a heap are by thread, frame, distance.
	 */
	struct rooted *strong;
	struct rooted *weak; /**< of the target itself; with all_weak of all that reaches it */
	size_t strong_count, strong_capacity;
	size_t weak_count, weak_capacity;
	uint64_t hidden_stack; /**< strong stack roots that no_stacks left out */
};

struct gcroot_options {
	bool all_weak;  /**< weak roots that reach the target through references too */
	bool no_stacks; /**< leave out roots of kind stack */
	/**
	 * What keeps the target from a collection of @p generation: roots of objects that are no
	 * older, older objects that refer to such (dead or alive), and paths between.  Only for
	 * graphs that know generations.
	 */
	bool is_young;
	unsigned int generation;
};

/** Place of a root kind in the order of answers: stack, handle, static, ... */
unsigned int root_kind_order(uint8_t kind);

/**
 * Find them.  Records that repeat an earlier root are passed over.
 *
 * @param[out] ret To be given to gcroot_deinit(); untouched on failure.
 * Statuses as path_tree_init().
 */
HD_NODISCARD enum hd_status gcroot_init(struct hd_graph *graph, uint32_t target,
					const struct gcroot_options *options, struct job *job,
					struct gcroot *ret, struct hd_error *err);

/** A zeroed struct is allowed. */
void gcroot_deinit(struct gcroot *gcroot);

#endif
