/* SPDX-License-Identifier: MIT */
/* Chains of async methods, from what the innermost waits for up to the one that nobody awaits. */
#pragma once

#include "analysis/async/async_graph.h"
#include "analysis/graph/hash_index.h"

/**
 * Chains with the same methods in the same states, which end at the same kind of wait, and after
 * which the same kind of thing goes on.
 */
struct async_chain {
	uint32_t inner; /**< the chain without its outermost method; ASYNC_NO_NODE: none */
	uint32_t first; /**< outermost node of the one with the lowest address */
	uint32_t depth; /**< methods */
	uint64_t count; /**< how many end here: their outermost node is awaited by no other node */
	uint64_t objects; /**< different things that the innermost methods wait for */
};

/** Which chains are wanted: those with a method in them for which it is true. */
struct async_wanted {
	bool (*is_wanted)(void *arg, const struct async_node *node); /**< NULL: all */
	void *arg;
};

struct async_chains {
	const struct async_graph *graph; /**< borrowed */
	struct async_chain *rows;        /**< also the inner parts of chains, whose count is 0 */
	size_t rows_count, rows_capacity;
	uint32_t *of_node; /**< by node: its chain; ASYNC_NO_NODE: not wanted */
	uint32_t *sorted;  /**< the chains with a count, most first */
	size_t sorted_count;
	uint64_t roots; /**< chains in all */
};

/**
 * Merge the chains of @p graph.
 *
 * @param[out] ret To be given to async_chains_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in the nodes.
 */
HD_NODISCARD enum hd_status async_chains_create(const struct async_graph *graph,
						const struct async_wanted *wanted,
						struct async_chains *ret, struct hd_error *err);
void async_chains_deinit(struct async_chains *chains);
