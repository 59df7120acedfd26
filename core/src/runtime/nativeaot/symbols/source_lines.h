/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "runtime/source_line.h"

struct aot_symbols;
struct runtime;
struct source_lines;
struct target;

/**
 * The line of the instruction at the address @p place in the file, out of the line table of the program's symbols
 * (doc/nativeaot.md 9.4).  The first time, the table is read.  The memory limit of @p target counts.
 */
bool source_line_find(struct target *target, struct aot_symbols *symbols, uint64_t place,
		      struct source_line *ret);
/** NULL is allowed. */
void source_lines_destroy(struct source_lines *lines);
