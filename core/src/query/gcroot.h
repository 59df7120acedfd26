/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_QUERY_GCROOT_H
#define HEAPDUMP_SRC_QUERY_GCROOT_H

#include "query/path_tree.h"

/** A root that reaches the target. */
struct rooted {
	uint32_t root;     /**< index in graph->roots */
	uint32_t distance; /**< links from the rooted object to the target */
};

/** What keeps an object alive, and what weakly sees it. */
struct gcroot {
	struct path_tree tree;
	struct rooted *
		strong; /**< stack, handle, static, finalizer, gc, internal; nearest first in each */
	struct rooted *weak; /**< of the target itself; with all_weak of all that reaches it */
	size_t strong_count, strong_capacity;
	size_t weak_count, weak_capacity;
	uint64_t hidden_stack; /**< strong stack roots that no_stacks left out */
};

struct gcroot_options {
	bool all_weak;  /**< weak roots that reach the target through references too */
	bool no_stacks; /**< leave out roots of kind stack */
};

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
