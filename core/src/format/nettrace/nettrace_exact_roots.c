/* SPDX-License-Identifier: MIT */
/* Roots, as dotnet-gcdump puts them into its tree. */
#include <inttypes.h>

#include "format/nettrace/nettrace_exact.h"

#define CCW_SIZE 44u
#define CCW_NODE 200
#define RCW_SIZE 40u

/* The node of the tree that a root belongs to. */
static enum hd_status root_group(struct exact_tree *tree, const struct nt_root *root, uint32_t *ret)
{
	if (root->kind == NT_ROOT_STACK)
		return exact_kid_named(tree, 0, "[local vars]", ret);
	uint32_t others;
	TRY(exact_kid_named(tree, 0, "[other roots]", &others));
	const char *name = "[other Handles]";
	if (root->flags & NT_ROOT_REF_COUNTED) {
		name = "[COM/WinRT Objects]";
	} else if (root->kind == NT_ROOT_FINALIZER) {
		name = "[finalizer Handles]";
	} else if (root->kind == NT_ROOT_HANDLE) {
		name = root->flags == NT_ROOT_PINNING ? "[pinning Handles]" : "[strong Handles]";
	}
	return exact_kid_named(tree, others, name, ret);
}

static enum hd_status add_exact_roots(struct exact_tree *tree, const struct nt_item *item,
				      uint32_t pointer_size)
{
	uint32_t group;
	TRY(exact_kid_named(tree, 0, "[static vars]", &group));
	size_t row_size = NT_ROOT_SIZE(pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct nt_root root = nt_root(rows.at + row_size * i, pointer_size);
		if (root.flags & NT_ROOT_WEAK)
			continue;
		TRY(root_group(tree, &root, &group));
		TRY(exact_add_child(tree, group, root.object));
	}
	return HD_OK;
}

static enum hd_status add_weak_tables(struct exact_tree *tree, const struct nt_item *item,
				      uint32_t pointer_size)
{
	uint32_t group;
	TRY(exact_kid_named(tree, 0, "[other roots]", &group));
	TRY(exact_kid_named(tree, group, "[Dependent Handles]", &group));
	size_t row_size = NT_WEAK_TABLE_SIZE(pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + row_size * i;
		uint64_t key = nt_load_pointer(at, pointer_size);
		if (key) {
			TRY(exact_add_child(tree, group,
					    nt_load_pointer(at + pointer_size, pointer_size)));
		}
	}
	return HD_OK;
}

static enum hd_status add_rcws(struct exact_types *types, const struct nt_item *item)
{
	struct nt_rows rows = nt_rows(item, 6, RCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)RCW_SIZE * i;
		TRY(exact_set_rcw(types, load_u64(at), load_u64(at + 16)));
	}
	return HD_OK;
}

static enum hd_status add_ccws(struct exact_dump *exact, const struct nt_item *item, uint32_t group)
{
	struct text *text = &exact->names.text;
	struct nt_rows rows = nt_rows(item, 6, CCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)CCW_SIZE * i;
		uint64_t object = load_u64(at + 8), id = load_u64(at + 16);
		uint64_t unknown = load_u64(at + 24);
		if (!unknown)
			continue;
		uint32_t node, type;
		TRY(exact_node(&exact->nodes, unknown, &node));
		TRY(exact_type_of(&exact->types, id, CCW_NODE, &type));
		text->size = 0;
		text_printf(text, "[CCW 0x%" PRIx64 " for type ", unknown);
		exact_append_copy(&exact->names, &exact->types.types[type].name);
		text_puts(text, "]");
		TRY(exact_type_named(&exact->types, NULL, &type));
		TRY(exact_append_child(&exact->objects, object));
		TRY(exact_add_record(&exact->objects, node, type, CCW_NODE, 1));
		TRY(exact_add_child(&exact->tree, group, unknown));
	}
	return HD_OK;
}

static enum hd_status add_exact_statics(struct exact_tree *tree, struct exact_types *types,
					const struct nt_item *item)
{
	struct exact_names *names = types->names;
	uint32_t count;
	struct nt_bytes at = nt_statics(item, &count);
	struct nt_static variable;
	for (uint32_t i = 0; i < count && nt_static_next(&at, &variable); i++) {
		bool of_thread = variable.flags & NT_STATIC_OF_THREAD;
		uint32_t group, type, own;
		TRY(exact_kid_named(tree, 0, of_thread ? "[thread static vars]" : "[static vars]",
				    &group));
		TRY(exact_known_type(types, variable.type, &type));
		exact_set_text(names, "[static var ");
		if (type == HD_NONE) {
			text_printf(&names->text, "Type(0x%" PRIx64 ")", variable.type);
		} else {
			exact_append_copy(names, &types->types[type].name);
		}
		text_puts(&names->text, ".");
		exact_append(names, &variable.field);
		text_puts(&names->text, "]");
		TRY(exact_kid(tree, group, &own));
		TRY(exact_add_child(tree, own, variable.object));
	}
	return HD_OK;
}

enum hd_status exact_early_roots(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	const struct nt_item *items = exact->trace->items;
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_ROOTS)
			TRY(add_exact_roots(&exact->tree, &items[i], exact->pointer_size));
		if (items[i].kind == NT_WEAK_TABLES)
			TRY(add_weak_tables(&exact->tree, &items[i], exact->pointer_size));
		if (items[i].kind == NT_RCWS)
			TRY(add_rcws(&exact->types, &items[i]));
	}
	return HD_OK;
}

enum hd_status exact_late_roots(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	const struct nt_item *items = exact->trace->items;
	uint32_t group;
	TRY(exact_kid_named(&exact->tree, 0, "[COM/WinRT Objects]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_CCWS)
			TRY(add_ccws(exact, &items[i], group));
	}
	TRY(exact_kid_named(&exact->tree, 0, "[static vars]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_STATICS)
			TRY(add_exact_statics(&exact->tree, &exact->types, &items[i]));
	}
	return HD_OK;
}
