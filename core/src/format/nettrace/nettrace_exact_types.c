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

void exact_append(struct exact_dump *exact, const struct nt_utf16 *utf16)
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
		text_append(&exact->text, buf, size);
	}
}

enum hd_status exact_copy_text(struct exact_dump *exact, struct gcdump_text *ret)
{
	size_t size = exact->text.size;
	exact->text_size += size;
	if (exact->text_size > TEXT_SIZE_MAX)
		return fail(exact->err, HD_ERR_UNSUPPORTED, 0, "names of over 2 GiB");
	char *copy = exact->text.failed ? NULL : arena_alloc(exact->arena, size + 1);
	if (!copy)
		return fail_nomem(exact->err);
	if (size)
		memcpy(copy, exact->text.bytes, size);
	uint32_t units = 0;
	for (size_t i = 0; i < size; i++)
		units += ((unsigned char)copy[i] & 0xc0) != 0x80 ? 1 : 0;
	*ret = (struct gcdump_text){ .bytes = (const uint8_t *)copy,
				     .size = (uint32_t)size,
				     .units = units };
	return HD_OK;
}

enum hd_status exact_value(struct exact_dump *exact, enum exact_name kind, uint32_t prefix,
			   const struct gcdump_text *module, const char *bytes, size_t size,
			   uint32_t **ret)
{
	struct text *key = &exact->key;
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
		return fail_nomem(exact->err);
	uint32_t number;
	if (!PAGES_RESERVE(exact, values))
		return fail_nomem(exact->err);
	TRY(string_table_add(&exact->names, key->bytes, key->size, &number, exact->err));
	if (number == exact->values_count)
		exact->values[exact->values_count++] = HD_NONE;
	*ret = &exact->values[number];
	return HD_OK;
}

enum hd_status exact_add_type(struct exact_dump *exact, const struct gcdump_text *name,
			      const struct gcdump_text *module, uint32_t *ret)
{
	if (!PAGES_RESERVE(exact, types))
		return fail_nomem(exact->err);
	*ret = (uint32_t)exact->types_count;
	exact->types[exact->types_count++] = (struct gcdump_type){
		.name = *name, .module = module ? *module : (struct gcdump_text){ 0 }, .size = -1
	};
	return HD_OK;
}

enum hd_status exact_type_named(struct exact_dump *exact, const struct gcdump_text *module,
				uint32_t *ret)
{
	uint32_t *value;
	TRY(exact_value(exact, EXACT_TYPE, 0, module, exact->text.bytes, exact->text.size, &value));
	if (*value == HD_NONE) {
		struct gcdump_text name;
		TRY(exact_copy_text(exact, &name));
		TRY(exact_add_type(exact, &name, module, value));
	}
	*ret = *value;
	return HD_OK;
}

/* The slot of an id; @p is_new: it was made. */
static enum hd_status exact_slot_of(struct exact_dump *exact, uint32_t section, uint64_t id,
				    bool *is_new, struct exact_value **ret)
{
	if (!PAGES_RESERVE(exact, slots))
		return fail_nomem(exact->err);
	uint32_t fresh = (uint32_t)exact->slots_count;
	uint32_t index = type_table_add(&exact->table, section, id, fresh);
	if (index == UINT32_MAX)
		return fail_nomem(exact->err);
	*is_new = index == fresh;
	if (*is_new)
		exact->slots[exact->slots_count++] = (struct exact_value){ .type = HD_NONE };
	*ret = &exact->slots[index];
	return HD_OK;
}

static void set_text(struct exact_dump *exact, const char *string)
{
	exact->text.size = 0;
	text_puts(&exact->text, string);
}

static enum hd_status take_sent_module(struct exact_dump *exact, const struct nt_item *item)
{
	struct nt_module module;
	if (!nt_module_read(item, &module) || module.flags & NT_MODULE_NATIVE)
		return HD_OK;
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_MODULES, module.id, &is_new, &slot));
	if (!is_new)
		return HD_OK;
	set_text(exact, "");
	exact_append(exact, &module.path);
	return exact_copy_text(exact, &slot->module);
}

static enum hd_status module_of(struct exact_dump *exact, uint64_t id, struct gcdump_text *ret)
{
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_MODULES, id, &is_new, &slot));
	if (is_new) {
		exact->text.size = 0;
		text_printf(&exact->text, "Module(0x%" PRIx64 ")", id);
		TRY(exact_copy_text(exact, &slot->module));
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

static enum hd_status take_sent_type(struct exact_dump *exact, const struct nt_type *type)
{
	struct gcdump_text module;
	TRY(module_of(exact, type->module, &module));
	set_text(exact, type->flags & NT_TYPE_RCW ? "[RCW " : "");
	if (type->name.units) {
		/* The brackets of "[RCW ...]" come later. */
		exact->text.size = 0;
		exact_append(exact, &type->name);
		simplify(&exact->text);
		if (type->flags & NT_TYPE_RCW) {
			struct gcdump_text name;
			TRY(exact_copy_text(exact, &name));
			set_text(exact, "[RCW ");
			text_append(&exact->text, (const char *)name.bytes, name.size);
		}
	} else {
		text_printf(&exact->text,
			    type->flags & NT_TYPE_ARRAY ? "ArrayType(0x%x)" : "Type(0x%x)",
			    type->token);
	}
	if (type->flags & NT_TYPE_RCW)
		text_puts(&exact->text, "]");
	uint32_t index;
	TRY(exact_type_named(exact, &module, &index));
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_TYPES, type->id, &is_new, &slot));
	slot->type = index;
	return HD_OK;
}

enum hd_status exact_types(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		if (exact->trace->items[i].kind == NT_MODULE ||
		    exact->trace->items[i].kind == NT_MODULE_RUNDOWN)
			TRY(take_sent_module(exact, &exact->trace->items[i]));
	}
	for (size_t i = snapshot->process_first; i < snapshot->process_end; i++) {
		if (exact->trace->items[i].kind != NT_TYPES)
			continue;
		uint32_t count;
		struct nt_bytes at = nt_types_begin(&exact->trace->items[i], &count);
		struct nt_type type;
		for (uint32_t k = 0; k < count && nt_type_next(&at, &type); k++)
			TRY(take_sent_type(exact, &type));
	}
	return HD_OK;
}

enum hd_status exact_known_type(struct exact_dump *exact, uint64_t id, uint32_t *ret)
{
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_TYPES, id, &is_new, &slot));
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

enum hd_status exact_type_of(struct exact_dump *exact, uint64_t id, int32_t size, uint32_t *ret)
{
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_TYPES, id, &is_new, &slot));
	if (slot->type == HD_NONE) {
		exact->text.size = 0;
		text_printf(&exact->text, "UNKNOWN 0x%" PRIx64, id);
		TRY(exact_type_named(exact, NULL, &slot->type));
	}
	*ret = slot->type;
	if (size <= 1000)
		return HD_OK;
	const struct gcdump_type type = exact->types[slot->type];
	exact->text.size = 0;
	text_append(&exact->text, (const char *)type.name.bytes, type.name.size);
	text_puts(&exact->text, size_suffix(size));
	uint32_t *value;
	TRY(exact_value(exact, EXACT_LARGE, 0, NULL, exact->text.bytes, exact->text.size, &value));
	*ret = *value;
	if (*value != HD_NONE)
		return HD_OK;
	size_t number = (size_t)(value - exact->values);
	TRY(exact_type_named(exact, &type.module, ret));
	exact->values[number] = *ret;
	return HD_OK;
}

enum hd_status exact_set_rcw(struct exact_dump *exact, uint64_t object, uint64_t unknown)
{
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_RCWS, object, &is_new, &slot));
	slot->address = unknown;
	slot->type = 0; /* not HD_NONE: there is one */
	exact->has_rcws = true;
	return HD_OK;
}

enum hd_status exact_rcw(struct exact_dump *exact, uint64_t object, bool *ret_is_rcw,
			 uint64_t *ret_unknown)
{
	*ret_is_rcw = false;
	if (!exact->has_rcws)
		return HD_OK;
	bool is_new;
	struct exact_value *slot;
	TRY(exact_slot_of(exact, TABLE_RCWS, object, &is_new, &slot));
	*ret_is_rcw = slot->type != HD_NONE;
	*ret_unknown = slot->address;
	return HD_OK;
}
