/* SPDX-License-Identifier: MIT */
/* Nodes of addresses, and the tree of nodes that stand for roots. */
#include <string.h>
#include <sys/random.h>

#include "format/nettrace/nettrace_exact.h"
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

static enum hd_status map_grow(struct exact_dump *exact)
{
	struct exact_map *map = &exact->map;
	struct exact_map larger = { .capacity = map->capacity ? map->capacity * 2 : 4096,
				    .seed = map->seed,
				    .count = map->count };
	if (!map->capacity && getrandom(&larger.seed, sizeof(larger.seed), GRND_NONBLOCK) < 0)
		larger.seed = (uint64_t)(uintptr_t)exact;
	TRY(job_check_memory(exact->job, (uint64_t)larger.capacity * sizeof(*larger.slots),
			     exact->err));
	larger.slots = pages_alloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return fail_nomem(exact->err);
	for (size_t i = 0; i < map->capacity; i++) {
		uint32_t slot = map->slots[i];
		if (slot)
			*map_find(&larger, exact->addresses, exact->addresses[slot - 1]) = slot;
	}
	pages_free(map->slots, map->capacity, sizeof(*map->slots));
	*map = larger;
	return HD_OK;
}

enum hd_status exact_new_node(struct exact_dump *exact, uint32_t *ret)
{
	if (exact->addresses_count >= INT32_MAX) {
		return fail(exact->err, HD_ERR_UNSUPPORTED, 0,
			    "a .gcdump has at most 2 billion nodes");
	}
	if (!PAGES_RESERVE(exact, addresses))
		return fail_nomem(exact->err);
	*ret = (uint32_t)exact->addresses_count;
	exact->addresses[exact->addresses_count++] = 0;
	return HD_OK;
}

void exact_prefetch_slot(const struct exact_dump *exact, uint64_t address)
{
	if (exact->map.capacity)
		__builtin_prefetch(&exact->map.slots[map_slot_at(&exact->map, address)]);
}

void exact_prefetch_node(const struct exact_dump *exact, uint64_t address)
{
	uint32_t slot =
		exact->map.capacity ? exact->map.slots[map_slot_at(&exact->map, address)] : 0;
	if (slot)
		__builtin_prefetch(&exact->addresses[slot - 1]);
}

enum hd_status exact_node(struct exact_dump *exact, uint64_t address, uint32_t *ret)
{
	if (exact->map.count >= exact->map.capacity / 4 * 3)
		TRY(map_grow(exact));
	uint32_t *slot = map_find(&exact->map, exact->addresses, address);
	if (!*slot) {
		uint32_t node = 0;
		TRY(exact_new_node(exact, &node));
		exact->addresses[node] = address;
		*slot = node + 1;
		exact->map.count++;
	}
	*ret = *slot - 1;
	return HD_OK;
}

static enum hd_status add_link(struct exact_dump *exact, uint32_t pseudo, uint32_t node)
{
	if (!PAGES_RESERVE(exact, links))
		return fail_nomem(exact->err);
	exact->links[exact->links_count++] = (struct exact_link){ .pseudo = pseudo, .node = node };
	return HD_OK;
}

/* A pseudo-node of the name in exact->text. */
static enum hd_status make_exact_pseudo(struct exact_dump *exact, uint32_t parent, uint32_t *ret)
{
	struct exact_pseudo pseudo = {
		.parent = parent, .first_kid = HD_NONE, .last_kid = HD_NONE, .sibling = HD_NONE
	};
	TRY(exact_copy_text(exact, &pseudo.name));
	TRY(exact_new_node(exact, &pseudo.node));
	if (!PAGES_RESERVE(exact, pseudos))
		return fail_nomem(exact->err);
	*ret = (uint32_t)exact->pseudos_count++;
	exact->pseudos[*ret] = pseudo;
	if (parent == HD_NONE)
		return HD_OK;
	struct exact_pseudo *above = &exact->pseudos[parent];
	if (above->last_kid == HD_NONE) {
		above->first_kid = *ret;
	} else {
		exact->pseudos[above->last_kid].sibling = *ret;
	}
	above->last_kid = *ret;
	return add_link(exact, parent, pseudo.node);
}

enum hd_status exact_root(struct exact_dump *exact)
{
	uint32_t root;
	exact->text.size = 0;
	text_puts(&exact->text, "[.NET Roots]");
	return make_exact_pseudo(exact, HD_NONE, &root);
}

enum hd_status exact_kid(struct exact_dump *exact, uint32_t parent, uint32_t *ret)
{
	uint32_t *value;
	TRY(exact_value(exact, EXACT_KID, parent, NULL, exact->text.bytes, exact->text.size,
			&value));
	if (*value == HD_NONE)
		TRY(make_exact_pseudo(exact, parent, value));
	*ret = *value;
	return HD_OK;
}

enum hd_status exact_kid_named(struct exact_dump *exact, uint32_t parent, const char *name,
			       uint32_t *ret)
{
	exact->text.size = 0;
	text_puts(&exact->text, name);
	return exact_kid(exact, parent, ret);
}

enum hd_status exact_add_child(struct exact_dump *exact, uint32_t pseudo, uint64_t address)
{
	uint32_t node;
	TRY(exact_node(exact, address, &node));
	return add_link(exact, pseudo, node);
}

uint32_t exact_after(const struct exact_dump *exact, uint32_t pseudo)
{
	if (exact->pseudos[pseudo].first_kid != HD_NONE)
		return exact->pseudos[pseudo].first_kid;
	while (pseudo != HD_NONE && exact->pseudos[pseudo].sibling == HD_NONE)
		pseudo = exact->pseudos[pseudo].parent;
	return pseudo == HD_NONE ? HD_NONE : exact->pseudos[pseudo].sibling;
}

/* Put the children of each pseudo-node together, in their order. */
static enum hd_status sort_links(struct exact_dump *exact)
{
	exact->pseudo_children = pages_alloc(exact->links_count, sizeof(*exact->pseudo_children));
	if (!exact->pseudo_children)
		return fail_nomem(exact->err);
	for (size_t i = 0; i < exact->links_count; i++)
		exact->pseudos[exact->links[i].pseudo].child_count++;
	uint64_t at = 0;
	for (size_t i = 0; i < exact->pseudos_count; i++) {
		exact->pseudos[i].first_child = at;
		at += exact->pseudos[i].child_count;
		exact->pseudos[i].child_count = 0;
	}
	for (size_t i = 0; i < exact->links_count; i++) {
		struct exact_pseudo *pseudo = &exact->pseudos[exact->links[i].pseudo];
		exact->pseudo_children[pseudo->first_child + pseudo->child_count++] =
			exact->links[i].node;
	}
	return HD_OK;
}

enum hd_status exact_finish_pseudos(struct exact_dump *exact)
{
	for (uint32_t i = 0; i != HD_NONE; i = exact_after(exact, i)) {
		struct exact_pseudo *pseudo = &exact->pseudos[i];
		uint32_t *value;
		TRY(exact_value(exact, EXACT_PSEUDO_TYPE, 0, NULL, (const char *)pseudo->name.bytes,
				pseudo->name.size, &value));
		if (*value == HD_NONE)
			TRY(exact_add_type(exact, &pseudo->name, NULL, value));
		pseudo->type = *value;
	}
	return sort_links(exact);
}
