/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/symbols/symbols.h"

struct field;
struct runtime_thread;
struct text;

/* The static fields of the program by its symbols, whose names the compiler has permuted (doc/nativeaot.md 9.3). */

/** A static field, or the value of one in a thread's object. */
struct symbol_static {
	uint64_t
		place; /**< address; of a thread static: offset in the object with a thread's static fields */
	uint32_t size;   /**< in bytes */
	uint32_t offset; /**< in the object that holds it, or from the first one of its class */
	uint32_t type, member; /**< index of the class, and of the member, in struct dwarf_types */
};

struct symbol_statics {
	struct symbol_static *fields; /**< ascending by place */
	size_t fields_count, fields_capacity;
	struct symbol_static *thread_fields; /**< the same of thread statics */
	size_t thread_fields_count, thread_fields_capacity;
	uint32_t *of_member; /**< for each member of struct dwarf_types: see symbol_static_of() */
	uint32_t refused;    /**< classes whose fields do not agree with what is there */
};

/** Find them, once; NULL: there are no symbols, or memory is exhausted. */
const struct symbol_statics *symbol_statics(struct runtime *runtime);
void symbol_statics_destroy(struct symbol_statics *statics);

/**
 * The static field around @p place.
 *
 * @param is_thread @p place is an offset in an object with a thread's static fields
 * @param[out] ret_index,ret_offset which of the list it is, and where in it
 * @return NULL: it is not known
 */
const struct symbol_static *symbol_static_at(const struct symbol_statics *statics, bool is_thread,
					     uint64_t place, uint32_t *ret_index,
					     uint32_t *ret_offset);
/** Where member number @p member of struct dwarf_types is; NULL: it is not known. */
const struct symbol_static *symbol_static_of(const struct symbol_statics *statics, size_t member,
					     bool *ret_is_thread);
/** Append "Class.field", or "Class.field.part" where @p offset leads into a struct. */
void symbol_static_name(struct runtime *runtime, const struct symbol_static *field, uint32_t offset,
			struct text *text);
