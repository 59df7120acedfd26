/* SPDX-License-Identifier: MIT */
#include "type_names.h"

#include <stdbool.h>

#include "runtime.h"

#define TYPE_IS_ARRAY 8u   /* of the flags of an event */
#define PIECES_MOST   256u /* of a name that wait for their turn */
#define RANK_MOST     32u

/* A part of a name: a type, or one unit of text. */
struct piece {
	uintptr_t type;
	uint16_t unit;
};

/* A name that is being put together. */
struct name {
	uint16_t *text;
	size_t used; /* less than TYPE_NAME_UNITS: room for the end */
	struct piece pieces[PIECES_MOST];
	size_t count; /* the last one is next */
};

static void add_unit(struct name *name, uint16_t unit)
{
	if (name->used + 1 < TYPE_NAME_UNITS)
		name->text[name->used++] = unit;
}

/* Pieces that do not fit are left out. */
static void push_type(struct name *name, uintptr_t type)
{
	const struct piece piece = { type, '?' };
	if (name->count < PIECES_MOST)
		name->pieces[name->count++] = piece;
}

static void push_unit(struct name *name, uint16_t unit)
{
	const struct piece piece = { 0, unit };
	if (name->count < PIECES_MOST)
		name->pieces[name->count++] = piece;
}

/* The name of an array is the element's name, then the brackets. */
static void push_array(struct name *name, const struct runtime_array *array)
{
	push_unit(name, ']');
	for (uint32_t i = 1; i < array->rank && i < RANK_MOST; i++)
		push_unit(name, ',');
	push_unit(name, '[');
	push_type(name, array->element);
}

/* Add the name of a class; its arguments come next. */
static bool add_class(struct name *name, const struct runtime_class *class)
{
	uint16_t text[TYPE_NAME_UNITS];
	if (!runtime_type_name(class->module, class->token, text, TYPE_NAME_UNITS))
		return false;
	for (size_t i = 0; text[i]; i++)
		add_unit(name, text[i]);
	if (class->count)
		push_unit(name, ']');
	for (uint32_t i = class->count; i-- > 0;) {
		push_type(name, class->arguments[i]);
		push_unit(name, i ? ',' : '[');
	}
	return true;
}

/* Add a type; false: it has no name. */
static bool add_type(struct name *name, uintptr_t type)
{
	struct runtime_array array;
	struct runtime_class class;
	if (runtime_array(type, &array)) {
		push_array(name, &array);
		return true;
	}
	return runtime_class(type, &class) && add_class(name, &class);
}

void type_names_ask(uintptr_t type, struct type_about *ret)
{
	struct name name = { .text = ret->name };
	struct runtime_array array;
	struct runtime_class class;
	ret->module = 0;
	ret->token = ret->flags = 0;
	if (runtime_array(type, &array)) {
		ret->flags = TYPE_IS_ARRAY;
	} else if (runtime_class(type, &class)) {
		ret->module = class.module;
		ret->token = class.token;
	}
	bool is_named = add_type(&name, type);
	while (name.count && name.used + 1 < TYPE_NAME_UNITS) {
		struct piece piece = name.pieces[--name.count];
		if (!piece.type || !add_type(&name, piece.type))
			add_unit(&name, piece.unit);
	}
	ret->name[is_named ? name.used : 0] = 0;
}
