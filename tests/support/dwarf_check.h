/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/text.h"

/** Entries of a unit, and the sections that they refer to. */
struct dwarf_sections {
	const struct text *info, *locations, *ranges;
	size_t begin; /**< of the first entry in info; references are relative to its beginning */
};

/** The entries, counted. */
struct dwarf_counts {
	size_t entries, structs, variables;
};

/**
 * Are the entries well-formed?  Each has an abbreviation and all its bytes, entries end in each other, strings have an end and
 * no control characters, references lead to entries of types, lists of places and ranges end and ascend, members are in their
 * structs, and no struct holds itself.
 *
 * @return NULL, or what is wrong
 */
const char *dwarf_check(const struct dwarf_sections *sections, struct dwarf_counts *ret);
