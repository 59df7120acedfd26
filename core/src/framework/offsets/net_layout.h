/* SPDX-License-Identifier: MIT */
/*
 * Where the framework's types have their fields in a program that was compiled ahead of time, which has no
 * metadata about them: doc/nativeaot.md 7.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How the compiler lays out the fields of a type. */
enum net_layout_kind {
	NET_CLASS,           /**< references first, then by size */
	NET_CLASS_IN_ORDER,  /**< as declared, unless there are references */
	NET_CLASS_EXPLICIT,  /**< each field says its offset */
	NET_STRUCT,          /**< as NET_CLASS */
	NET_STRUCT_IN_ORDER, /**< as NET_CLASS_IN_ORDER */
	NET_STRUCT_EXPLICIT, /**< as NET_CLASS_EXPLICIT */
	NET_STRUCT_INLINE,   /**< an array of size elements, of which the field is the first */
};

/**
 * The fields that a type declares, in the order of its metadata: "name code;name code".  A code is
 *
 *	o        a reference
 *	z ... p  a number: see net_code_size()
 *	!1       the second type argument
 *	v16,8    a struct of 16 bytes, aligned to 8; w16,8: one that has references
 *
 * and @4 after it the offset, for a type that says it.  The fields of a struct come after it, with +, their
 * whole path, and their offset in it: "+_outer._inner l@8".
 */
struct net_layout_row {
	const char *name; /**< as in metadata */
	const char *fields;
	uint32_t size;       /**< bytes at least; NET_STRUCT_INLINE: how many elements */
	uint8_t first, last; /**< releases of .NET */
	uint8_t kind;        /**< enum net_layout_kind */
	uint8_t pack;        /**< most that a field is aligned to, 0 = no limit */
};

/** A type argument, as far as it decides where fields are. */
struct net_value {
	uint32_t size, align;
	char code; /**< of a reference or number; 0: a struct */
	bool has_references;
};

/** Most fields of one type; a unit test proves that no row has more. */
#define NET_FIELDS_MAX 256u

/** A field, and where it is. */
struct net_field {
	const char *name; /**< of its row: not ended by a zero */
	uint32_t name_size;
	uint32_t offset; /**< from the object, or from the begin of the struct */
	uint32_t size;
	char code;        /**< that of a type argument is '!' and then in argument */
	uint8_t argument; /**< of code '!' */
	bool is_inside;   /**< a field of the struct before it */
};

/** The fields of a type. */
struct net_layout {
	struct net_field fields[NET_FIELDS_MAX];
	size_t count;
	uint32_t end;  /**< behind the last byte of the last field */
	uint32_t size; /**< of a struct: its size; else end */
	uint32_t align;
	bool has_references;
};

/**
 * Is @p name that of the type that metadata calls @p known ("Ns.Outer`1+Inner")?  @p name may have type
 * arguments ("Ns.Outer<A>+Inner").
 */
bool net_name_is(const char *known, const char *name, size_t size);

/**
 * The row of a type of that name in .NET @p release, of which there may be several, one of each
 * assembly: @p index counts them.  NULL: there are no more.
 */
const struct net_layout_row *net_layout_find(const char *name, size_t size, unsigned int release,
					     unsigned int index);

/** Row @p index of all, for tests; NULL: there are no more. */
const struct net_layout_row *net_layout_at(size_t index);

/** Bytes of a value with that code; 0: it is none of a reference or number. */
uint32_t net_code_size(char code);

/**
 * Lay out the fields that @p row declares, as the compiler does.
 *
 * @param arguments the type arguments
 * @param begin where those of the base class end; 0 for a struct
 * @return false: an argument is missing, or is too large
 */
bool net_layout_make(const struct net_layout_row *row, const struct net_value *arguments,
		     size_t arguments_count, uint32_t begin, struct net_layout *ret);
