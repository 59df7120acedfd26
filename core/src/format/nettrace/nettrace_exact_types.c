/* SPDX-License-Identifier: MIT */
/* Types with the names and numbers that dotnet-gcdump gives them. */
#include "format/nettrace/nettrace_exact_types.h"

#include <inttypes.h>

#include "format/nettrace/nettrace_types.h"
#include "util/alloc.h"

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

/* The suffix that large objects get after the name of their type. */
static const char *size_suffix(int32_t size)
{
	return size < 10000       ? " (Bytes > 1K)"
	       : size < 100000    ? " (Bytes > 10K)"
	       : size < 1000000   ? " (Bytes > 100K)"
	       : size < 10000000  ? " (Bytes > 1M)"
	       : size < 100000000 ? " (Bytes > 10M)"
				  : " (Bytes > 100M)";
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
	if (size <= 1000)
		return HD_OK;
	const struct gcdump_type type = types->types[slot->type];
	types->names->text.size = 0;
	exact_append_copy(types->names, &type.name);
	text_puts(&types->names->text, size_suffix(size));
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
