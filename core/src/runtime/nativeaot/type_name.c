/* SPDX-License-Identifier: MIT */
/*
 * Names of types (doc/nativeaot.md 4.4).  A name is a tree: what is left to write is kept on a stack, so that no
 * input causes recursion, and both the steps and the bytes of a name have a limit.
 */
#include "runtime/nativeaot/type_name.h"

#include <inttypes.h>

#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/type_map.h"

/* Most series of a GCDesc that a name tells. */
#define SERIES_MAX 16u

#define ITEMS_MAX     512u
#define STEPS_MAX     AOT_NAME_MAX
#define STEPS_USUAL   AOT_NAME_USUAL
#define DEPTH_MAX     64u
#define ARGUMENTS_MAX 64u
#define RANK_MAX      32

enum item_kind {
	ITEM_TEXT,
	ITEM_TABLE,  /* value: address of a MethodTable; 0: it cannot be read */
	ITEM_HANDLE, /* value: kind << 32 | offset of a record */
};

struct item {
	uint8_t kind, depth;
	const char *bytes;
	size_t size;
	uint64_t value;
};

struct writer {
	const struct nativeaot *aot;
	const struct native_metadata *metadata;
	enum aot_name_style style;
	struct text *text;
	struct item items[ITEMS_MAX];
	size_t count;
	bool is_cut;
};

/* Arguments of a generic type: MethodTables, or records. */
struct arguments {
	enum item_kind kind;
	uint64_t values[ARGUMENTS_MAX];
	size_t count;
};

static void push(struct writer *writer, const struct item *item)
{
	if (writer->count == ITEMS_MAX) {
		writer->is_cut = true;
	} else {
		writer->items[writer->count++] = *item;
	}
}

static void push_text(struct writer *writer, const char *bytes, size_t size)
{
	const struct item item = { .kind = ITEM_TEXT, .bytes = bytes, .size = size };
	if (size)
		push(writer, &item);
}

static void push_string(struct writer *writer, const char *string)
{
	push_text(writer, string, strlen(string));
}

static void push_type(struct writer *writer, enum item_kind kind, uint64_t value,
		      unsigned int depth)
{
	const struct item item = { .kind = (uint8_t)kind, .depth = (uint8_t)depth, .value = value };
	push(writer, &item);
}

static uint64_t value_of(struct native_handle handle)
{
	return (uint64_t)handle.kind << 32 | handle.offset;
}

/* First pushed, first written, of what was pushed since there were @p base items. */
static void put_in_order(struct writer *writer, size_t base)
{
	for (size_t i = base, j = writer->count; i + 1 < j; i++) {
		struct item item = writer->items[i];
		writer->items[i] = writer->items[--j];
		writer->items[j] = item;
	}
}

/* "Dictionary" of "Dictionary`2", and the 2. */
static size_t split_arity(struct native_string name, size_t *ret_arity)
{
	size_t at = name.size, arity = 0, power = 1;
	*ret_arity = 0;
	while (at && name.bytes[at - 1] >= '0' && name.bytes[at - 1] <= '9' && power < 10000) {
		arity += power * (size_t)(name.bytes[--at] - '0');
		power *= 10;
	}
	if (power == 1 || !at || name.bytes[at - 1] != '`')
		return name.size;
	*ret_arity = arity;
	return at - 1;
}

static void push_arguments(struct writer *writer, const struct arguments *arguments, size_t first,
			   size_t count, unsigned int depth)
{
	push_string(writer, "<");
	for (size_t i = 0; i < count; i++) {
		if (i)
			push_string(writer, ", ");
		push_type(writer, arguments->kind, arguments->values[first + i], depth + 1);
	}
	push_string(writer, ">");
}

/* Types that a parameter shows without their namespace, as the runtime formats them (sigformat.cpp). */
static bool is_primitive(const struct native_chain *chain)
{
	static const char *const names[] = { "Boolean", "Byte",   "Char",   "Double",  "Int16",
					     "Int32",   "Int64",  "IntPtr", "SByte",   "Single",
					     "UInt16",  "UInt32", "UInt64", "UIntPtr", "Void" };
	if (chain->namespaces_count != 1 || chain->types_count != 1 ||
	    chain->namespaces[0].size != 6 || memcmp(chain->namespaces[0].bytes, "System", 6) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == chain->types[0].size &&
		    memcmp(names[i], chain->types[0].bytes, chain->types[0].size) == 0)
			return true;
	}
	return false;
}

/* "Ns.Outer<A>+Inner<B>": each level takes as many arguments as its name says. */
static void push_chain(struct writer *writer, const struct native_chain *chain,
		       const struct arguments *arguments, unsigned int depth)
{
	size_t used = 0;
	bool is_short = writer->style == AOT_NAME_PARAMETER && is_primitive(chain);
	for (size_t i = 0; i < chain->namespaces_count && !is_short; i++) {
		push_text(writer, chain->namespaces[i].bytes, chain->namespaces[i].size);
		push_string(writer, ".");
	}
	for (size_t i = 0; i < chain->types_count; i++) {
		struct native_string name = chain->types[i];
		size_t arity, size = split_arity(name, &arity), left = arguments->count - used;
		if (i)
			push_string(writer, "+");
		/* A name without an arity may also have arguments: closures of F# do. */
		if (i + 1 == chain->types_count || arity > left)
			arity = left;
		push_text(writer, name.bytes, arguments->count ? size : name.size);
		if (arity)
			push_arguments(writer, arguments, used, arity, depth);
		used += arity;
	}
}

static void append_unknown(struct writer *writer, uint64_t method_table)
{
	text_printf(writer->text, "<unknown type %" PRIx64 ">", method_table);
}

static void push_definition(struct writer *writer, uint64_t method_table,
			    const struct arguments *arguments, unsigned int depth)
{
	struct native_chain chain;
	struct native_handle type = type_map_type(writer->aot->types, method_table);
	if (type.offset && native_chain_read(writer->metadata, type, &chain)) {
		push_chain(writer, &chain, arguments, depth);
	} else {
		append_unknown(writer, method_table);
	}
}

/* "[]", "[,]", "[*]": one dimension whose lower bound may not be 0. */
static void push_rank(struct writer *writer, uint32_t rank)
{
	static const char commas[] = "[,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
	if (rank < 2) {
		push_string(writer, "[*");
	} else {
		push_text(writer, commas, rank < RANK_MAX ? rank : RANK_MAX);
	}
	push_string(writer, "]");
}

static void push_parameterized(struct writer *writer, const struct aot_method_table *table,
			       unsigned int depth)
{
	push_type(writer, ITEM_TABLE, table->related, depth + 1);
	switch (aot_element_type(table)) {
	case AOT_ELEMENT_SZ_ARRAY:
		push_string(writer, "[]");
		return;
	case AOT_ELEMENT_ARRAY:
		/* One length and one lower bound for each dimension. */
		push_rank(writer, table->base_size > 24 ? (table->base_size - 24) / 8 : 0);
		return;
	case AOT_ELEMENT_BY_REFERENCE:
		push_string(writer, "&");
		return;
	default:
		push_string(writer, "*");
		return;
	}
}

/*
 * Code that instances of a generic type share has System.__Canon as an argument: a class without a record, whose
 * MethodTable has nothing but its size and base class.
 */
static bool is_canon(const struct writer *writer, uint64_t address,
		     const struct aot_method_table *table)
{
	return table->flags == AOT_ELEMENT_CLASS << AOT_ELEMENT_SHIFT &&
	       table->tail == address + AOT_METHOD_TABLE_SIZE && table->related &&
	       !type_map_type(writer->aot->types, address).offset;
}

/*
 * "Continuation_32_0_2": bytes behind those of Continuation, and where among them how many references are; CoreCLR's have the same
 * names (CompilerTypeSystemContext.AsyncContinuations.cs).
 */
static void append_continuation(const struct writer *writer, uint64_t address,
				const struct aot_method_table *table)
{
	struct memory *memory = writer->aot->base.memory;
	struct aot_method_table base = { .base_size = 0 };
	uint64_t count = 0, offset = 0, size = 0;
	(void)aot_method_table_read(memory, table->related, &base);
	uint64_t data = base.base_size >= 8 ? base.base_size - 8 : 0;
	text_printf(writer->text, "Continuation_%" PRIu64,
		    table->base_size >= data + 8 ? table->base_size - data - 8 : 0);
	/* The GCDesc: {size less that of the object, offset} backwards in front of the count. */
	if (!memory_u64(memory, address - 8, &count) || count > SERIES_MAX)
		return;
	for (uint64_t i = 0; i < count && memory_u64(memory, address - 16 - 16 * i, &offset) &&
			     memory_u64(memory, address - 24 - 16 * i, &size);
	     i++) {
		if (offset >= data) {
			text_printf(writer->text, "_%" PRIu64 "_%" PRIu64, offset - data,
				    (size + table->base_size) / 8);
		}
	}
}

static void write_table(struct writer *writer, uint64_t address, unsigned int depth)
{
	struct memory *memory = writer->aot->base.memory;
	struct aot_method_table table;
	struct arguments arguments = { .kind = ITEM_TABLE };
	if (address == writer->aot->base.tables.free) {
		text_puts(writer->text, "Free");
	} else if (!address || !aot_method_table_read(memory, address, &table)) {
		append_unknown(writer, address);
	} else if (aot_holds_statics(&writer->aot->base, &table)) {
		text_puts(writer->text, "<static fields>");
	} else if (aot_is_continuation(&writer->aot->base, &table)) {
		append_continuation(writer, address, &table);
	} else if (table.kind == AOT_PARAMETERIZED) {
		push_parameterized(writer, &table, depth);
	} else if (depth && is_canon(writer, address, &table)) {
		text_puts(writer->text, "System.__Canon");
	} else if (!aot_is_instance(&table)) {
		push_definition(writer, address, &arguments, depth);
	} else {
		uint64_t definition = 0;
		arguments.count = aot_generic_arguments(&writer->aot->base, &table, &definition,
							arguments.values, ARGUMENTS_MAX);
		push_definition(writer, definition, &arguments, depth);
	}
}

/* A generic type with its arguments, which are records: TypeInstantiationSignature. */
static void write_instance(struct writer *writer, struct native_cursor *cursor, unsigned int depth)
{
	struct arguments arguments = { .kind = ITEM_HANDLE };
	struct native_chain chain;
	struct native_handle type = native_handle_of(writer->metadata, native_unsigned(cursor));
	uint32_t count = native_unsigned(cursor);
	for (uint32_t i = 0; i < count && i < ARGUMENTS_MAX && !cursor->is_bad; i++) {
		struct native_handle argument =
			native_handle_of(writer->metadata, native_unsigned(cursor));
		arguments.values[arguments.count++] = value_of(argument);
	}
	if (!cursor->is_bad && native_chain_read(writer->metadata, type, &chain)) {
		push_chain(writer, &chain, &arguments, depth);
	} else {
		text_puts(writer->text, "?");
	}
}

/* A type that only has another one in it, and what comes after that. */
static void push_inner(struct writer *writer, struct native_cursor *cursor, const char *after,
		       unsigned int depth)
{
	struct native_handle inner = native_handle_of(writer->metadata, native_unsigned(cursor));
	push_type(writer, ITEM_HANDLE, value_of(inner), depth + 1);
	push_string(writer, after);
}

static void write_handle(struct writer *writer, struct native_handle handle, unsigned int depth)
{
	const struct arguments none = { .count = 0 };
	struct native_chain chain;
	struct native_cursor cursor = native_cursor_at(&writer->metadata->blob, handle.offset);
	bool is_parameter = writer->style == AOT_NAME_PARAMETER;
	switch (handle.offset ? handle.kind : 0) {
	case NATIVE_TYPE:
	case NATIVE_TYPE_REFERENCE:
		if (native_chain_read(writer->metadata, handle, &chain)) {
			push_chain(writer, &chain, &none, depth);
		} else {
			text_puts(writer->text, "?");
		}
		return;
	case NATIVE_TYPE_SPECIFICATION:
		push_inner(writer, &cursor, "", depth);
		return;
	case NATIVE_MODIFIED:
		(void)native_u8(&cursor);       /* is it optional? */
		(void)native_unsigned(&cursor); /* the modifier */
		push_inner(writer, &cursor, "", depth);
		return;
	case NATIVE_INSTANCE:
		write_instance(writer, &cursor, depth);
		return;
	case NATIVE_SZ_ARRAY:
		push_inner(writer, &cursor, "[]", depth);
		return;
	case NATIVE_ARRAY: {
		push_inner(writer, &cursor, "", depth);
		int32_t rank = native_signed(&cursor);
		push_rank(writer, rank > 0 && rank < RANK_MAX ? (uint32_t)rank : 0);
		return;
	}
	case NATIVE_POINTER:
		push_inner(writer, &cursor, "*", depth);
		return;
	case NATIVE_BY_REFERENCE:
		push_inner(writer, &cursor, is_parameter ? " ByRef" : "&", depth);
		return;
	case NATIVE_TYPE_VARIABLE:
		text_printf(writer->text, "!%" PRId32, native_signed(&cursor));
		return;
	case NATIVE_METHOD_VARIABLE:
		text_printf(writer->text, "!!%" PRId32, native_signed(&cursor));
		return;
	case NATIVE_FUNCTION_POINTER:
		text_puts(writer->text, "fnptr");
		return;
	default:
		text_puts(writer->text, "?");
		return;
	}
}

static void write_item(struct writer *writer, const struct item *item)
{
	size_t base = writer->count;
	if (item->kind == ITEM_TEXT) {
		text_append(writer->text, item->bytes, item->size);
	} else if (item->depth > DEPTH_MAX) {
		text_puts(writer->text, "...");
	} else if (item->kind == ITEM_TABLE) {
		write_table(writer, item->value, item->depth);
	} else {
		struct native_handle handle = { (uint32_t)(item->value >> 32),
						(uint32_t)item->value };
		write_handle(writer, handle, item->depth);
	}
	put_in_order(writer, base);
}

/* End the name, which begins at @p begin, after @p most bytes. */
static void cut(struct text *text, size_t begin, size_t most)
{
	if (text->size - begin > most) {
		text->size = begin + most;
		while (text->size > begin && utf8_continues(text->bytes[text->size]))
			text->size--;
		text->bytes[text->size] = '\0';
	}
	text_puts(text, "...");
}

/* Write what @p kind and @p value say. */
static void write_name(struct nativeaot *aot, enum item_kind kind, uint64_t value,
		       enum aot_name_style style, struct text *text)
{
	bool is_usual = aot->name_extra > AOT_NAME_EXTRA_MAX;
	size_t most = is_usual ? AOT_NAME_USUAL : AOT_NAME_MAX, begin = text->size;
	unsigned int steps = 0, most_steps = is_usual ? STEPS_USUAL : STEPS_MAX;
	struct writer writer; /* its items are not cleared */
	writer.aot = aot;
	writer.metadata = &aot->types->metadata;
	writer.style = style;
	writer.text = text;
	writer.count = 0;
	writer.is_cut = false;
	push_type(&writer, kind, value, 0);
	while (writer.count && !writer.is_cut && !text->failed) {
		struct item item = writer.items[--writer.count];
		write_item(&writer, &item);
		writer.is_cut = writer.is_cut || ++steps == most_steps || text->size - begin > most;
	}
	size_t size = text->size - begin;
	aot->name_extra += size > AOT_NAME_USUAL ? size - AOT_NAME_USUAL : 0;
	aot->name_extra += steps > STEPS_USUAL ? steps - STEPS_USUAL : 0;
	if (writer.is_cut && !text->failed)
		cut(text, begin, most);
}

void aot_table_name(struct nativeaot *aot, uint64_t method_table, struct text *text)
{
	write_name(aot, ITEM_TABLE, method_table, AOT_NAME_FULL, text);
}

void aot_handle_name(struct nativeaot *aot, struct native_handle handle, enum aot_name_style style,
		     struct text *text)
{
	write_name(aot, ITEM_HANDLE, value_of(handle), style, text);
}
