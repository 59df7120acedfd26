/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/native_metadata.h"
#include "util/text.h"

struct nativeaot;

/** Most bytes of a name; a longer one is cut, and ends with "...". */
#define AOT_NAME_MAX 16384u

/**
 * A few MethodTables can have names that double in length with each level.  Bytes and steps above the usual limit are
 * counted for the whole runtime; when they exceed AOT_NAME_EXTRA_MAX, all further names are cut at the usual limit.
 */
#define AOT_NAME_USUAL     1024u
#define AOT_NAME_EXTRA_MAX ((uint64_t)16 << 20)

/** How types are written inside of a name. */
enum aot_name_style {
	AOT_NAME_FULL, /**< Ns.Outer+Inner<System.Int32> */
	AOT_NAME_PARAMETER, /**< the same, but Int32 and other primitive types without System, and "T ByRef" */
};

/** Append the name of the type at @p method_table. */
void aot_table_name(struct nativeaot *aot, uint64_t method_table, struct text *text);
/** Append the name of a type or signature in the metadata. */
void aot_handle_name(struct nativeaot *aot, struct native_handle handle, enum aot_name_style style,
		     struct text *text);
