/* SPDX-License-Identifier: MIT */
/* Types as dotnet-gcdump names and numbers them; texts in the .gcdump's own form. */
#include <inttypes.h>
#include <string.h>

#include "format/nettrace/nettrace_exact.h"
#include "util/alloc.h"
#include "util/arena.h"

enum {
	TABLE_TYPES,
	TABLE_MODULES,
	TABLE_RCWS
};

/* All names together: short events could repeat a long one without end. */
#define TEXT_SIZE_MAX ((uint64_t)2 << 30)

void nx_append(struct nx *nx, const struct nt_utf16 *utf16)
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
		text_append(&nx->text, buf, size);
	}
}

enum hd_status nx_copy_text(struct nx *nx, struct gcdump_text *ret)
{
	size_t size = nx->text.size;
	nx->text_size += size;
	if (nx->text_size > TEXT_SIZE_MAX)
		return fail(nx->err, HD_ERR_UNSUPPORTED, 0, "names of over 2 GiB");
	char *copy = nx->text.failed ? NULL : arena_alloc(nx->arena, size + 1);
	if (!copy)
		return fail_nomem(nx->err);
	if (size)
		memcpy(copy, nx->text.bytes, size);
	uint32_t units = 0;
	for (size_t i = 0; i < size; i++)
		units += ((unsigned char)copy[i] & 0xc0) != 0x80 ? 1 : 0;
	*ret = (struct gcdump_text){ .bytes = (const uint8_t *)copy,
				     .size = (uint32_t)size,
				     .units = units };
	return HD_OK;
}

enum hd_status nx_value(struct nx *nx, enum nx_name kind, uint32_t prefix,
			const struct gcdump_text *module, const char *bytes, size_t size,
			uint32_t **ret)
{
	struct text *key = &nx->key;
	char head[5] = { (char)kind };
	memcpy(head + 1, &prefix, sizeof(prefix));
	key->size = 0;
	text_append(key, head, sizeof(head));
	if (module && module->bytes) {
		text_append(key, (const char *)module->bytes, module->size);
		text_append(key, "!", 1);
	}
	text_append(key, bytes, size);
	if (key->failed)
		return fail_nomem(nx->err);
	uint32_t number;
	if (!PAGES_RESERVE(nx, values))
		return fail_nomem(nx->err);
	TRY(string_table_add(&nx->names, key->bytes, key->size, &number, nx->err));
	if (number == nx->values_count)
		nx->values[nx->values_count++] = HD_NONE;
	*ret = &nx->values[number];
	return HD_OK;
}

enum hd_status nx_add_type(struct nx *nx, const struct gcdump_text *name,
			   const struct gcdump_text *module, uint32_t *ret)
{
	if (!PAGES_RESERVE(nx, types))
		return fail_nomem(nx->err);
	*ret = (uint32_t)nx->types_count;
	nx->types[nx->types_count++] = (struct gcdump_type){
		.name = *name, .module = module ? *module : (struct gcdump_text){ 0 }, .size = -1
	};
	return HD_OK;
}

enum hd_status nx_type_named(struct nx *nx, const struct gcdump_text *module, uint32_t *ret)
{
	uint32_t *value;
	TRY(nx_value(nx, NX_TYPE, 0, module, nx->text.bytes, nx->text.size, &value));
	if (*value == HD_NONE) {
		struct gcdump_text name;
		TRY(nx_copy_text(nx, &name));
		TRY(nx_add_type(nx, &name, module, value));
	}
	*ret = *value;
	return HD_OK;
}

/* The slot of an id; @p is_new: it was made. */
static enum hd_status slot_of(struct nx *nx, uint32_t section, uint64_t id, bool *is_new,
			      struct nx_value **ret)
{
	if (!PAGES_RESERVE(nx, slots))
		return fail_nomem(nx->err);
	uint32_t fresh = (uint32_t)nx->slots_count;
	uint32_t index = type_table_add(&nx->table, section, id, fresh);
	if (index == UINT32_MAX)
		return fail_nomem(nx->err);
	*is_new = index == fresh;
	if (*is_new)
		nx->slots[nx->slots_count++] = (struct nx_value){ .type = HD_NONE };
	*ret = &nx->slots[index];
	return HD_OK;
}

static void set_text(struct nx *nx, const char *string)
{
	nx->text.size = 0;
	text_puts(&nx->text, string);
}

static enum hd_status add_module(struct nx *nx, const struct nt_item *item)
{
	struct nt_module module;
	if (!nt_module_read(item, &module) || module.flags & NT_MODULE_NATIVE)
		return HD_OK;
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_MODULES, module.id, &is_new, &slot));
	if (!is_new)
		return HD_OK;
	set_text(nx, "");
	nx_append(nx, &module.path);
	return nx_copy_text(nx, &slot->module);
}

static enum hd_status module_of(struct nx *nx, uint64_t id, struct gcdump_text *ret)
{
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_MODULES, id, &is_new, &slot));
	if (is_new) {
		nx->text.size = 0;
		text_printf(&nx->text, "Module(0x%" PRIx64 ")", id);
		TRY(nx_copy_text(nx, &slot->module));
	}
	*ret = slot->module;
	return HD_OK;
}

/* "`2[A,B]" becomes "<A,B>", and "<>" in the end "[]"; that of closures as well. */
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

static enum hd_status add_type(struct nx *nx, const struct nt_type *type)
{
	struct gcdump_text module;
	TRY(module_of(nx, type->module, &module));
	set_text(nx, type->flags & NT_TYPE_RCW ? "[RCW " : "");
	if (type->name.units) {
		/* The brackets of "[RCW ...]" come later. */
		nx->text.size = 0;
		nx_append(nx, &type->name);
		simplify(&nx->text);
		if (type->flags & NT_TYPE_RCW) {
			struct gcdump_text name;
			TRY(nx_copy_text(nx, &name));
			set_text(nx, "[RCW ");
			text_append(&nx->text, (const char *)name.bytes, name.size);
		}
	} else {
		text_printf(&nx->text,
			    type->flags & NT_TYPE_ARRAY ? "ArrayType(0x%x)" : "Type(0x%x)",
			    type->token);
	}
	if (type->flags & NT_TYPE_RCW)
		text_puts(&nx->text, "]");
	uint32_t index;
	TRY(nx_type_named(nx, &module, &index));
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_TYPES, type->id, &is_new, &slot));
	slot->type = index;
	return HD_OK;
}

enum hd_status nx_types(struct nx *nx)
{
	const struct nt_snapshot *snapshot = nx->snapshot;
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		if (nx->trace->items[i].kind == NT_MODULE ||
		    nx->trace->items[i].kind == NT_MODULE_RUNDOWN)
			TRY(add_module(nx, &nx->trace->items[i]));
	}
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		if (nx->trace->items[i].kind != NT_TYPES)
			continue;
		uint32_t count;
		struct nt_bytes at = nt_types_begin(&nx->trace->items[i], &count);
		struct nt_type type;
		for (uint32_t k = 0; k < count && nt_type_next(&at, &type); k++)
			TRY(add_type(nx, &type));
	}
	return HD_OK;
}

enum hd_status nx_known_type(struct nx *nx, uint64_t id, uint32_t *ret)
{
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_TYPES, id, &is_new, &slot));
	*ret = slot->type;
	return HD_OK;
}

/* What large objects have behind the name of their type. */
static const char *size_suffix(int32_t size)
{
	return size < 10000       ? " (Bytes > 1K)"
	       : size < 100000    ? " (Bytes > 10K)"
	       : size < 1000000   ? " (Bytes > 100K)"
	       : size < 10000000  ? " (Bytes > 1M)"
	       : size < 100000000 ? " (Bytes > 10M)"
				  : " (Bytes > 100M)";
}

enum hd_status nx_type_of(struct nx *nx, uint64_t id, int32_t size, uint32_t *ret)
{
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_TYPES, id, &is_new, &slot));
	if (slot->type == HD_NONE) {
		nx->text.size = 0;
		text_printf(&nx->text, "UNKNOWN 0x%" PRIx64, id);
		TRY(nx_type_named(nx, NULL, &slot->type));
	}
	*ret = slot->type;
	if (size <= 1000)
		return HD_OK;
	const struct gcdump_type type = nx->types[slot->type];
	nx->text.size = 0;
	text_append(&nx->text, (const char *)type.name.bytes, type.name.size);
	text_puts(&nx->text, size_suffix(size));
	uint32_t *value;
	TRY(nx_value(nx, NX_LARGE, 0, NULL, nx->text.bytes, nx->text.size, &value));
	*ret = *value;
	if (*value != HD_NONE)
		return HD_OK;
	size_t number = (size_t)(value - nx->values);
	TRY(nx_type_named(nx, &type.module, ret));
	nx->values[number] = *ret;
	return HD_OK;
}

enum hd_status nx_set_rcw(struct nx *nx, uint64_t object, uint64_t unknown)
{
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_RCWS, object, &is_new, &slot));
	slot->address = unknown;
	slot->type = 0; /* not HD_NONE: there is one */
	nx->has_rcws = true;
	return HD_OK;
}

enum hd_status nx_rcw(struct nx *nx, uint64_t object, bool *ret_is_rcw, uint64_t *ret_unknown)
{
	*ret_is_rcw = false;
	if (!nx->has_rcws)
		return HD_OK;
	bool is_new;
	struct nx_value *slot;
	TRY(slot_of(nx, TABLE_RCWS, object, &is_new, &slot));
	*ret_is_rcw = slot->type != HD_NONE;
	*ret_unknown = slot->address;
	return HD_OK;
}
