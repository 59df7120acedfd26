/* SPDX-License-Identifier: MIT */
/* Fields of types by the DWARF of the program, where the GCDesc agrees (doc/nativeaot.md 9.2). */
#include "runtime/nativeaot/symbols/symbol_fields.h"

#include <string.h>

#include "runtime/nativeaot/field_rows.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/symbols/symbol_statics.h"
#include "runtime/nativeaot/symbols/symbol_walk.h"
#include "runtime/nativeaot/symbols/symbols.h"
#include "util/alloc.h"
#include "util/text.h"

#define HEADER 8u
/* Longer chains of base classes are damage. */
#define LEVELS_MAX 64u
/* Most words of one object that may be references. */
#define WORDS_MAX ((uint32_t)1 << 17)
/* Most fields of one type, those inside of structs among them. */
#define FIELDS_MAX 4096u
/* An object has more than its fields: the MethodTable, and the word in front of it. */
#define OBJECT_OVERHEAD 16u
#define OBJECT_SIZE_MIN 24u

/* The classes that a type is made of, from the type to System.Object; of a struct only itself. */
struct chain {
	const struct type *types[LEVELS_MAX];
	const struct dwarf_type *classes[LEVELS_MAX];
	size_t count;
	bool is_struct;
};

static bool is_struct_type(const struct type *type)
{
	return type->category == CATEGORY_VALUE || type->category == CATEGORY_NULLABLE ||
	       type->category == CATEGORY_PRIMITIVE || type->category == CATEGORY_TRUE_PRIMITIVE;
}

/* The class of each type of the chain, if both agree on which is the base class of which. */
static bool read_chain(struct runtime *runtime, const struct aot_symbols *symbols,
		       const struct type *type, struct chain *ret)
{
	*ret = (struct chain){ .is_struct = is_struct_type(type) };
	const struct dwarf_type *below = NULL;
	for (const struct type *at = type; at && ret->count < LEVELS_MAX; ret->count++) {
		const struct dwarf_type *of = aot_symbols_class(symbols, at->method_table);
		if (!of || (below && dwarf_type_at(&symbols->types, below->target) != of))
			return false;
		ret->types[ret->count] = at;
		ret->classes[ret->count] = of;
		below = of;
		if (ret->is_struct) {
			ret->count++;
			return !of->has_base;
		}
		at = at->parent ? type_find(runtime, at->parent) : NULL;
	}
	return ret->count && ret->count < LEVELS_MAX && !below->has_base;
}

/* The bits of the words that are references by the GCDesc. */
static bool take_desc(const struct type *type, uint64_t *bits, uint32_t words)
{
	uint32_t budget = words;
	for (uint32_t i = 0; i < type->desc.series_count; i++) {
		const struct gc_series *series = &type->desc.series[i];
		uint64_t size = (uint64_t)(series->size + (int64_t)type->base_size);
		if (series->offset % 8 || series->offset / 8 > words ||
		    size / 8 > words - series->offset / 8 || size / 8 > budget)
			return false;
		budget -= (uint32_t)(size / 8);
		for (uint64_t at = series->offset / 8; at < (series->offset + size) / 8; at++)
			bits[at / 64] |= (uint64_t)1 << at % 64;
	}
	return !type->desc.run_count;
}

/* The bits of the words that are references by what one class says. */
static bool take_class(const struct aot_symbols *symbols, const struct dwarf_type *of,
		       uint32_t begin, uint64_t *bits, uint32_t words)
{
	struct symbol_walk walk;
	symbol_walk_begin(&walk, &symbols->types, of);
	while (symbol_walk_next(&walk)) {
		const struct dwarf_type *type = walk.member_type;
		uint32_t at = begin + walk.place;
		if (!type || at / 8 >= words)
			return false;
		if (symbol_is_struct(type)) {
			symbol_walk_enter(&walk);
		} else if (type->kind == DWARF_REFERENCE) {
			if (at % 8)
				return false;
			bits[at / 64 / 8] |= (uint64_t)1 << at / 8 % 64;
		}
	}
	return !walk.is_bad;
}

static uint64_t object_size(const struct chain *chain)
{
	uint64_t size = ((uint64_t)chain->classes[0]->size + 7) & ~(uint64_t)7;
	size += chain->is_struct ? OBJECT_OVERHEAD : HEADER;
	return size < OBJECT_SIZE_MIN ? OBJECT_SIZE_MIN : size;
}

/* Are size and references those of the type? */
static bool agrees(const struct runtime *runtime, const struct aot_symbols *symbols,
		   const struct chain *chain)
{
	const struct type *type = chain->types[0];
	uint32_t words = type->base_size / 8;
	if (words > WORDS_MAX || (!type->is_string && type->base_size != object_size(chain)))
		return false;
	/* References of such a struct are told by the GCDesc of the object that it is in. */
	if (aot_is_never_boxed(runtime, type))
		return true;
	if (type->has_bad_desc)
		return false;
	size_t size = words / 64 + 1;
	HD_FREE uint64_t *said = mem_calloc(size, sizeof(*said));
	HD_FREE uint64_t *known = mem_calloc(size, sizeof(*known));
	if (!said || !known || !take_desc(type, known, words))
		return false;
	for (size_t i = 0; i < chain->count; i++) {
		if (!take_class(symbols, chain->classes[i], chain->is_struct ? HEADER : 0, said,
				words))
			return false;
	}
	return memcmp(said, known, size * sizeof(*said)) == 0;
}

/* The type of the program that is a class of the DWARF; NULL: it has none, or it is not known. */
static const struct type *type_of_class(struct runtime *runtime, const struct aot_symbols *symbols,
					const struct dwarf_type *of)
{
	uint64_t table = aot_symbols_table(symbols, of);
	return table ? type_find(runtime, table) : NULL;
}

/* A struct with a type of its own, whose fields can be asked for. */
static const struct type *known_struct(struct runtime *runtime, const struct aot_symbols *symbols,
				       const struct dwarf_type *of)
{
	struct chain chain;
	const struct type *type = type_of_class(runtime, symbols, of);
	return type && is_struct_type(type) && read_chain(runtime, symbols, type, &chain) &&
			       agrees(runtime, symbols, &chain)
		       ? type
		       : NULL;
}

struct fields_telling {
	struct runtime *runtime;
	const struct aot_symbols *symbols;
	const struct symbol_statics *statics;
	const struct chain *chain;
	const struct type *declaring;
	struct field_rows rows;
	struct symbol_walk walk;
	struct text paths[SYMBOL_DEPTH_MAX + 1]; /* of the structs around */
};

/* The name of the field that was found, with those of the structs around it. */
static void append_name(struct fields_telling *telling, struct text *text)
{
	const struct symbol_walk *walk = &telling->walk;
	const struct symbol_level *level = &walk->levels[walk->depth - 1];
	const struct text *path = &telling->paths[walk->depth - 1];
	if (path->size)
		text_append(text, path->bytes, path->size);
	if (level->elements > 1) {
		text_printf(text, "[%u]", level->element);
	} else {
		text_printf(text, "%s%s", path->size ? "." : "", walk->member->name);
	}
}

/* The name of a type as the runtime has it, or as the compiler has mangled it. */
static void append_type_name(struct fields_telling *telling, const struct dwarf_type *type,
			     uint8_t element, struct text *text)
{
	const struct aot_symbols *symbols = telling->symbols;
	const struct dwarf_type *of = type;
	bool is_pointer = type->kind == DWARF_POINTER;
	if (is_pointer || type->kind == DWARF_REFERENCE)
		of = dwarf_type_at(&symbols->types, type->target);
	if (!of)
		return;
	if (of->kind == DWARF_NUMBER) {
		text_puts(text, field_element_name(is_pointer ? symbol_element(&symbols->types, of)
							      : element));
	} else {
		aot_symbols_append_name(telling->runtime, symbols, of, text);
	}
	if (is_pointer && text->size)
		text_puts(text, "*");
}

static bool add_field(struct fields_telling *telling, uint8_t element, const struct type *of)
{
	HD_CLEANUP(text) struct text name = { 0 };
	HD_CLEANUP(text) struct text type_name = { 0 };
	const struct field field = {
		.declaring = telling->declaring,
		.type = of,
		.offset = telling->walk.place - (telling->chain->is_struct ? 0 : HEADER),
		.element_type = element,
	};
	append_name(telling, &name);
	append_type_name(telling, telling->walk.member_type, element, &type_name);
	return field_rows_add(&telling->rows, &field, &name, &type_name);
}

/* The type of the program that a value of @p type has, or refers to; NULL: it has none. */
static const struct type *type_of_value(const struct fields_telling *telling,
					const struct dwarf_type *type)
{
	if (symbol_is_struct(type))
		return known_struct(telling->runtime, telling->symbols, type);
	if (type->kind == DWARF_REFERENCE)
		type = dwarf_type_at(&telling->symbols->types, type->target);
	return type && (type->kind == DWARF_CLASS || type->kind == DWARF_ENUM)
		       ? type_of_class(telling->runtime, telling->symbols, type)
		       : NULL;
}

/* Tell a field; of a struct that has no type of its own, its fields are listed with its name. */
static bool tell_field(struct fields_telling *telling)
{
	struct symbol_walk *walk = &telling->walk;
	const struct dwarf_type *type = walk->member_type;
	/* The word with the MethodTable. */
	if (!telling->chain->is_struct && walk->place < HEADER)
		return true;
	uint8_t element = symbol_element(&telling->symbols->types, type);
	const struct type *of = type_of_value(telling, type);
	if (symbol_is_struct(type) && !of) {
		struct text *path = &telling->paths[walk->depth];
		text_deinit(path);
		append_name(telling, path);
		if (path->failed)
			return false;
		symbol_walk_enter(walk);
		return true;
	}
	/* A kind of value that is not known is no field that can be shown. */
	return !element || add_field(telling, element, of);
}

/* A static field that is known: its value is read by aot_static_address(). */
static bool tell_static(struct fields_telling *telling, size_t member)
{
	HD_CLEANUP(text) struct text name = { 0 };
	HD_CLEANUP(text) struct text type_name = { 0 };
	bool is_thread = false;
	const struct dwarf_types *types = &telling->symbols->types;
	const struct symbol_static *row = symbol_static_of(telling->statics, member, &is_thread);
	const struct dwarf_type *type =
		row ? dwarf_type_at(types, types->members[member].type) : NULL;
	uint8_t element = type ? symbol_element(types, type) : 0;
	if (!element)
		return true;
	const struct field field = {
		.declaring = telling->declaring,
		.type = type_of_value(telling, type),
		.offset = row->offset,
		.element_type = element,
		.is_static = true,
		.is_thread_static = is_thread,
		.is_rva = true, /* structs are in place */
	};
	text_puts(&name, types->members[member].name);
	append_type_name(telling, type, element, &type_name);
	return field_rows_add(&telling->rows, &field, &name, &type_name);
}

static bool tell_statics(struct fields_telling *telling, const struct dwarf_type *of)
{
	for (uint32_t i = 0; telling->statics && i < of->count; i++) {
		if (telling->symbols->types.members[of->first + i].is_static &&
		    telling->rows.list.count < FIELDS_MAX && !tell_static(telling, of->first + i))
			return false;
	}
	return true;
}

static bool tell_class(struct fields_telling *telling, size_t index)
{
	telling->declaring = telling->chain->types[index];
	symbol_walk_begin(&telling->walk, &telling->symbols->types, telling->chain->classes[index]);
	/* Also of a struct that is an inline array: its field is the first element. */
	telling->walk.levels[0].elements = 1;
	while (telling->rows.list.count < FIELDS_MAX && symbol_walk_next(&telling->walk)) {
		if (!tell_field(telling))
			return false;
	}
	return tell_statics(telling, telling->chain->classes[index]);
}

enum hd_status symbol_fields(struct runtime *runtime, const struct type *type,
			     struct field_list *ret, bool *ret_is_told, struct hd_error *err)
{
	struct chain chain;
	const struct aot_symbols *symbols = aot_symbols(runtime);
	*ret_is_told = symbols && read_chain(runtime, symbols, type, &chain) &&
		       agrees(runtime, symbols, &chain);
	if (!*ret_is_told)
		return HD_OK;
	struct fields_telling telling = {
		.runtime = runtime,
		.symbols = symbols,
		.statics = symbol_statics(runtime),
		.chain = &chain,
	};
	bool is_told = true;
	for (size_t i = chain.count; i-- > 0 && is_told;)
		is_told = tell_class(&telling, i);
	for (size_t i = 0; i <= SYMBOL_DEPTH_MAX; i++)
		text_deinit(&telling.paths[i]);
	if (!is_told) {
		field_list_deinit(&telling.rows.list);
		return fail_nomem(err);
	}
	*ret = telling.rows.list;
	return HD_OK;
}
