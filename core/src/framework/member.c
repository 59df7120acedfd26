/* SPDX-License-Identifier: MIT */
#include "framework/member.h"

#include <string.h>

#include "gc/heap.h"
#include "mem/memory.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/runtime_ops.h"
#include "runtime/statics.h"
#include "util/alloc.h"

/* Most fields that one path steps through. */
#define STEPS_MAX 8u
#define SLOTS_MIN 64u
/* Longer chains of base classes are damage. */
#define PARENTS_MAX 256u

_Static_assert(FACTS <= FACT_LEDGER_WORDS * 64 && NET_TYPES <= FACT_LEDGER_WORDS * 64,
	       "the ledger has a bit for each row");

/* Where a type has the field that a path names, as far as it leads without a reference. */
struct place {
	const struct type *type; /* NULL: the slot is free */
	const char *path;        /* compared as a pointer */
	const struct type *field_type;
	uint32_t offset; /* from the first field of the type */
	uint16_t taken;  /* characters of the path that lead to the field */
	uint8_t element_type;
	bool is_there;
};

struct members {
	struct heap *heap;
	struct window window;
	struct place *places;
	size_t count, slots; /* slots is a power of two */
};

enum hd_status members_create(struct heap *heap, struct members **ret, struct hd_error *err)
{
	struct members *members = mem_calloc(1, sizeof(*members));
	struct place *places = mem_calloc(SLOTS_MIN, sizeof(*places));
	if (!members || !places) {
		mem_free(members);
		mem_free(places);
		return fail_nomem(err);
	}
	*members = (struct members){ .heap = heap,
				     .window = { .memory = heap->memory },
				     .places = places,
				     .slots = SLOTS_MIN };
	*ret = members;
	return HD_OK;
}

struct heap *members_heap(const struct members *members)
{
	return members->heap;
}

void members_destroy(struct members *members)
{
	if (!members)
		return;
	window_deinit(&members->window);
	mem_free(members->places);
	mem_free(members);
}

bool member_object(struct members *members, uint64_t address, struct object *ret)
{
	return address && object_read(members->heap, &members->window, address, ret);
}

int64_t member_signed(const struct member *member)
{
	unsigned int size = element_size(member->element_type);
	unsigned int shift = size && size < 8 ? 64 - 8 * size : 0;
	return (int64_t)(member->bits << shift) >> shift;
}

static struct place *place_slot(const struct members *members, const struct type *type,
				const char *path)
{
	uint64_t key = (uint64_t)(uintptr_t)type ^ (uint64_t)(uintptr_t)path << 7;
	size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (members->slots - 1);
	while (members->places[slot].type &&
	       (members->places[slot].type != type || members->places[slot].path != path))
		slot = (slot + 1) & (members->slots - 1);
	return &members->places[slot];
}

static bool grow_places(struct members *members)
{
	struct members grown = { .slots = members->slots * 2 };
	grown.places = mem_calloc(grown.slots, sizeof(*grown.places));
	if (!grown.places)
		return false;
	for (size_t i = 0; i < members->slots; i++) {
		const struct place *place = &members->places[i];
		if (place->type)
			*place_slot(&grown, place->type, place->path) = *place;
	}
	mem_free(members->places);
	members->places = grown.places;
	members->slots = grown.slots;
	return true;
}

/* The last instance field with that name: the class itself comes after its base classes. */
static const struct field *last_field(const struct field_list *list, const char *name, size_t size)
{
	for (size_t i = list->count; i-- > 0;) {
		const struct field *field = &list->rows[i];
		if (!field->is_static && strncmp(field->name, name, size) == 0 &&
		    !field->name[size])
			return field;
	}
	return NULL;
}

/* Find the field of one step, and add where it is; false: the type has none. */
static bool take_step(struct runtime *runtime, const struct type *type, const char *name,
		      size_t size, struct place *place)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (field_list_read(runtime, type, &list, NULL) != HD_OK)
		return false;
	const struct field *field = last_field(&list, name, size);
	if (field) {
		place->offset += field->offset;
		place->element_type = field->element_type;
		place->field_type = field->type;
	}
	return field;
}

/*
 * Take the first step of the path @p at, or the first few together: where nothing in the target has the type of a struct,
 * the fields inside of it are listed with it.  Returns the characters that are taken, 0: the type has no such field.
 */
static size_t take_steps(struct runtime *runtime, const struct type *type, const char *at,
			 struct place *place)
{
	size_t size = strcspn(at, ".");
	for (;;) {
		struct place taken = *place;
		bool is_there = take_step(runtime, type, at, size, &taken);
		bool is_opaque = taken.element_type == ELEMENT_VALUE && !taken.field_type;
		if (is_there && !(is_opaque && at[size])) {
			*place = taken;
			return size;
		}
		if (!at[size])
			return 0;
		size += 1 + strcspn(at + size + 1, ".");
	}
}

/* Follow a path through structs up to its end, or to the first reference. */
static struct place find_place(struct runtime *runtime, const struct type *type, const char *path)
{
	struct place place = { .type = type, .path = path };
	const struct type *within = type;
	const char *at = path;
	for (unsigned int i = 0; i < STEPS_MAX && within; i++) {
		size_t size = take_steps(runtime, within, at, &place);
		if (!size)
			return place;
		at += size;
		if (*at == '.')
			at++;
		within = place.element_type == ELEMENT_VALUE ? place.field_type : NULL;
		if (!*at || !within) {
			place.is_there = !*at || element_is_reference(place.element_type);
			break;
		}
	}
	place.taken = (uint16_t)(at - path);
	return place;
}

static void remember_place(struct members *members, const struct place *place)
{
	if (members->count < members->slots / 2 || grow_places(members)) {
		*place_slot(members, place->type, place->path) = *place;
		members->count++;
	}
}

static struct place remembered_place(struct members *members, const struct type *type,
				     const char *path)
{
	struct place *slot = place_slot(members, type, path);
	if (slot->type)
		return *slot;
	struct place place = find_place(members->heap->runtime, type, path);
	remember_place(members, &place);
	return place;
}

static struct member no_member(enum member_state state)
{
	return (struct member){ .state = (uint8_t)state };
}

static struct member read_place(struct members *members, const struct place *place, uint64_t base)
{
	struct member member = { .address = base + place->offset,
				 .type = place->field_type,
				 .element_type = place->element_type };
	unsigned int size = element_size(place->element_type);
	const uint8_t *bytes = window_at(&members->window, member.address, size ? size : 1, NULL);
	if (!bytes)
		return no_member(MEMBER_UNREADABLE);
	for (unsigned int i = 0; i < size; i++)
		member.bits |= (uint64_t)bytes[i] << 8 * i;
	return member;
}

struct member member_of_struct(struct members *members, const struct type *type, uint64_t address,
			       const char *path)
{
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		struct place place = remembered_place(members, type, path);
		if (!place.is_there)
			return no_member(MEMBER_ABSENT);
		struct member member = read_place(members, &place, address);
		path += place.taken;
		if (member.state != MEMBER_READ || !*path)
			return member;
		struct object object;
		if (!member.bits)
			return no_member(MEMBER_NULL);
		if (!member_object(members, member.bits, &object))
			return no_member(MEMBER_UNREADABLE);
		type = object.type;
		address = object.address + OBJECT_FIELDS;
	}
	return no_member(MEMBER_ABSENT);
}

/* Without metadata, nothing can be said to be absent. */
static bool are_named(const struct field_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!field_is_named(&list->rows[i]))
			return false;
	}
	return true;
}

static bool has_field_names(struct runtime *runtime, const struct type *type)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (field_list_read(runtime, type, &list, NULL) != HD_OK)
		return false;
	bool has = are_named(&list);
	return has;
}

bool type_is_a(struct runtime *runtime, const struct type *type, enum net_type of)
{
	for (unsigned int i = 0; type && i < PARENTS_MAX; i++) {
		size_t size;
		const char *name = type_name(runtime, type, &size);
		if (net_type_is(of, name, size))
			return true;
		type = type->parent ? type_find(runtime, type->parent) : NULL;
	}
	return false;
}

/* Other types are asked for the field, too; whether one has to have it is remembered under the row's address. */
static void note_absent(struct members *members, const struct type *type, enum fact fact)
{
	struct heap *heap = members->heap;
	const char *key = (const char *)fact_row(fact);
	if (fact_ledger_has(heap->facts.absent, fact) || place_slot(members, type, key)->type)
		return;
	if (type_is_a(heap->runtime, type, fact_row(fact)->type) &&
	    has_field_names(heap->runtime, type))
		fact_ledger_add(heap->facts.absent, fact);
	remember_place(members, &(struct place){ .type = type, .path = key });
}

static void note_found(struct heap *heap, enum fact fact)
{
	if (!fact_ledger_has(heap->facts.found, fact))
		fact_ledger_add(heap->facts.found, fact);
}

struct member fact_of_struct(struct members *members, const struct type *type, uint64_t address,
			     enum fact fact)
{
	struct member member = member_of_struct(members, type, address, fact_row(fact)->path);
	if (member.state == MEMBER_ABSENT) {
		note_absent(members, type, fact);
	} else {
		note_found(members->heap, fact);
	}
	return member;
}

struct member fact_of(struct members *members, const struct object *object, enum fact fact)
{
	return fact_of_struct(members, object->type, object->address + OBJECT_FIELDS, fact);
}

struct member member_of(struct members *members, const struct object *object, const char *path)
{
	return member_of_struct(members, object->type, object->address + OBJECT_FIELDS, path);
}

struct member member_at(struct members *members, uint64_t address, const char *path)
{
	struct object object;
	if (!address)
		return no_member(MEMBER_NULL);
	if (!member_object(members, address, &object))
		return no_member(MEMBER_UNREADABLE);
	return member_of(members, &object, path);
}

struct member fact_at(struct members *members, uint64_t address, enum fact fact)
{
	struct object object;
	if (!address)
		return no_member(MEMBER_NULL);
	if (!member_object(members, address, &object))
		return no_member(MEMBER_UNREADABLE);
	return fact_of(members, &object, fact);
}

/* The slot of a static struct refers to its box. */
static struct member static_member(struct members *members, const struct field *field,
				   uint64_t address)
{
	struct place place = { .field_type = field->type, .element_type = field->element_type };
	if (!address)
		return no_member(MEMBER_NULL);
	if (field->element_type != ELEMENT_VALUE || field->is_rva)
		return read_place(members, &place, address);
	const uint8_t *bytes = window_at(&members->window, address, 8, NULL);
	if (!bytes)
		return no_member(MEMBER_UNREADABLE);
	uint64_t box = load_u64(bytes);
	return box ? read_place(members, &place, box + OBJECT_FIELDS) : no_member(MEMBER_NULL);
}

static const struct field *static_field(const struct field_list *list, const char *name)
{
	for (size_t i = list->count; i-- > 0;) {
		const struct field *field = &list->rows[i];
		if (field->is_static && !field->is_thread_static && strcmp(field->name, name) == 0)
			return field;
	}
	return NULL;
}

struct member member_static(struct members *members, const char *type_name, const char *name)
{
	struct runtime *runtime = members->heap->runtime;
	const struct type *type = type_by_name(runtime, type_name, 0);
	struct field_list list;
	if (!type || field_list_read(runtime, type, &list, NULL) != HD_OK)
		return no_member(MEMBER_ABSENT);
	struct member member = no_member(MEMBER_ABSENT);
	const struct field *field = static_field(&list, name);
	if (field) {
		bool is_initialised;
		member = static_member(members, field,
				       field_static_address(runtime, field, &is_initialised));
	}
	field_list_deinit(&list);
	return member;
}

/* The types of objects that only one static field holds. */
static const struct {
	enum fact fact;
	enum net_type type;
	bool is_array; /* of such objects */
} only_holders[] = {
	{ FACT_PORTABLE_POOL_ONE, NET_PORTABLE_POOL, false },
	{ FACT_POOL_WORK, NET_WORK_QUEUE, false },
	{ FACT_TIMER_QUEUES, NET_TIMER_QUEUE, true },
	{ FACT_LOCAL_QUEUES_ALL, NET_LOCAL_QUEUE, true },
	{ FACT_LOCAL_QUEUES_ALL_8, NET_LOCAL_QUEUE, true },
	{ FACT_HILL_CLIMBER, NET_HILL_CLIMBING, false },
};

static bool is_of(struct runtime *runtime, const struct type *type, enum net_type of, bool is_array)
{
	size_t size;
	const char *name = type_name(runtime, type, &size);
	if (!is_array)
		return net_type_is(of, name, size);
	return size > 2 && memcmp(name + size - 2, "[]", 2) == 0 && net_type_is(of, name, size - 2);
}

/* Where static fields have no names, the object in one may tell which it is. */
static struct member find_holder(struct members *members, const struct static_slots *slots,
				 enum net_type of, bool is_array)
{
	struct runtime *runtime = members->heap->runtime;
	for (size_t i = 0; i < slots->rows_count; i++) {
		struct object object;
		uint64_t value = 0, at = slots->rows[i].address;
		if (slots->rows[i].thread == UINT32_MAX &&
		    memory_u64(members->heap->memory, at, &value) &&
		    member_object(members, value, &object) &&
		    is_of(runtime, object.type, of, is_array)) {
			return (struct member){ .address = at,
						.bits = value,
						.type = object.type,
						.element_type = ELEMENT_CLASS };
		}
	}
	return no_member(MEMBER_ABSENT);
}

static struct member static_by_its_object(struct members *members, enum fact fact)
{
	struct runtime *runtime = members->heap->runtime;
	struct member member = no_member(MEMBER_ABSENT);
	for (size_t i = 0; i < sizeof(only_holders) / sizeof(only_holders[0]); i++) {
		struct static_slots slots;
		if (only_holders[i].fact != fact ||
		    runtime_capabilities(runtime) & RUNTIME_METADATA ||
		    static_slots_read(runtime, NULL, &slots, NULL) != HD_OK)
			continue;
		member = find_holder(members, &slots, only_holders[i].type,
				     only_holders[i].is_array);
		static_slots_deinit(&slots);
	}
	return member;
}

struct member fact_static(struct members *members, enum fact fact)
{
	const struct fact_row *row = fact_row(fact);
	const char *name = net_type_name(row->type);
	struct member member = member_static(members, name, row->path);
	if (member.state == MEMBER_ABSENT)
		member = static_by_its_object(members, fact);
	const struct type *type = type_by_name(members->heap->runtime, name, 0);
	if (member.state != MEMBER_ABSENT) {
		note_found(members->heap, fact);
	} else if (type) {
		note_absent(members, type, fact);
	} else {
		fact_ledger_add(members->heap->facts.types, row->type);
	}
	return member;
}

struct member fact_in_list(struct heap *heap, const struct object *object,
			   const struct field_list *list, enum fact fact)
{
	const struct field *field = field_by_name(list, fact_row(fact)->path);
	if (!field) {
		if (!fact_ledger_has(heap->facts.absent, fact) && are_named(list) &&
		    type_is_a(heap->runtime, object->type, fact_row(fact)->type))
			fact_ledger_add(heap->facts.absent, fact);
		return no_member(MEMBER_ABSENT);
	}
	struct member member = { .address = object->address + OBJECT_FIELDS + field->offset,
				 .type = field->type,
				 .element_type = field->element_type };
	note_found(heap, fact);
	unsigned int size = element_size(field->element_type);
	uint8_t bytes[8];
	if (!memory_read(heap->memory, member.address, bytes, size))
		return no_member(MEMBER_UNREADABLE);
	for (unsigned int i = 0; i < size; i++)
		member.bits |= (uint64_t)bytes[i] << 8 * i;
	return member;
}
