/* SPDX-License-Identifier: MIT */
/*
 * Static fields by the DWARF of the program.  The compiler writes the members of a class in the order non-GC, GC,
 * thread, and the places of its static fields in the order of the metadata, each with the name of another one: so the k-th
 * place of a kind belongs to the k-th member of that kind (doc/nativeaot.md 9.3).  A class is named where that agrees with the GCDesc
 * of the object that holds the fields, and with the objects that they refer to.
 */
#include "runtime/nativeaot/symbols/symbol_statics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/field.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/statics.h"
#include "runtime/nativeaot/symbols/symbol_walk.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

/* Fields of one class, and words of the object that holds them. */
#define MEMBERS_MAX 4096u
#define WORDS_MAX   ((uint32_t)1 << 17)
/* Longer chains of base classes are damage. */
#define LEVELS_MAX 64u
/* {address, i32: how far the first field of the class lies behind the begin of the object, negative}. */
#define THREAD_INDEX_OFFSET 8u
/* In symbol_statics.of_member: it is a thread static. */
#define OF_THREAD 0x80000000u

/* One class with its members and the places that the DWARF has for them. */
struct class_statics {
	struct runtime *runtime;
	const struct aot_symbols *symbols;
	uint32_t type;
	uint32_t members[MEMBERS_MAX]; /* those that are static */
	uint32_t count;
	const struct dwarf_static *places[MEMBERS_MAX]; /* NULL: it has none */
	uint64_t address[MEMBERS_MAX];
	uint64_t holder; /* of the fields in an object; 0: none */
	const struct type *holder_type;
};

static const struct dwarf_type *type_of_member(const struct class_statics *of, uint32_t i)
{
	const struct dwarf_types *types = &of->symbols->types;
	return dwarf_type_at(types, types->members[of->members[i]].type);
}

static void take_members(struct class_statics *of)
{
	const struct dwarf_types *types = &of->symbols->types;
	const struct dwarf_type *type = &types->rows[of->type];
	of->count = 0;
	for (uint32_t i = 0; i < type->count && of->count < MEMBERS_MAX; i++) {
		if (types->members[type->first + i].is_static)
			of->members[of->count++] = type->first + i;
	}
}

/*
 * Give the places to the members.  If a class has no place that is not in an object, and members without a place, its first members
 * that are numbers were optimised away.
 */
static bool pair_places(struct class_statics *of, const uint32_t *order, size_t count)
{
	const struct dwarf_static *all = of->symbols->types.statics;
	uint32_t at = 0, in_place = 0;
	if (count > of->count)
		return false;
	for (uint32_t i = 0; i < of->count; i++)
		of->places[i] = NULL;
	for (size_t i = 0; i < count; i++)
		in_place += all[order[i]].kind == DWARF_IN_PLACE;
	if (!in_place) {
		for (uint32_t missing = of->count - (uint32_t)count; at < missing; at++) {
			const struct dwarf_type *type = type_of_member(of, at);
			if (!type || type->kind != DWARF_NUMBER)
				break;
		}
	}
	for (enum dwarf_static_kind kind = DWARF_IN_PLACE; kind <= DWARF_IN_HOLDER; kind++) {
		for (size_t i = 0; i < count; i++) {
			if (all[order[i]].kind == kind)
				of->places[at++] = &all[order[i]];
		}
	}
	return true;
}

/* The bits of the words of a holder that are references. */
static bool desc_bits(const struct type *type, uint64_t *bits, uint32_t words)
{
	for (uint32_t i = 0; i < type->desc.series_count; i++) {
		const struct gc_series *series = &type->desc.series[i];
		uint64_t size = (uint64_t)(series->size + (int64_t)type->base_size);
		if (series->offset % 8 || series->offset / 8 > words ||
		    size / 8 > words - series->offset / 8)
			return false;
		for (uint64_t at = series->offset / 8; at < (series->offset + size) / 8; at++)
			bits[at / 64] |= (uint64_t)1 << at % 64;
	}
	return !type->has_bad_desc && !type->desc.run_count;
}

static bool set_bit(uint64_t *bits, uint32_t words, uint64_t offset)
{
	bool is_good = offset % 8 == 0 && offset / 8 < words;
	if (is_good)
		bits[offset / 64 / 8] |= (uint64_t)1 << offset / 8 % 64;
	return is_good;
}

/* The bits of a field of @p type at @p offset. */
static bool field_bits(const struct dwarf_types *types, const struct dwarf_type *type,
		       uint64_t offset, uint64_t *bits, uint32_t words)
{
	struct symbol_walk walk;
	if (type->kind == DWARF_REFERENCE)
		return set_bit(bits, words, offset);
	if (!symbol_is_struct(type))
		return true;
	symbol_walk_begin(&walk, types, type);
	while (symbol_walk_next(&walk)) {
		const struct dwarf_type *member = walk.member_type;
		if (!member ||
		    (member->kind == DWARF_REFERENCE && !set_bit(bits, words, offset + walk.place)))
			return false;
		if (symbol_is_struct(member))
			symbol_walk_enter(&walk);
	}
	return !walk.is_bad;
}

/* Has a value of @p type no reference in it? */
static bool is_plain(const struct dwarf_types *types, const struct dwarf_type *type)
{
	uint64_t bits[64] = { 0 }, any = 0;
	bool is_known = field_bits(types, type, 0, bits, 64 * 64);
	for (size_t i = 0; i < 64; i++)
		any |= bits[i];
	return is_known && !any;
}

static bool is_array(const struct dwarf_type *type)
{
	return strncmp(type->name, "__Array<", 8) == 0 || strncmp(type->name, "__MDArray", 9) == 0;
}

/* May a field of @p declared refer to the object at @p address?  What is not known is not against it. */
static bool may_refer(const struct class_statics *of, const struct dwarf_type *declared,
		      uint64_t address)
{
	const struct dwarf_types *types = &of->symbols->types;
	const struct dwarf_type *to = dwarf_type_at(types, declared->target);
	const struct type *type = aot_type_of_object(of->runtime, address);
	if (!type)
		return false;
	/* An interface has no bytes; everything is a System.Object. */
	if (!to || !to->has_base || !to->size)
		return true;
	for (unsigned int i = 0; type && i < LEVELS_MAX; i++) {
		const struct dwarf_type *at = aot_symbols_class(of->symbols, type->method_table);
		if (at == to || !at || (is_array(at) && is_array(to)))
			return true;
		type = type->parent ? type_find(of->runtime, type->parent) : NULL;
	}
	return false;
}

/* Where the fields of the class are; false: a place contradicts another one. */
static bool find_addresses(struct class_statics *of)
{
	uint64_t bias = of->symbols->bias;
	of->holder = 0;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct dwarf_static *place = of->places[i];
		uint64_t holder = 0;
		of->address[i] = 0;
		if (!place)
			continue;
		if (place->kind == DWARF_IN_PLACE) {
			of->address[i] = place->address + place->offset + bias;
			continue;
		}
		const struct type *type =
			aot_holder_at(of->runtime, place->address + bias, &holder);
		if (!type || (of->holder && of->holder != holder))
			return false;
		of->holder = holder;
		of->holder_type = type;
		of->address[i] = holder + place->offset;
	}
	return true;
}

/* Do the fields in the object have their references where its GCDesc has them? */
static bool holder_agrees(const struct class_statics *of)
{
	if (!of->holder)
		return true;
	uint32_t words = of->holder_type->base_size / 8;
	size_t size = words / 64 + 1;
	if (words > WORDS_MAX)
		return false;
	HD_FREE uint64_t *said = mem_calloc(size, sizeof(*said));
	HD_FREE uint64_t *known = mem_calloc(size, sizeof(*known));
	if (!said || !known || !desc_bits(of->holder_type, known, words))
		return false;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct dwarf_type *type = type_of_member(of, i);
		if (of->places[i] && of->places[i]->kind == DWARF_IN_HOLDER &&
		    (!type ||
		     !field_bits(&of->symbols->types, type, of->places[i]->offset, said, words)))
			return false;
	}
	return memcmp(said, known, size * sizeof(*said)) == 0;
}

/* Is what is in each field what it can hold? */
static bool values_agree(const struct class_statics *of)
{
	for (uint32_t i = 0; i < of->count; i++) {
		const struct dwarf_type *type = type_of_member(of, i);
		uint64_t value = 0;
		if (!of->places[i])
			continue;
		if (!type || !symbol_size(type))
			return false;
		if (of->places[i]->kind == DWARF_IN_PLACE) {
			if (!is_plain(&of->symbols->types, type))
				return false;
		} else if (type->kind == DWARF_REFERENCE &&
			   (!memory_u64(of->runtime->memory, of->address[i], &value) ||
			    (value && !may_refer(of, type, value)))) {
			return false;
		}
	}
	return true;
}

static bool add_fields(const struct class_statics *of, struct symbol_statics *statics)
{
	for (uint32_t i = 0; i < of->count; i++) {
		if (!of->places[i])
			continue;
		if (!PAGES_RESERVE(statics, fields))
			return false;
		statics->fields[statics->fields_count++] = (struct symbol_static){
			.place = of->address[i],
			.size = symbol_size(type_of_member(of, i)),
			.offset = of->places[i]->offset,
			.type = of->type,
			.member = of->members[i],
		};
	}
	return true;
}

static uint64_t alignment(uint32_t size)
{
	uint32_t align = size & ~(size - 1);
	return align && align < 8 ? align : 8;
}

/*
 * The members behind those with a place are thread statics.  They lie behind each other in the object of each thread, from
 * where the class's word of __TypeThreadStaticIndex says.
 */
static bool add_thread_fields(const struct class_statics *of, struct symbol_statics *statics)
{
	const struct dwarf_types *types = &of->symbols->types;
	uint64_t index = symbol_by_name(&of->symbols->tables.threads, types->rows[of->type].name);
	int32_t offset = 0;
	uint32_t first = of->count;
	while (first && !of->places[first - 1])
		first--;
	if (!index || first == of->count ||
	    !memory_i32(of->runtime->memory, index + of->symbols->bias + THREAD_INDEX_OFFSET,
			&offset) ||
	    offset >= 0)
		return true;
	uint64_t place = (uint64_t) - (int64_t)offset;
	for (uint32_t i = first; i < of->count; i++) {
		const struct dwarf_type *type = type_of_member(of, i);
		uint32_t size = type ? symbol_size(type) : 0;
		if (!size || place > INT32_MAX)
			return true;
		uint64_t align = alignment(size);
		place = (place + align - 1) & ~(align - 1);
		if (!PAGES_RESERVE(statics, thread_fields))
			return false;
		statics->thread_fields[statics->thread_fields_count++] = (struct symbol_static){
			.place = place,
			.size = size,
			.offset = (uint32_t)place,
			.type = of->type,
			.member = of->members[i],
		};
		place += size;
	}
	return true;
}

/* The statics of one class, whose places have the numbers in @p order. */
static bool read_class(struct class_statics *of, const uint32_t *order, size_t count,
		       struct symbol_statics *statics)
{
	take_members(of);
	if (!pair_places(of, order, count) || !find_addresses(of) || !holder_agrees(of) ||
	    !values_agree(of)) {
		statics->refused++;
		return true;
	}
	return add_fields(of, statics) && add_thread_fields(of, statics);
}

static int compare_fields(const void *a, const void *b)
{
	const struct symbol_static *left = a, *right = b;
	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return (left->member > right->member) - (left->member < right->member);
}

static void sort_fields(struct symbol_static *fields, size_t count)
{
	if (count)
		qsort(fields, count, sizeof(*fields), compare_fields);
}

/* The numbers of the places by class, each class's in the order of the file. */
static uint32_t *order_places(const struct dwarf_types *types)
{
	size_t count = types->statics_count;
	HD_FREE uint64_t *keys = mem_alloc(count + 1, sizeof(*keys));
	uint32_t *order = mem_alloc(count + 1, sizeof(*order));
	bool is_sorted = keys && order;
	for (size_t i = 0; is_sorted && i < count; i++)
		keys[i] = types->statics[i].type;
	if (is_sorted && count)
		is_sorted = sort_keys(keys, order, (uint32_t)count);
	if (is_sorted)
		return order;
	mem_free(order);
	return NULL;
}

/* The classes that have a place for a static field, and those that have only thread statics. */
static bool read_classes(struct class_statics *of, const uint32_t *order,
			 struct symbol_statics *statics)
{
	const struct dwarf_types *types = &of->symbols->types;
	size_t at = 0;
	for (size_t i = 0; i < types->rows_count; i++) {
		size_t begin = at;
		while (at < types->statics_count && types->statics[order[at]].type == i)
			at++;
		of->type = (uint32_t)i;
		if (types->rows[i].kind == DWARF_CLASS && types->rows[i].count &&
		    !read_class(of, order + begin, at - begin, statics))
			return false;
	}
	return true;
}

static struct symbol_statics *read_statics(struct runtime *runtime, struct aot_symbols *symbols)
{
	struct symbol_statics *statics = mem_calloc(1, sizeof(*statics));
	struct class_statics *of = mem_calloc(1, sizeof(*of));
	uint32_t *order = order_places(&symbols->types);
	bool is_read = statics && of && order;
	if (is_read) {
		of->runtime = runtime;
		of->symbols = symbols;
		statics->of_member =
			mem_calloc(symbols->types.members_count + 1, sizeof(*statics->of_member));
		is_read = statics->of_member && read_classes(of, order, statics);
	}
	mem_free(order);
	mem_free(of);
	if (!is_read) {
		symbol_statics_destroy(statics);
		return NULL;
	}
	sort_fields(statics->fields, statics->fields_count);
	sort_fields(statics->thread_fields, statics->thread_fields_count);
	for (size_t i = 0; i < statics->fields_count; i++)
		statics->of_member[statics->fields[i].member] = (uint32_t)i + 1;
	for (size_t i = 0; i < statics->thread_fields_count; i++) {
		statics->of_member[statics->thread_fields[i].member] =
			(uint32_t)(i + 1) | OF_THREAD;
	}
	return statics;
}

const struct symbol_statics *symbol_statics(struct runtime *runtime)
{
	struct aot_symbols *symbols = aot_symbols(runtime);
	if (!symbols)
		return NULL;
	if (!symbols->has_tried_statics) {
		symbols->has_tried_statics = true;
		symbols->statics = read_statics(runtime, symbols);
	}
	return symbols->statics;
}

void symbol_statics_destroy(struct symbol_statics *statics)
{
	if (!statics)
		return;
	pages_free(statics->fields, statics->fields_capacity, sizeof(*statics->fields));
	pages_free(statics->thread_fields, statics->thread_fields_capacity,
		   sizeof(*statics->thread_fields));
	mem_free(statics->of_member);
	mem_free(statics);
}

const struct symbol_static *symbol_static_at(const struct symbol_statics *statics, bool is_thread,
					     uint64_t place, uint32_t *ret_index,
					     uint32_t *ret_offset)
{
	const struct symbol_static *rows = is_thread ? statics->thread_fields : statics->fields;
	size_t count = is_thread ? statics->thread_fields_count : statics->fields_count;
	size_t at = ROWS_ABOVE(rows, count, place, place);
	if (!at || place - rows[at - 1].place >= rows[at - 1].size)
		return NULL;
	*ret_index = (uint32_t)(at - 1);
	*ret_offset = (uint32_t)(place - rows[at - 1].place);
	return &rows[at - 1];
}

const struct symbol_static *symbol_static_of(const struct symbol_statics *statics, size_t member,
					     bool *ret_is_thread)
{
	uint32_t at = statics->of_member[member];
	if (!at)
		return NULL;
	*ret_is_thread = at & OF_THREAD;
	return &(*ret_is_thread ? statics->thread_fields : statics->fields)[(at & ~OF_THREAD) - 1];
}

/* The member of the class of @p field; the number of members: it is not known. */
static size_t member_of_field(const struct aot_symbols *symbols, const struct field *field)
{
	const struct dwarf_type *of = aot_symbols_class(symbols, field->declaring->method_table);
	for (uint32_t i = 0; of && i < of->count; i++) {
		const struct dwarf_member *member = &symbols->types.members[of->first + i];
		if (member->is_static && strcmp(member->name, field->name) == 0)
			return of->first + i;
	}
	return symbols->types.members_count;
}

uint64_t aot_static_address(struct runtime *runtime, const struct field *field,
			    const struct runtime_thread *thread)
{
	const struct symbol_statics *statics = symbol_statics(runtime);
	const struct aot_symbols *symbols = aot_symbols(runtime);
	struct thread_local_data data;
	bool is_thread = false;
	if (!statics || !field->declaring)
		return 0;
	size_t member = member_of_field(symbols, field);
	const struct symbol_static *row = member < symbols->types.members_count
						  ? symbol_static_of(statics, member, &is_thread)
						  : NULL;
	if (!row || is_thread != (thread != NULL))
		return 0;
	if (!thread)
		return row->place;
	/* If there are several modules, the first is the program. */
	return aot_thread_locals(runtime, thread, 1, &data) && data.object
		       ? data.object + row->place
		       : 0;
}

/* The names of the structs and the field in them at @p offset of a struct. */
static void append_part(const struct dwarf_types *types, const struct dwarf_type *type,
			uint32_t offset, struct text *text)
{
	struct symbol_walk walk;
	symbol_walk_begin(&walk, types, type);
	while (symbol_walk_next(&walk)) {
		uint32_t size = walk.member_type ? symbol_size(walk.member_type) : 0;
		if (offset < walk.place || offset - walk.place >= size)
			continue;
		const struct symbol_level *level = &walk.levels[walk.depth - 1];
		if (level->elements > 1) {
			text_printf(text, "[%" PRIu32 "]", level->element);
		} else {
			text_printf(text, ".%s", walk.member->name);
		}
		if (!symbol_is_struct(walk.member_type))
			return;
		symbol_walk_enter(&walk);
	}
}

void symbol_static_name(struct runtime *runtime, const struct symbol_static *field, uint32_t offset,
			struct text *text)
{
	const struct aot_symbols *symbols = aot_symbols(runtime);
	const struct dwarf_types *types = &symbols->types;
	const struct dwarf_member *member = &types->members[field->member];
	const struct dwarf_type *type = dwarf_type_at(types, member->type);
	aot_symbols_append_name(runtime, symbols, &types->rows[field->type], text);
	text_printf(text, ".%s", member->name);
	if (type && symbol_is_struct(type))
		append_part(types, type, offset, text);
}
