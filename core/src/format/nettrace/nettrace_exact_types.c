/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_exact_types.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "format/gcdump/gcdump_names.h"
#include "format/nettrace/nettrace_types.h"
#include "util/alloc.h"
#include "util/arena.h"

/* Texts in the .gcdump's own form, and tables of names. */

/* Limit for all names together: short events could repeat a long name without end. */
#define TEXT_SIZE_MAX ((uint64_t)2 << 30)

void exact_append(struct exact_names *names, const struct nt_utf16 *utf16)
{
	for (uint32_t i = 0; i < utf16->units; i++) {
		uint16_t unit = nt_unit(utf16, i);
		char buf[3];
		size_t size = 1;
		if (unit < 0x80) {
			buf[0] = (char)unit;
		} else if (unit < 0x800) {
			buf[0] = (char)(0xc0 | unit >> 6);
			buf[1] = (char)(0x80 | (unit & 0x3f));
			size = 2;
		} else {
			buf[0] = (char)(0xe0 | unit >> 12);
			buf[1] = (char)(0x80 | (unit >> 6 & 0x3f));
			buf[2] = (char)(0x80 | (unit & 0x3f));
			size = 3;
		}
		text_append(&names->text, buf, size);
	}
}

enum hd_status exact_copy_text(struct exact_names *names, struct gcdump_text *ret)
{
	size_t size = names->text.size;
	names->text_size += size;
	if (names->text_size > TEXT_SIZE_MAX)
		return fail(names->err, HD_ERR_UNSUPPORTED, 0, "names of over 2 GiB");
	char *copy = names->text.failed ? NULL : arena_alloc(names->arena, size + 1);
	TRY_MEMORY(copy, names->err);
	if (size)
		memcpy(copy, names->text.bytes, size);
	uint32_t units = 0;
	for (size_t i = 0; i < size; i++)
		units += !utf8_continues(copy[i]);
	*ret = (struct gcdump_text){ .bytes = (const uint8_t *)copy,
				     .size = (uint32_t)size,
				     .units = units };
	return HD_OK;
}

/*
 * Value of the name @p kind, @p prefix, @p module (may be NULL), names->text: **ret is HD_NONE if
 * the name is new, and the caller then sets it; valid until the next call.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
static enum hd_status exact_value(struct exact_names *names, enum exact_name kind, uint32_t prefix,
				  const struct gcdump_text *module, uint32_t **ret)
{
	struct text *key = &names->key;
	char head[5] = { (char)kind };
	memcpy(head + 1, &prefix, sizeof(prefix));
	key->size = 0;
	text_append(key, head, sizeof(head));
	if (module && module->bytes) {
		text_append(key, (const char *)module->bytes, module->size);
		text_append(key, "!", 1);
	}
	text_append(key, names->text.bytes, names->text.size);
	if (names->text.failed || key->failed)
		return fail_nomem(names->err);
	uint32_t number;
	TRY_MEMORY(PAGES_RESERVE(names, values), names->err);
	TRY(string_table_add(&names->numbers, key->bytes, key->size, &number, names->err));
	if (number == names->values_count)
		names->values[names->values_count++] = HD_NONE;
	*ret = &names->values[number];
	return HD_OK;
}

void exact_append_copy(struct exact_names *names, const struct gcdump_text *copy)
{
	text_append(&names->text, (const char *)copy->bytes, copy->size);
}

void exact_set_text(struct exact_names *names, const char *string)
{
	names->text.size = 0;
	text_puts(&names->text, string);
}

void exact_names_deinit(struct exact_names *names)
{
	string_table_deinit(&names->numbers);
	pages_free(names->values, names->values_capacity, sizeof(*names->values));
	arena_destroy(names->arena);
	text_deinit(&names->text);
	text_deinit(&names->key);
}

/* Nodes of addresses, numbered as they are first mentioned. */

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

/* Make a node without an address; fails as exact_node() does. */
static enum hd_status exact_new_node(struct exact_nodes *nodes, uint32_t *ret)
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

/* Types with the names and numbers that dotnet-gcdump gives them. */

enum {
	TABLE_TYPES,
	TABLE_MODULES,
	TABLE_RCWS
};

enum hd_status exact_add_type(struct exact_types *types, const struct gcdump_text *name,
			      const struct gcdump_text *module, uint32_t *ret)
{
	TRY_MEMORY(PAGES_RESERVE(types, types), types->err);
	*ret = (uint32_t)types->types_count;
	types->types[types->types_count++] = (struct gcdump_type){
		.name = *name, .module = module ? *module : (struct gcdump_text){ 0 }, .size = -1
	};
	return HD_OK;
}

enum hd_status exact_type_named(struct exact_types *types, const struct gcdump_text *module,
				uint32_t *ret)
{
	uint32_t *value;
	TRY(exact_value(types->names, EXACT_TYPE, 0, module, &value));
	if (*value == HD_NONE) {
		struct gcdump_text name;
		TRY(exact_copy_text(types->names, &name));
		TRY(exact_add_type(types, &name, module, value));
	}
	*ret = *value;
	return HD_OK;
}

/* The slot of an id; @p is_new: it was made. */
static enum hd_status exact_slot_of(struct exact_types *types, uint32_t section, uint64_t id,
				    bool *is_new, struct exact_slot **ret)
{
	TRY_MEMORY(PAGES_RESERVE(types, slots), types->err);
	uint32_t fresh = (uint32_t)types->slots_count;
	uint32_t index = type_table_add(&types->by_id, section, id, fresh);
	if (index == UINT32_MAX)
		return fail_nomem(types->err);
	*is_new = index == fresh;
	if (*is_new)
		types->slots[types->slots_count++] = (struct exact_slot){ .type = HD_NONE };
	*ret = &types->slots[index];
	return HD_OK;
}

static enum hd_status take_sent_module(struct exact_types *types, const struct nt_item *item)
{
	struct nt_module module;
	if (!nt_module_read(item, &module) || module.flags & NT_MODULE_NATIVE)
		return HD_OK;
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_MODULES, module.id, &is_new, &slot));
	if (!is_new)
		return HD_OK;
	exact_set_text(types->names, "");
	exact_append(types->names, &module.path);
	return exact_copy_text(types->names, &slot->module);
}

static enum hd_status module_of(struct exact_types *types, uint64_t id, struct gcdump_text *ret)
{
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_MODULES, id, &is_new, &slot));
	if (is_new) {
		types->names->text.size = 0;
		text_printf(&types->names->text, "Module(0x%" PRIx64 ")", id);
		TRY(exact_copy_text(types->names, &slot->module));
	}
	*ret = slot->module;
	return HD_OK;
}

/* "`2[A,B]" becomes "<A,B>", and "<>" at last becomes "[]", even that of closures. */
static void simplify(struct text *text)
{
	if (!text->bytes)
		return;
	size_t to = 0;
	for (size_t i = 0; i < text->size; i++) {
		char c = text->bytes[i];
		size_t digits = i + 1;
		while (c == '`' && digits < text->size && text->bytes[digits] >= '0' &&
		       text->bytes[digits] <= '9')
			digits++;
		if (digits > i + 1) {
			i = digits - 1;
			continue;
		}
		text->bytes[to++] = (char)(c == '[' ? '<' : c == ']' ? '>' : c);
	}
	text->size = to;
	for (size_t i = 0; i + 1 < to; i++) {
		if (text->bytes[i] == '<' && text->bytes[i + 1] == '>') {
			text->bytes[i++] = '[';
			text->bytes[i] = ']';
		}
	}
}

static enum hd_status take_sent_type(struct exact_types *types, const struct nt_type *type)
{
	struct gcdump_text module;
	TRY(module_of(types, type->module, &module));
	exact_set_text(types->names, type->flags & NT_TYPE_RCW ? "[RCW " : "");
	if (type->name.units) {
		/* The brackets of "[RCW ...]" come later. */
		types->names->text.size = 0;
		exact_append(types->names, &type->name);
		simplify(&types->names->text);
		if (type->flags & NT_TYPE_RCW) {
			struct gcdump_text name;
			TRY(exact_copy_text(types->names, &name));
			exact_set_text(types->names, "[RCW ");
			exact_append_copy(types->names, &name);
		}
	} else {
		text_printf(&types->names->text,
			    type->flags & NT_TYPE_ARRAY ? "ArrayType(0x%x)" : "Type(0x%x)",
			    type->token);
	}
	if (type->flags & NT_TYPE_RCW)
		text_puts(&types->names->text, "]");
	uint32_t index;
	TRY(exact_type_named(types, &module, &index));
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_TYPES, type->id, &is_new, &slot));
	slot->type = index;
	return HD_OK;
}

enum hd_status exact_types_collect(struct exact_types *types, const struct nt_trace *trace,
				   const struct nt_snapshot *snapshot)
{
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		if (trace->items[i].kind == NT_MODULE || trace->items[i].kind == NT_MODULE_RUNDOWN)
			TRY(take_sent_module(types, &trace->items[i]));
	}
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		if (trace->items[i].kind != NT_TYPES)
			continue;
		uint32_t count;
		struct nt_bytes at = nt_types_begin(&trace->items[i], &count);
		struct nt_type type;
		for (uint32_t k = 0; k < count && nt_type_next(&at, &type); k++)
			TRY(take_sent_type(types, &type));
	}
	return HD_OK;
}

enum hd_status exact_known_type(struct exact_types *types, uint64_t id, uint32_t *ret)
{
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_TYPES, id, &is_new, &slot));
	*ret = slot->type;
	return HD_OK;
}

enum hd_status exact_type_of(struct exact_types *types, uint64_t id, int32_t size, uint32_t *ret)
{
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_TYPES, id, &is_new, &slot));
	if (slot->type == HD_NONE) {
		types->names->text.size = 0;
		text_printf(&types->names->text, "UNKNOWN 0x%" PRIx64, id);
		TRY(exact_type_named(types, NULL, &slot->type));
	}
	*ret = slot->type;
	unsigned int size_class = size > 0 ? gcdump_size_class((uint64_t)size) : 0;
	if (!size_class)
		return HD_OK;
	const struct gcdump_type type = types->types[slot->type];
	types->names->text.size = 0;
	exact_append_copy(types->names, &type.name);
	text_puts(&types->names->text, gcdump_class_suffix(size_class));
	uint32_t *value;
	TRY(exact_value(types->names, EXACT_LARGE, 0, NULL, &value));
	*ret = *value;
	if (*value != HD_NONE)
		return HD_OK;
	size_t number = (size_t)(value - types->names->values);
	TRY(exact_type_named(types, &type.module, ret));
	types->names->values[number] = *ret;
	return HD_OK;
}

enum hd_status exact_set_rcw(struct exact_types *types, uint64_t object, uint64_t unknown)
{
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_RCWS, object, &is_new, &slot));
	slot->address = unknown;
	slot->type = 0; /* not HD_NONE: there is one */
	types->has_rcws = true;
	return HD_OK;
}

enum hd_status exact_rcw(struct exact_types *types, uint64_t object, bool *ret_is_rcw,
			 uint64_t *ret_unknown)
{
	*ret_is_rcw = false;
	if (!types->has_rcws)
		return HD_OK;
	bool is_new;
	struct exact_slot *slot;
	TRY(exact_slot_of(types, TABLE_RCWS, object, &is_new, &slot));
	*ret_is_rcw = slot->type != HD_NONE;
	*ret_unknown = slot->address;
	return HD_OK;
}

void exact_types_deinit(struct exact_types *types)
{
	pages_free(types->types, types->types_capacity, sizeof(*types->types));
	type_table_deinit(&types->by_id);
	pages_free(types->slots, types->slots_capacity, sizeof(*types->slots));
}

/* The tree of nodes that are not objects: roots by their kinds. */

static enum hd_status add_link(struct exact_tree *tree, uint32_t pseudo, uint32_t node)
{
	TRY_MEMORY(PAGES_RESERVE(tree, links), tree->err);
	tree->links[tree->links_count++] = (struct exact_link){ .pseudo = pseudo, .node = node };
	return HD_OK;
}

/* Make a pseudo-node with the name in names->text. */
static enum hd_status make_exact_pseudo(struct exact_tree *tree, uint32_t parent, uint32_t *ret)
{
	struct exact_pseudo pseudo = {
		.parent = parent, .first_kid = HD_NONE, .last_kid = HD_NONE, .sibling = HD_NONE
	};
	TRY(exact_copy_text(tree->names, &pseudo.name));
	TRY(exact_new_node(tree->nodes, &pseudo.node));
	TRY_MEMORY(PAGES_RESERVE(tree, pseudos), tree->err);
	*ret = (uint32_t)tree->pseudos_count++;
	tree->pseudos[*ret] = pseudo;
	if (parent == HD_NONE)
		return HD_OK;
	struct exact_pseudo *above = &tree->pseudos[parent];
	if (above->last_kid == HD_NONE) {
		above->first_kid = *ret;
	} else {
		tree->pseudos[above->last_kid].sibling = *ret;
	}
	above->last_kid = *ret;
	return add_link(tree, parent, pseudo.node);
}

enum hd_status exact_root(struct exact_tree *tree)
{
	uint32_t root;
	exact_set_text(tree->names, "[.NET Roots]");
	return make_exact_pseudo(tree, HD_NONE, &root);
}

enum hd_status exact_kid(struct exact_tree *tree, uint32_t parent, uint32_t *ret)
{
	uint32_t *value;
	TRY(exact_value(tree->names, EXACT_KID, parent, NULL, &value));
	if (*value == HD_NONE)
		TRY(make_exact_pseudo(tree, parent, value));
	*ret = *value;
	return HD_OK;
}

enum hd_status exact_kid_named(struct exact_tree *tree, uint32_t parent, const char *name,
			       uint32_t *ret)
{
	exact_set_text(tree->names, name);
	return exact_kid(tree, parent, ret);
}

enum hd_status exact_add_child(struct exact_tree *tree, uint32_t pseudo, uint64_t address)
{
	uint32_t node;
	TRY(exact_node(tree->nodes, address, &node));
	return add_link(tree, pseudo, node);
}

uint32_t exact_after(const struct exact_tree *tree, uint32_t pseudo)
{
	if (tree->pseudos[pseudo].first_kid != HD_NONE)
		return tree->pseudos[pseudo].first_kid;
	while (pseudo != HD_NONE && tree->pseudos[pseudo].sibling == HD_NONE)
		pseudo = tree->pseudos[pseudo].parent;
	return pseudo == HD_NONE ? HD_NONE : tree->pseudos[pseudo].sibling;
}

/* Put the children of each pseudo-node together, in their order. */
static enum hd_status sort_links(struct exact_tree *tree)
{
	tree->pseudo_children = pages_alloc(tree->links_count, sizeof(*tree->pseudo_children));
	TRY_MEMORY(tree->pseudo_children, tree->err);
	for (size_t i = 0; i < tree->links_count; i++)
		tree->pseudos[tree->links[i].pseudo].child_count++;
	uint64_t at = 0;
	for (size_t i = 0; i < tree->pseudos_count; i++) {
		tree->pseudos[i].first_child = at;
		at += tree->pseudos[i].child_count;
		tree->pseudos[i].child_count = 0;
	}
	for (size_t i = 0; i < tree->links_count; i++) {
		struct exact_pseudo *pseudo = &tree->pseudos[tree->links[i].pseudo];
		tree->pseudo_children[pseudo->first_child + pseudo->child_count++] =
			tree->links[i].node;
	}
	return HD_OK;
}

enum hd_status exact_finish_pseudos(struct exact_tree *tree, struct exact_types *types)
{
	for (uint32_t i = 0; i != HD_NONE; i = exact_after(tree, i)) {
		struct exact_pseudo *pseudo = &tree->pseudos[i];
		uint32_t *value;
		tree->names->text.size = 0;
		exact_append_copy(tree->names, &pseudo->name);
		TRY(exact_value(tree->names, EXACT_PSEUDO_TYPE, 0, NULL, &value));
		if (*value == HD_NONE)
			TRY(exact_add_type(types, &pseudo->name, NULL, value));
		pseudo->type = *value;
	}
	return sort_links(tree);
}

void exact_tree_deinit(struct exact_tree *tree)
{
	pages_free(tree->pseudos, tree->pseudos_capacity, sizeof(*tree->pseudos));
	pages_free(tree->links, tree->links_capacity, sizeof(*tree->links));
	pages_free(tree->pseudo_children, tree->links_count, sizeof(*tree->pseudo_children));
}
