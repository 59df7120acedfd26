/* SPDX-License-Identifier: MIT */
/* Nodes of addresses, and the tree of nodes that stand for roots. */
#include <string.h>
#include <sys/random.h>

#include "format/nettrace/nettrace_exact.h"
#include "util/alloc.h"

static size_t slot_at(const struct nx_map *map, uint64_t address)
{
	uint64_t x = address ^ map->seed; /* splitmix64's finaliser */
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (size_t)(x ^ (x >> 31)) & (map->capacity - 1);
}

/* The slot that has the node of an address, or would. */
static uint32_t *map_find(const struct nx_map *map, const uint64_t *addresses, uint64_t address)
{
	size_t slot = slot_at(map, address);
	while (map->slots[slot] && addresses[map->slots[slot] - 1] != address)
		slot = (slot + 1) & (map->capacity - 1);
	return &map->slots[slot];
}

static enum hd_status map_grow(struct nx *nx)
{
	struct nx_map *map = &nx->map;
	struct nx_map larger = { .capacity = map->capacity ? map->capacity * 2 : 4096,
				 .seed = map->seed,
				 .count = map->count };
	if (!map->capacity && getrandom(&larger.seed, sizeof(larger.seed), GRND_NONBLOCK) < 0)
		larger.seed = (uint64_t)(uintptr_t)nx;
	TRY(job_check_memory(nx->job, (uint64_t)larger.capacity * sizeof(*larger.slots), nx->err));
	larger.slots = pages_alloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return fail_nomem(nx->err);
	for (size_t i = 0; i < map->capacity; i++) {
		uint32_t slot = map->slots[i];
		if (slot)
			*map_find(&larger, nx->addresses, nx->addresses[slot - 1]) = slot;
	}
	pages_free(map->slots, map->capacity, sizeof(*map->slots));
	*map = larger;
	return HD_OK;
}

enum hd_status nx_new_node(struct nx *nx, uint32_t *ret)
{
	if (nx->addresses_count >= INT32_MAX) {
		return fail(nx->err, HD_ERR_UNSUPPORTED, 0,
			    "a .gcdump has at most 2 billion nodes");
	}
	if (!PAGES_RESERVE(nx, addresses))
		return fail_nomem(nx->err);
	*ret = (uint32_t)nx->addresses_count;
	nx->addresses[nx->addresses_count++] = 0;
	return HD_OK;
}

void nx_prefetch_slot(const struct nx *nx, uint64_t address)
{
	if (nx->map.capacity)
		__builtin_prefetch(&nx->map.slots[slot_at(&nx->map, address)]);
}

void nx_prefetch_node(const struct nx *nx, uint64_t address)
{
	uint32_t slot = nx->map.capacity ? nx->map.slots[slot_at(&nx->map, address)] : 0;
	if (slot)
		__builtin_prefetch(&nx->addresses[slot - 1]);
}

enum hd_status nx_node(struct nx *nx, uint64_t address, uint32_t *ret)
{
	if (nx->map.count >= nx->map.capacity / 4 * 3)
		TRY(map_grow(nx));
	uint32_t *slot = map_find(&nx->map, nx->addresses, address);
	if (!*slot) {
		uint32_t node = 0;
		TRY(nx_new_node(nx, &node));
		nx->addresses[node] = address;
		*slot = node + 1;
		nx->map.count++;
	}
	*ret = *slot - 1;
	return HD_OK;
}

static enum hd_status add_link(struct nx *nx, uint32_t pseudo, uint32_t node)
{
	if (!PAGES_RESERVE(nx, links))
		return fail_nomem(nx->err);
	nx->links[nx->links_count++] = (struct nx_link){ .pseudo = pseudo, .node = node };
	return HD_OK;
}

/* A pseudo-node of the name in nx->text. */
static enum hd_status add_pseudo(struct nx *nx, uint32_t parent, uint32_t *ret)
{
	struct nx_pseudo pseudo = {
		.parent = parent, .first_kid = HD_NONE, .last_kid = HD_NONE, .sibling = HD_NONE
	};
	TRY(nx_copy_text(nx, &pseudo.name));
	TRY(nx_new_node(nx, &pseudo.node));
	if (!PAGES_RESERVE(nx, pseudos))
		return fail_nomem(nx->err);
	*ret = (uint32_t)nx->pseudos_count++;
	nx->pseudos[*ret] = pseudo;
	if (parent == HD_NONE)
		return HD_OK;
	struct nx_pseudo *above = &nx->pseudos[parent];
	if (above->last_kid == HD_NONE) {
		above->first_kid = *ret;
	} else {
		nx->pseudos[above->last_kid].sibling = *ret;
	}
	above->last_kid = *ret;
	return add_link(nx, parent, pseudo.node);
}

enum hd_status nx_root(struct nx *nx)
{
	uint32_t root;
	nx->text.size = 0;
	text_puts(&nx->text, "[.NET Roots]");
	return add_pseudo(nx, HD_NONE, &root);
}

enum hd_status nx_kid(struct nx *nx, uint32_t parent, uint32_t *ret)
{
	uint32_t *value;
	TRY(nx_value(nx, NX_KID, parent, NULL, nx->text.bytes, nx->text.size, &value));
	if (*value == HD_NONE)
		TRY(add_pseudo(nx, parent, value));
	*ret = *value;
	return HD_OK;
}

enum hd_status nx_kid_named(struct nx *nx, uint32_t parent, const char *name, uint32_t *ret)
{
	nx->text.size = 0;
	text_puts(&nx->text, name);
	return nx_kid(nx, parent, ret);
}

enum hd_status nx_add_child(struct nx *nx, uint32_t pseudo, uint64_t address)
{
	uint32_t node;
	TRY(nx_node(nx, address, &node));
	return add_link(nx, pseudo, node);
}

uint32_t nx_after(const struct nx *nx, uint32_t pseudo)
{
	if (nx->pseudos[pseudo].first_kid != HD_NONE)
		return nx->pseudos[pseudo].first_kid;
	while (pseudo != HD_NONE && nx->pseudos[pseudo].sibling == HD_NONE)
		pseudo = nx->pseudos[pseudo].parent;
	return pseudo == HD_NONE ? HD_NONE : nx->pseudos[pseudo].sibling;
}

/* Put the children of each pseudo-node together, in their order. */
static enum hd_status sort_links(struct nx *nx)
{
	nx->pseudo_children = pages_alloc(nx->links_count, sizeof(*nx->pseudo_children));
	if (!nx->pseudo_children)
		return fail_nomem(nx->err);
	for (size_t i = 0; i < nx->links_count; i++)
		nx->pseudos[nx->links[i].pseudo].child_count++;
	uint64_t at = 0;
	for (size_t i = 0; i < nx->pseudos_count; i++) {
		nx->pseudos[i].first_child = at;
		at += nx->pseudos[i].child_count;
		nx->pseudos[i].child_count = 0;
	}
	for (size_t i = 0; i < nx->links_count; i++) {
		struct nx_pseudo *pseudo = &nx->pseudos[nx->links[i].pseudo];
		nx->pseudo_children[pseudo->first_child + pseudo->child_count++] =
			nx->links[i].node;
	}
	return HD_OK;
}

enum hd_status nx_finish_pseudos(struct nx *nx)
{
	for (uint32_t i = 0; i != HD_NONE; i = nx_after(nx, i)) {
		struct nx_pseudo *pseudo = &nx->pseudos[i];
		uint32_t *value;
		TRY(nx_value(nx, NX_PSEUDO_TYPE, 0, NULL, (const char *)pseudo->name.bytes,
			     pseudo->name.size, &value));
		if (*value == HD_NONE)
			TRY(nx_add_type(nx, &pseudo->name, NULL, value));
		pseudo->type = *value;
	}
	return sort_links(nx);
}
