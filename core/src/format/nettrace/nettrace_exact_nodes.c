/* SPDX-License-Identifier: MIT */
/* Nodes of addresses, numbered as they are first mentioned. */
#include "format/nettrace/nettrace_exact_nodes.h"

#include <sys/random.h>

#include "util/alloc.h"

static size_t map_slot_at(const struct exact_map *map, uint64_t address)
{
	uint64_t x = address ^ map->seed; /* splitmix64's finaliser */
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (size_t)(x ^ (x >> 31)) & (map->capacity - 1);
}

/* The slot that has the node of an address, or would. */
static uint32_t *map_find(const struct exact_map *map, const uint64_t *addresses, uint64_t address)
{
	size_t slot = map_slot_at(map, address);
	while (map->slots[slot] && addresses[map->slots[slot] - 1] != address)
		slot = (slot + 1) & (map->capacity - 1);
	return &map->slots[slot];
}

static enum hd_status map_grow(struct exact_nodes *nodes)
{
	struct exact_map *map = &nodes->map;
	struct exact_map larger = { .capacity = map->capacity ? map->capacity * 2 : 4096,
				    .seed = map->seed,
				    .count = map->count };
	if (!map->capacity && getrandom(&larger.seed, sizeof(larger.seed), GRND_NONBLOCK) < 0)
		larger.seed = (uint64_t)(uintptr_t)nodes;
	TRY(job_check_memory(nodes->job, (uint64_t)larger.capacity * sizeof(*larger.slots),
			     nodes->err));
	larger.slots = pages_alloc(larger.capacity, sizeof(*larger.slots));
	TRY_MEMORY(larger.slots, nodes->err);
	for (size_t i = 0; i < map->capacity; i++) {
		uint32_t slot = map->slots[i];
		if (slot)
			*map_find(&larger, nodes->addresses, nodes->addresses[slot - 1]) = slot;
	}
	pages_free(map->slots, map->capacity, sizeof(*map->slots));
	*map = larger;
	return HD_OK;
}

enum hd_status exact_new_node(struct exact_nodes *nodes, uint32_t *ret)
{
	if (nodes->addresses_count >= INT32_MAX) {
		return fail(nodes->err, HD_ERR_UNSUPPORTED, 0,
			    "a .gcdump has at most 2 billion nodes");
	}
	TRY_MEMORY(PAGES_RESERVE(nodes, addresses), nodes->err);
	*ret = (uint32_t)nodes->addresses_count;
	nodes->addresses[nodes->addresses_count++] = 0;
	return HD_OK;
}

void exact_prefetch_slot(const struct exact_nodes *nodes, uint64_t address)
{
	if (nodes->map.capacity)
		__builtin_prefetch(&nodes->map.slots[map_slot_at(&nodes->map, address)]);
}

void exact_prefetch_node(const struct exact_nodes *nodes, uint64_t address)
{
	uint32_t slot =
		nodes->map.capacity ? nodes->map.slots[map_slot_at(&nodes->map, address)] : 0;
	if (slot)
		__builtin_prefetch(&nodes->addresses[slot - 1]);
}

enum hd_status exact_node(struct exact_nodes *nodes, uint64_t address, uint32_t *ret)
{
	if (nodes->map.count >= nodes->map.capacity / 4 * 3)
		TRY(map_grow(nodes));
	uint32_t *slot = map_find(&nodes->map, nodes->addresses, address);
	if (!*slot) {
		uint32_t node = 0;
		TRY(exact_new_node(nodes, &node));
		nodes->addresses[node] = address;
		*slot = node + 1;
		nodes->map.count++;
	}
	*ret = *slot - 1;
	return HD_OK;
}

void exact_nodes_forget(struct exact_nodes *nodes)
{
	pages_free(nodes->map.slots, nodes->map.capacity, sizeof(*nodes->map.slots));
	nodes->map = (struct exact_map){ 0 };
}

void exact_nodes_deinit(struct exact_nodes *nodes)
{
	exact_nodes_forget(nodes);
	pages_free(nodes->addresses, nodes->addresses_capacity, sizeof(*nodes->addresses));
}
