/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/job.h"

/**
 * A hash table of nodes by address, with open addressing; a node's address is in
 * exact_nodes.addresses.
 */
struct exact_map {
	uint32_t *slots; /**< pages; node + 1, 0: free */
	size_t capacity;
	uint64_t seed;
	uint32_t count;
};

/** Nodes, numbered as they are first mentioned; begins with only job and err set. */
struct exact_nodes {
	struct job *job;
	struct hd_error *err;
	struct exact_map map;
	uint64_t *addresses; /**< pages; 0 for a pseudo-node */
	size_t addresses_count, addresses_capacity;
};

/**
 * Node of an address; it is made when the address is first mentioned.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED more nodes than a .gcdump has
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status exact_node(struct exact_nodes *nodes, uint64_t address, uint32_t *ret);
/**
 * Prefetch the memory that exact_node() will need: first the place in the map, then what it refers
 * to.
 */
void exact_prefetch_slot(const struct exact_nodes *nodes, uint64_t address);
void exact_prefetch_node(const struct exact_nodes *nodes, uint64_t address);
/** Make a node without an address; fails as exact_node() does. */
HD_NODISCARD enum hd_status exact_new_node(struct exact_nodes *nodes, uint32_t *ret);

/** Free the map: after this, no address can be looked up.  The addresses stay. */
void exact_nodes_forget(struct exact_nodes *nodes);
void exact_nodes_deinit(struct exact_nodes *nodes);
