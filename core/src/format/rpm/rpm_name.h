/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_RPM_NAME_H
#define HEAPDUMP_SRC_FORMAT_RPM_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/text.h"

/*
 * Names in the text log end with their line, so a writer has to write a line break as \u000a, and
 * other control characters alike: the file may go to a terminal.  The same escape (backslash, "u00",
 * two hex digits below a0) serves what a reader would otherwise strip or take for something else: a
 * blank at either end, a last word that looks like a timestamp, and a backslash that begins such an
 * escape.  Readers turn it back.
 */

/** Copy a name as it stands in a file into @p arena, escapes resolved; false: out of memory. */
bool rpm_name_copy(struct arena *arena, const char *bytes, size_t size, const char **ret,
		   uint32_t *ret_size);

/**
 * Append a name as a file holds it.
 *
 * @param time_follows A timestamp stands behind it, or the name is a type's: its last word needs
 * no care.
 */
void rpm_name_write(struct text *text, const char *name, size_t size, bool time_follows);

#endif
