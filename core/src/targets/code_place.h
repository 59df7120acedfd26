/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"
#include "util/text.h"

/**
 * Append where the code at @p ip is: "libc.so.6!poll+0x1f" if a function of the library contains it
 * (one that is exported, or one of its symbol files: see symbol_files_of()), else "libc.so.6+0x9a1f3", the address in its symbol table; where its base is not
 * known the offset in its file.  Nothing is appended where no file is mapped.
 *
 * @param folder The user's folder of symbols; NULL: options.symbols.
 * @param is_active The code at @p ip runs; otherwise a call ends in front of it.
 * @param[in,out] budget Bytes of symbol tables that may be read.
 */
void target_code_place(struct target *target, const char *folder, uint64_t ip, bool is_active,
		       uint64_t *budget, struct text *text);
