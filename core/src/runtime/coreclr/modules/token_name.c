/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/token_name.h"

#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/type_name.h"

#define TOKEN_STRING 0x70u

/* Columns (ECMA-335 II.22), and coded indexes (II.24.2.6). */
#define FIELD_NAME  1u
#define METHOD_NAME 3u
#define REF_PARENT  0u
#define REF_NAME    1u
#define SPEC_BLOB   0u
#define SPEC_METHOD 0u
#define PARENT_BITS 3u
#define MODULE_NAME 0u
#define METHOD_BITS 1u
#define CODED_DEF   0u
#define CODED_REF   1u
#define CODED_BITS  2u

/* Append a name; a very long one is cut, as many instructions can have the same. */
static void row_string(const struct metadata *metadata, enum md_table table, uint32_t rid,
		       unsigned int column, struct text *text)
{
	const char *name = metadata_string(metadata, metadata_column(metadata, table, rid, column));
	size_t size = strnlen(name, NAME_USUAL_SIZE);
	text_append(text, name, size);
	if (name[size])
		text_puts(text, "...");
}

/* TypeRef or TypeDef, by a signature that has only that class. */
static void class_name(struct runtime *runtime, const struct module *module, uint32_t coded,
		       struct text *text)
{
	const struct type_arguments none = { 0 };
	const uint8_t signature[] = { ELEMENT_CLASS, (uint8_t)(0xc0 | coded >> 24),
				      (uint8_t)(coded >> 16), (uint8_t)(coded >> 8),
				      (uint8_t)coded };
	signature_type_name(runtime, module, signature, sizeof(signature), none, text);
}

static void spec_name(struct runtime *runtime, const struct module *module, uint32_t rid,
		      struct text *text)
{
	const struct type_arguments none = { 0 };
	uint32_t size;
	const uint8_t *blob = metadata_blob(
		module->metadata, metadata_column(module->metadata, MD_TYPE_SPEC, rid, SPEC_BLOB),
		&size);
	if (blob && size)
		signature_type_name(runtime, module, blob, size, none, text);
}

static void member_name(struct runtime *runtime, const struct module *module, enum md_table table,
			uint32_t rid, struct text *text)
{
	uint32_t owner = metadata_owner(module->metadata, table, rid);
	if (owner) {
		class_name(runtime, module, owner << CODED_BITS | CODED_DEF, text);
		text_puts(text, ".");
	}
	row_string(module->metadata, table, rid, table == MD_FIELD ? FIELD_NAME : METHOD_NAME,
		   text);
}

static void reference_name(struct runtime *runtime, const struct module *module, uint32_t rid,
			   struct text *text)
{
	static const enum md_table parents[1u << PARENT_BITS] = { MD_TYPE_DEF, MD_TYPE_REF,
								  MD_MODULE_REF, MD_METHOD,
								  MD_TYPE_SPEC };
	uint32_t parent = metadata_column(module->metadata, MD_MEMBER_REF, rid, REF_PARENT);
	uint32_t row = parent >> PARENT_BITS;
	size_t before = text->size;
	switch (parents[parent & ((1u << PARENT_BITS) - 1)]) {
	case MD_TYPE_DEF:
		class_name(runtime, module, row << CODED_BITS | CODED_DEF, text);
		break;
	case MD_TYPE_REF:
		class_name(runtime, module, row << CODED_BITS | CODED_REF, text);
		break;
	case MD_TYPE_SPEC:
		spec_name(runtime, module, row, text);
		break;
	case MD_METHOD: /* a call with varargs: its own name is that of the method */
		member_name(runtime, module, MD_METHOD, row, text);
		return;
	case MD_MODULE_REF:
		row_string(module->metadata, MD_MODULE_REF, row, MODULE_NAME, text);
		break;
	default:
		break;
	}
	if (text->size > before)
		text_puts(text, ".");
	row_string(module->metadata, MD_MEMBER_REF, rid, REF_NAME, text);
}

static void instance_name(struct runtime *runtime, const struct module *module, uint32_t rid,
			  struct text *text)
{
	uint32_t coded = metadata_column(module->metadata, MD_METHOD_SPEC, rid, SPEC_METHOD);
	if (coded & 1) {
		reference_name(runtime, module, coded >> METHOD_BITS, text);
	} else {
		member_name(runtime, module, MD_METHOD, coded >> METHOD_BITS, text);
	}
}

/* A string in quotes, with escapes as in C#. */
static bool string_text(const struct metadata *metadata, uint32_t index, struct text *text)
{
	uint32_t size;
	const uint8_t *units = metadata_user_string(metadata, index, &size);
	if (!units)
		return false;
	uint32_t count = size < TOKEN_STRING_UNITS ? size : TOKEN_STRING_UNITS;
	text_puts(text, "\"");
	for (uint32_t i = 0; i < count; i++) {
		uint16_t unit = load_u16(units + 2 * (size_t)i);
		if (unit == '"' || unit == '\\') {
			text_printf(text, "\\%c", unit);
		} else if (unit >= 0x20 && unit < 0x7f) {
			text_printf(text, "%c", unit);
		} else {
			text_printf(text, "\\u%04x", unit);
		}
	}
	text_puts(text, count < size ? "\"..." : "\"");
	return true;
}

bool token_name(struct runtime *runtime, const struct module *module, uint32_t token,
		struct text *text)
{
	const struct metadata *metadata = module->metadata;
	uint32_t table = token >> 24, rid = token & 0xffffff;
	size_t before = text->size;
	if (!metadata || !rid)
		return false;
	if (table == TOKEN_STRING)
		return string_text(metadata, rid, text);
	if (table >= MD_TABLE_COUNT || rid > metadata->tables[table].rows)
		return false;
	switch (table) {
	case MD_TYPE_DEF:
		class_name(runtime, module, rid << CODED_BITS | CODED_DEF, text);
		break;
	case MD_TYPE_REF:
		class_name(runtime, module, rid << CODED_BITS | CODED_REF, text);
		break;
	case MD_TYPE_SPEC:
		spec_name(runtime, module, rid, text);
		break;
	case MD_FIELD:
	case MD_METHOD:
		member_name(runtime, module, (enum md_table)table, rid, text);
		break;
	case MD_MEMBER_REF:
		reference_name(runtime, module, rid, text);
		break;
	case MD_METHOD_SPEC:
		instance_name(runtime, module, rid, text);
		break;
	default:
		break;
	}
	return text->size > before;
}
