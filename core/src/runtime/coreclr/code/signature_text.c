/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/code/signature_text.h"

#include <inttypes.h>

#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/token_name.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/coreclr/types/type_name.h"

#define HANDLE_SIZE 8

/* Bits of a TypeDefOrRef with its table (II.24.2.6, II.23.2.8). */
#define CODED_TABLE 3u
#define CODED_BITS  2u

/* The purpose of the types that are inside of another type. */
enum level_kind {
	LEVEL_TYPE,      /* the type itself */
	LEVEL_ARRAY,     /* elements of an array: its shape follows */
	LEVEL_ARGUMENTS, /* arguments of a generic type */
	LEVEL_FUNCTION   /* what a function returns, then its parameters */
};

struct type_level {
	enum level_kind kind;
	uint32_t done, left; /* types */
};

/* Types nest: each level has some left to write, then what ends it. */
struct type_writer {
	struct runtime *runtime;
	const struct module *module;
	struct signature *signature;
	struct text *text;
	struct type_level levels[NAME_DEPTH_MAX];
	size_t depth;
};

/* May a signature begin with this byte?  Its flags must be those that its kind can have. */
static bool is_first_byte(uint8_t first)
{
	uint8_t kind = first & SIGNATURE_KIND, flags = first & (uint8_t)~SIGNATURE_KIND;
	if (kind == SIGNATURE_FIELD || kind == SIGNATURE_LOCALS || kind == SIGNATURE_INSTANCE)
		return !flags;
	if (kind == SIGNATURE_PROPERTY)
		return !(flags & (uint8_t)~CALL_HAS_THIS);
	return kind < SIGNATURE_INSTANCE &&
	       !(flags & (uint8_t) ~(CALL_GENERIC | CALL_HAS_THIS | CALL_EXPLICIT_THIS)) &&
	       (!(flags & CALL_EXPLICIT_THIS) || flags & CALL_HAS_THIS);
}

bool signature_head_read(struct signature *signature, struct signature_head *ret)
{
	struct signature_head head = { .types = 1 };
	if (!signature_next_byte(signature, &head.first) || !is_first_byte(head.first))
		return false;
	uint8_t kind = head.first & SIGNATURE_KIND;
	head.has_return =
		kind != SIGNATURE_FIELD && kind != SIGNATURE_LOCALS && kind != SIGNATURE_INSTANCE;
	if ((head.first & CALL_GENERIC &&
	     (!signature_next_number(signature, &head.generics) || !head.generics)) ||
	    (kind != SIGNATURE_FIELD && !signature_next_number(signature, &head.types)))
		return false;
	if (head.has_return)
		head.types++;
	*ret = head;
	return true;
}

void signature_head_text(const struct signature_head *head, struct text *text)
{
	static const char *const kinds[] = { "DEFAULT",  "C",         "STDCALL",    "THISCALL",
					     "FASTCALL", "VARARG",    "FIELD",      "LOCALSIG",
					     "PROPERTY", "UNMANAGED", "GENERICINST" };
	text_printf(text, "[%s] ", kinds[head->first & SIGNATURE_KIND]);
	if (head->first & CALL_HAS_THIS)
		text_puts(text, "[hasThis] ");
	if (head->first & CALL_EXPLICIT_THIS)
		text_puts(text, "[explicit] ");
	if (head->first & CALL_GENERIC)
		text_printf(text, "[generic %" PRIu32 "] ", head->generics);
}

static bool begin_level(struct type_writer *writer, enum level_kind kind, uint32_t types)
{
	if (writer->depth == NAME_DEPTH_MAX)
		return false;
	writer->levels[writer->depth++] = (struct type_level){ kind, 0, types };
	return true;
}

/* " 2 1 5 1 0": the rank, how many sizes and the sizes, how many lower bounds and these (II.23.2.13). */
static bool write_shape(struct type_writer *writer)
{
	uint32_t number, count;
	if (!signature_next_number(writer->signature, &number))
		return false;
	text_printf(writer->text, " %" PRIu32, number);
	for (unsigned int list = 0; list < 2; list++) {
		if (!signature_next_number(writer->signature, &count))
			return false;
		text_printf(writer->text, " %" PRIu32, count);
		for (; count; count--) {
			int32_t bound;
			if (list ? !signature_next_signed(writer->signature, &bound)
				 : !signature_next_number(writer->signature, &number))
				return false;
			text_printf(writer->text, " %" PRId64, list ? bound : (int64_t)number);
		}
	}
	return true;
}

static bool end_level(struct type_writer *writer)
{
	const struct type_level *level = &writer->levels[--writer->depth];
	switch (level->kind) {
	case LEVEL_ARRAY:
		return write_shape(writer);
	case LEVEL_ARGUMENTS:
		text_puts(writer->text, ">");
		return true;
	case LEVEL_FUNCTION:
		text_puts(writer->text, level->done == 1 ? " ()" : ")");
		return true;
	case LEVEL_TYPE:
		break;
	}
	return true;
}

/* Write the text that comes before the next type of a level. */
static void separate_types(struct type_writer *writer, struct type_level *level)
{
	if (level->kind == LEVEL_FUNCTION && level->done == 1) {
		text_puts(writer->text, " (");
	} else if (level->done) {
		text_puts(writer->text, ",");
	}
	level->done++;
	level->left--;
}

static bool write_token(struct type_writer *writer)
{
	static const uint32_t tables[] = { MD_TYPE_DEF, MD_TYPE_REF, MD_TYPE_SPEC };
	uint32_t coded;
	if (!signature_next_number(writer->signature, &coded) ||
	    (coded & CODED_TABLE) >= sizeof(tables) / sizeof(tables[0]))
		return false;
	uint32_t token = tables[coded & CODED_TABLE] << 24 | coded >> CODED_BITS;
	if (!token_name(writer->runtime, writer->module, token, writer->text))
		text_printf(writer->text, "0x%08" PRIx32, token);
	return true;
}

/* "MT 7f0f79538e28 System.String": a TypeHandle of the runtime. */
static bool write_handle(struct type_writer *writer)
{
	struct signature *signature = writer->signature;
	if (signature->end - signature->at < HANDLE_SIZE)
		return false;
	uint64_t handle = load_u64(signature->at);
	signature->at += HANDLE_SIZE;
	text_printf(writer->text, "MT %" PRIx64 " ", handle);
	type_handle_name(writer->runtime, handle, writer->text);
	return true;
}

/* CLASS, VALUETYPE or INTERNAL: a type by its token or TypeHandle. */
static bool write_named(struct type_writer *writer, uint8_t element)
{
	switch (element) {
	case ELEMENT_CLASS:
		text_puts(writer->text, "Class ");
		return write_token(writer);
	case ELEMENT_VALUE:
		text_puts(writer->text, "ValueClass ");
		return write_token(writer);
	case ELEMENT_INTERNAL:
		text_puts(writer->text, "INTERNAL ");
		return write_handle(writer);
	default:
		return false;
	}
}

static bool write_generic(struct type_writer *writer)
{
	uint8_t element;
	uint32_t count;
	if (!signature_next_byte(writer->signature, &element) || !write_named(writer, element) ||
	    !signature_next_number(writer->signature, &count))
		return false;
	text_puts(writer->text, "<");
	return begin_level(writer, LEVEL_ARGUMENTS, count);
}

static bool write_function(struct type_writer *writer)
{
	struct signature_head head;
	text_puts(writer->text, "FNPTR ");
	if (!signature_head_read(writer->signature, &head) || !head.has_return ||
	    (head.first & SIGNATURE_KIND) == SIGNATURE_PROPERTY)
		return false;
	signature_head_text(&head, writer->text);
	return begin_level(writer, LEVEL_FUNCTION, head.types);
}

static bool write_variable(struct type_writer *writer, const char *mark)
{
	uint32_t number;
	if (!signature_next_number(writer->signature, &number))
		return false;
	text_printf(writer->text, "%s%" PRIu32, mark, number);
	return true;
}

/* The words for the elements that are nothing but a word. */
static const char *element_word(uint8_t element)
{
	static const char *const words[] = {
		[ELEMENT_VOID] = "Void",     [ELEMENT_BOOLEAN] = "Boolean",
		[ELEMENT_CHAR] = "Char",     [ELEMENT_I1] = "I1",
		[ELEMENT_U1] = "UI1",        [ELEMENT_I2] = "I2",
		[ELEMENT_U2] = "UI2",        [ELEMENT_I4] = "I4",
		[ELEMENT_U4] = "UI4",        [ELEMENT_I8] = "I8",
		[ELEMENT_U8] = "UI8",        [ELEMENT_R4] = "R4",
		[ELEMENT_R8] = "R8",         [ELEMENT_STRING] = "String",
		[ELEMENT_I] = "I",           [ELEMENT_U] = "U",
		[ELEMENT_OBJECT] = "Object", [ELEMENT_TYPED_BYREF] = "TypedByRef",
	};
	return element < sizeof(words) / sizeof(words[0]) ? words[element] : NULL;
}

/* The words for the elements that another type follows; NULL: it is none of these. */
static const char *prefix_word(uint8_t element)
{
	static const char *const words[] = {
		[ELEMENT_POINTER] = "Ptr ",
		[ELEMENT_BYREF] = "ByRef ",
		[ELEMENT_SZ_ARRAY] = "SZArray ",
		[ELEMENT_MODREQ] = "CMOD_REQD ",
		[ELEMENT_MODOPT] = "CMOD_OPT ",
		[ELEMENT_MODINTERNAL] = "CMOD_INTERNAL ",
		[ELEMENT_SENTINEL] = "<ELEMENT_TYPE_SENTINEL> ",
		[ELEMENT_PINNED] = "PINNED ",
	};
	return element < sizeof(words) / sizeof(words[0]) ? words[element] : NULL;
}

/* Write the type that a modifier names; the other prefixes write nothing. */
static bool write_modifier(struct type_writer *writer, uint8_t element)
{
	uint8_t is_required;
	bool is_sound = true;
	switch (element) {
	case ELEMENT_MODREQ:
	case ELEMENT_MODOPT:
		is_sound = write_token(writer);
		break;
	case ELEMENT_MODINTERNAL:
		if (!signature_next_byte(writer->signature, &is_required))
			return false;
		text_puts(writer->text, is_required ? "REQD " : "OPT ");
		is_sound = write_handle(writer);
		break;
	default:
		return true;
	}
	text_puts(writer->text, " ");
	return is_sound;
}

/* An element that is a type by itself, or begins one. */
static bool write_element(struct type_writer *writer, uint8_t element)
{
	const char *word = element_word(element);
	if (word) {
		text_puts(writer->text, word);
		return true;
	}
	switch (element) {
	case ELEMENT_VAR:
		return write_variable(writer, "!");
	case ELEMENT_MVAR:
		return write_variable(writer, "!!");
	case ELEMENT_GENERIC_INST:
		return write_generic(writer);
	case ELEMENT_FUNCTION_POINTER:
		return write_function(writer);
	case ELEMENT_ARRAY:
		text_puts(writer->text, "MDArray ");
		return begin_level(writer, LEVEL_ARRAY, 1);
	default:
		return write_named(writer, element);
	}
}

/* The prefixes of the next type, and then the type. */
static bool write_type(struct type_writer *writer)
{
	uint8_t element;
	while (signature_next_byte(writer->signature, &element)) {
		const char *word = prefix_word(element);
		if (!word)
			return write_element(writer, element);
		text_puts(writer->text, word);
		if (!write_modifier(writer, element))
			return false;
	}
	return false;
}

bool signature_type_text(struct runtime *runtime, const struct module *module,
			 struct signature *signature, struct text *text)
{
	struct type_writer writer = {
		.runtime = runtime, .module = module, .signature = signature, .text = text
	};
	bool is_sound = begin_level(&writer, LEVEL_TYPE, 1);
	while (is_sound && writer.depth) {
		struct type_level *level = &writer.levels[writer.depth - 1];
		if (level->left) {
			separate_types(&writer, level);
			is_sound = write_type(&writer);
		} else {
			is_sound = end_level(&writer);
		}
	}
	return is_sound;
}
