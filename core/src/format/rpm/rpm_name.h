/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/text.h"

/*
 * Names in the text log end with their line, so a writer has to write a line break as \u000a, and
 * all else that nobody sees in the same way, as the file may be shown on a terminal: \u202e, or
 * \u{e0041} beyond U+FFFF.  The same escape is used for what a reader would otherwise remove or
 * misunderstand: a space at either end, a last word that looks like a timestamp, and a backslash that
 * begins such an escape.  Readers decode it.
 */

/** Copy a name from a file into @p arena and decode its escapes; false: memory is exhausted. */
bool rpm_name_copy(struct arena *arena, const char *bytes, size_t size, const char **ret,
		   uint32_t *ret_size);

/**
 * Append a name in the form that a file has.
 *
 * @param time_follows A timestamp follows it, or the name is that of a type: its last word needs no
 * escape.
 */
void rpm_name_write(struct text *text, const char *name, size_t size, bool time_follows);
