/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/modules/module.h"
#include "util/text.h"

/** Most UTF-16 units of a string of the program that are written. */
#define TOKEN_STRING_UNITS 1024u

/**
 * Append what a metadata token stands for in @p module: a type, "Ns.Type.Method",
 * "Ns.Type.Field", or a string of the program in quotes.
 *
 * @return false, with nothing appended: the metadata have no such row, or no name for it
 */
bool token_name(struct runtime *runtime, const struct module *module, uint32_t token,
		struct text *text);
