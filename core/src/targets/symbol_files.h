/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/debug_bytes.h"
#include "targets/function_names.h"

/** The symbol tables of the files of modules, each looked up once. */

struct symbol_files *symbol_files_create(void);
/** NULL is allowed. */
void symbol_files_destroy(struct symbol_files *files);

/**
 * The functions of @p module, also those that it does not export.
 *
 * They come from the first of these files that has .symtab, and the build-id that the module has in
 * the target; without one, from the first that has .dynsym:
 *
 * 1. below @p folder: .build-id/12/34....debug, the name of the module with ".debug", with ".dbg" or
 *    alone, and what symbol stores and caches make of the build-id,
 * 2. unless options.no_files is set, below options.sysroot: the module's own file,
 *    /usr/lib/debug/.build-id/12/34....debug, and the file that .gnu_debuglink of the own file
 *    names, if its CRC is right: next to the file, in .debug there, and below /usr/lib/debug.
 *
 * A file of @p folder that has the name and not the build-id becomes a finding.
 *
 * @param path Where the module's file is mapped from.
 * @param folder The user's folder of symbols, or NULL; what was found in another one is forgotten.
 * @param[in,out] budget Bytes of symbol tables that may be read.
 * @return valid until the next call; NULL: there is no such file
 */
const struct function_names *symbol_files_of(struct target *target,
					     const struct target_module *module, const char *path,
					     const char *folder, uint64_t *budget);

/**
 * The first of the files of symbol_files_of() that has a section .debug_info.  A file of the user's folder, or one that
 * .gnu_debuglink of the module's own file names, that has the name and not the build-id becomes a finding.
 *
 * @param budget Bytes that may be read.
 * @param[out] ret To be given to debug_bytes_deinit(); the memory limit of @p target counts
 * @return false: there is none
 */
bool symbol_files_debug(struct target *target, const struct target_module *module, const char *path,
			uint64_t budget, struct debug_bytes *ret);
