/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "metadata/attribute.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/field.h"
#include "util/text.h"

/* Field.Flags (II.23.1.5) of an enum's constants, and of its value. */
#define FIELD_ATTRIBUTE_STATIC  0x0010u
#define FIELD_ATTRIBUTE_LITERAL 0x0040u

#define CONSTANTS_MAX  8192u /* limit for one enum */
#define FLAG_NAMES_MAX 64u

/* Constants of one enum. */
struct constants {
	const struct metadata *metadata;
	uint32_t begin, end; /* positions of its fields in the list */
};

/* Row of Constant of Field @p rid (HasConstant: tag 0), or 0. */
static uint32_t constant_row(const struct metadata *metadata, uint32_t rid)
{
	uint32_t key = rid << 2, rows = metadata->tables[MD_CONSTANT].rows;
	uint32_t row = metadata_search(metadata, MD_CONSTANT, 1, key);
	if (row <= rows && metadata_column(metadata, MD_CONSTANT, row, 1) == key)
		return row;
	if (!metadata->has_pointer_tables) /* the table is sorted by parent */
		return 0;
	for (row = 1; row <= rows; row++) {
		if (metadata_column(metadata, MD_CONSTANT, row, 1) == key)
			return row;
	}
	return 0;
}

/* The value of the constant at a position in the list, without sign, and its name. */
static bool read_constant(const struct constants *constants, uint32_t position, uint64_t *ret,
			  const char **ret_name)
{
	const struct metadata *metadata = constants->metadata;
	uint32_t rid = metadata_member(metadata, MD_FIELD, position), size;
	uint32_t flags = metadata_column(metadata, MD_FIELD, rid, 0);
	if (!(flags & FIELD_ATTRIBUTE_STATIC) || !(flags & FIELD_ATTRIBUTE_LITERAL))
		return false;
	uint32_t row = constant_row(metadata, rid);
	const uint8_t *blob =
		metadata_blob(metadata, metadata_column(metadata, MD_CONSTANT, row, 2), &size);
	if (!row || !blob || !size || size > 8)
		return false;
	uint64_t value = 0;
	memcpy(&value, blob, size);
	*ret = value;
	*ret_name = metadata_string(metadata, metadata_column(metadata, MD_FIELD, rid, 1));
	return **ret_name;
}

/* Size of the enum's values in bytes, which is that of its first constant. */
static unsigned int value_size(const struct constants *constants)
{
	for (uint32_t i = constants->begin; i < constants->end; i++) {
		uint32_t rid = metadata_member(constants->metadata, MD_FIELD, i), size;
		uint32_t row = constant_row(constants->metadata, rid);
		if (row &&
		    metadata_blob(constants->metadata,
				  metadata_column(constants->metadata, MD_CONSTANT, row, 2),
				  &size) &&
		    size && size <= 8)
			return size;
	}
	return 8;
}

static bool has_flags_attribute(const struct metadata *metadata, uint32_t rid)
{
	uint32_t size;
	return metadata_type_attribute(metadata, rid, "System.FlagsAttribute", &size);
}

/* "A | B", ascending by value, of constants that make up @p value, as Enum.ToString() does. */
static bool append_flags(const struct constants *constants, uint64_t value, struct text *text)
{
	const char *names[FLAG_NAMES_MAX];
	unsigned int count = 0;
	uint64_t left = value;
	while (left) {
		/* The largest constant that fits into what is left. */
		uint64_t best = 0, constant;
		const char *best_name = NULL, *name;
		for (uint32_t i = constants->begin; i < constants->end; i++) {
			if (read_constant(constants, i, &constant, &name) &&
			    (constant & left) == constant && constant > best) {
				best = constant;
				best_name = name;
			}
		}
		if (!best_name || count == FLAG_NAMES_MAX)
			return false;
		names[count++] = best_name;
		left &= ~best;
	}
	while (count > 0) {
		text_puts(text, names[--count]);
		if (count)
			text_puts(text, " | ");
	}
	return text->size > 0;
}

static bool append_constant_name(const struct constants *constants, uint32_t type_rid,
				 uint64_t value, struct text *text)
{
	uint64_t constant;
	const char *name;
	for (uint32_t i = constants->begin; i < constants->end; i++) {
		if (read_constant(constants, i, &constant, &name) && constant == value) {
			text_puts(text, name);
			return true;
		}
	}
	return value && has_flags_attribute(constants->metadata, type_rid) &&
	       append_flags(constants, value, text);
}

/* The constants of an enum; *@p ret_rid is its TypeDef.  false: its metadata is missing, or it has too many. */
static bool find_constants(struct runtime *runtime, const struct type *type, struct constants *ret,
			   uint32_t *ret_rid)
{
	const struct module *module =
		type->token ? module_find(runtime, type_home_module(runtime, type)) : NULL;
	if (!module || !module->metadata)
		return false;
	*ret = (struct constants){ .metadata = module->metadata };
	*ret_rid = type->token & 0xffffff;
	ret->begin = metadata_members(module->metadata, MD_FIELD, *ret_rid, &ret->end);
	return ret->end - ret->begin <= CONSTANTS_MAX;
}

void enum_constants(struct runtime *runtime, const struct type *type,
		    void (*visit)(void *arg, const char *name, uint64_t value), void *arg)
{
	struct constants constants;
	uint32_t rid;
	uint64_t value;
	const char *name;
	if (!find_constants(runtime, type, &constants, &rid))
		return;
	for (uint32_t i = constants.begin; i < constants.end; i++) {
		if (read_constant(&constants, i, &value, &name))
			visit(arg, name, value);
	}
}

bool enum_name(struct runtime *runtime, const struct type *type, uint64_t value, char *buf,
	       size_t size)
{
	struct constants constants;
	uint32_t rid;
	if (!size || !find_constants(runtime, type, &constants, &rid))
		return false;
	unsigned int width = value_size(&constants);
	if (width < 8)
		value &= ((uint64_t)1 << 8 * width) - 1;
	HD_CLEANUP(text) struct text text = { 0 };
	bool found =
		append_constant_name(&constants, rid, value, &text) && text.bytes && !text.failed;
	if (found) {
		size_t length = text.size < size ? text.size : size - 1;
		memcpy(buf, text.bytes, length);
		buf[length] = '\0';
	}
	return found;
}
