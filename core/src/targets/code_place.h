/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGETS_CODE_PLACE_H
#define HEAPDUMP_SRC_TARGETS_CODE_PLACE_H

#include "targets/target.h"
#include "util/text.h"

/**
 * Append the name of the library that has the code at @p ip, without folders, and the place in it:
 * "libc.so.6+0x9a1f3".  The place is the address in the library's symbol table where its base is
 * known, else the offset in its file.  Nothing is appended where no file is mapped.
 */
void target_code_place(const struct target *target, uint64_t ip, struct text *text);

#endif
