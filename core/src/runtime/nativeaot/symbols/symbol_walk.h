/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/symbols/dwarf_types.h"

/* The fields of a class or struct one after the other, also those inside of the structs in it. */

/** Structs in structs that are followed. */
#define SYMBOL_DEPTH_MAX 12u

struct symbol_level {
	const struct dwarf_type *type;
	uint32_t next; /**< the member that comes next */
	uint32_t base; /**< where the struct begins */
	uint32_t elements,
		element; /**< of an inline array: how many elements, and which comes next */
};

struct symbol_walk {
	const struct dwarf_types *types;
	struct symbol_level levels[SYMBOL_DEPTH_MAX];
	unsigned int depth;
	uint32_t budget; /**< steps that are left */
	bool is_bad;     /**< something is not known, or there is too much of it */
	/* The field that was found: */
	const struct dwarf_member *member;
	const struct dwarf_type *member_type; /**< NULL: not known */
	uint32_t place;                       /**< from the begin of the first struct or object */
};

/** Begin with the members that @p type itself has. */
void symbol_walk_begin(struct symbol_walk *walk, const struct dwarf_types *types,
		       const struct dwarf_type *type);
/** The next field; false: there is none, or is_bad.  A struct comes first, and what is in it after symbol_walk_enter(). */
bool symbol_walk_next(struct symbol_walk *walk);
/** Go on with what is in the struct that was found. */
void symbol_walk_enter(struct symbol_walk *walk);

/** Is it a struct, whose fields are in place? */
bool symbol_is_struct(const struct dwarf_type *type);
/** The element type of a value of @p type: ELEMENT_VALUE for a struct; 0: not known. */
uint8_t symbol_element(const struct dwarf_types *types, const struct dwarf_type *type);
/** How many bytes a value has; 0: not known. */
uint32_t symbol_size(const struct dwarf_type *type);
