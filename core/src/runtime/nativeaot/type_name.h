/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/native_metadata.h"
#include "util/text.h"

struct nativeaot;

/** Most bytes of a name; a longer one is cut, and ends with "...". */
#define AOT_NAME_MAX 4096u

/** How types are written inside of a name. */
enum aot_name_style {
	AOT_NAME_FULL, /**< Ns.Outer+Inner<System.Int32> */
	AOT_NAME_PARAMETER, /**< the same, but Int32 and other primitive types without System, and "T ByRef" */
};

/** Append the name of the type at @p method_table. */
void aot_table_name(const struct nativeaot *aot, uint64_t method_table, struct text *text);
/** Append the name of a type or signature in the metadata. */
void aot_handle_name(const struct nativeaot *aot, struct native_handle handle,
		     enum aot_name_style style, struct text *text);
