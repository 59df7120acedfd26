/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/symbols/dwarf_file.h"
#include "util/fail.h"

/* The types, fields and static fields of the compiler's unit, out of its entries (doc/nativeaot.md 9.2). */

enum dwarf_kind {
	DWARF_CLASS, /**< also a struct, or an array */
	DWARF_NUMBER,
	DWARF_ENUM,
	DWARF_POINTER,
	DWARF_REFERENCE,
	DWARF_ELEMENTS, /**< elements behind each other: of an array, or in a struct */
};

/** A type. */
struct dwarf_type {
	uint32_t offset; /**< of its entry in .debug_info */
	uint32_t target; /**< entry of what it is made of; of a class: of its base class; 0: none */
	uint32_t size;   /**< in bytes; of elements: how many there are */
	uint32_t first, count; /**< its members */
	uint8_t kind;          /**< enum dwarf_kind */
	uint8_t encoding;      /**< DW_ATE_ of a number */
	bool is_declaration;   /**< a class whose members another entry has */
	bool has_base;
	const char *name; /**< as the compiler has mangled it; "": it has none */
};

/** A member of a class. */
struct dwarf_member {
	const char *name;
	uint32_t offset; /**< of its entry */
	uint32_t type;   /**< entry of its type */
	uint32_t place;  /**< bytes from the object, or from the begin of a struct */
	bool is_static;  /**< it has no place */
};

/** The place that the compiler tells for a static field, whose name is not right (doc/nativeaot.md 9.3). */
struct dwarf_static {
	uint32_t member;  /**< entry of the member that it names */
	uint32_t type;    /**< index of the class in rows */
	uint64_t address; /**< as in the file, without a bias */
	uint32_t offset;  /**< from there, or from the object that the word there leads to */
	uint8_t kind;     /**< enum dwarf_static_kind */
};

enum dwarf_static_kind {
	DWARF_IN_PLACE,  /**< at the address */
	DWARF_IN_HOLDER, /**< in the object that a cell leads to */
	DWARF_ELSEWHERE, /**< not known */
};

struct dwarf_function {
	uint64_t begin, end; /**< as in the file, without a bias */
	uint32_t offset;     /**< of its entry */
};

struct dwarf_types {
	struct dwarf_type *rows; /**< ascending by offset */
	size_t rows_count, rows_capacity;
	struct dwarf_member *members; /**< ascending by offset */
	size_t members_count, members_capacity;
	struct dwarf_static *statics; /**< in the order of the file */
	size_t statics_count, statics_capacity;
	struct dwarf_function *functions; /**< ascending by begin */
	size_t functions_count, functions_capacity;
	/** Classes that have members, by the hash of their name. */
	uint64_t *hashes;
	uint32_t *order;
	size_t definitions;
};

struct job;
/**
 * Read all entries of the unit.
 *
 * @param target Its memory limit counts.
 * @param[out] ret To be given to dwarf_types_deinit(); names belong to @p file
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status dwarf_types_read(struct target *target, struct dwarf_file *file,
					     struct dwarf_types *ret, struct hd_error *err);
void dwarf_types_deinit(struct dwarf_types *types);

/** The type whose entry is at @p offset; of a class that is only declared, the one with its members.  NULL: none. */
const struct dwarf_type *dwarf_type_at(const struct dwarf_types *types, uint32_t offset);
/** The class with that mangled name; NULL: there is none. */
const struct dwarf_type *dwarf_class_by_name(const struct dwarf_types *types, const char *name);
/** The function with the instruction at @p place, as in the file; NULL: none. */
const struct dwarf_function *dwarf_function_at(const struct dwarf_types *types, uint64_t place);
/** A hash of a name. */
uint64_t dwarf_name_hash(const char *name);
