/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/* Reads the ELF images of a target. */

/**
 * Look up an exported symbol by the GNU hash table of @p module.
 *
 * @param[out] ret_address absolute; @param[out] ret_size st_size (may be NULL)
 * @return false when there is none or the tables cannot be read
 */
bool target_symbol(const struct target *target, const struct target_module *module,
		   const char *name, uint64_t *ret_address, uint64_t *ret_size);

#define SYMBOL_NAME_MAX 255u

/**
 * The exported function of @p module that contains the code at @p address.
 *
 * @param[in,out] budget Bytes of symbol tables that may be read, of which those that were are taken
 * off.
 * @param[out] ret_name,ret_address Untouched on failure.
 * @return false when there is none, or the tables cannot be read, or the budget is spent
 * Cost: linear in the symbols of the module.
 */
bool target_symbol_at(const struct target *target, const struct target_module *module,
		      uint64_t address, uint64_t *budget, char ret_name[SYMBOL_NAME_MAX + 1],
		      uint64_t *ret_address);

/**
 * The pointer at @p address in @p module's data; when its page is not in the core, the file's
 * bytes with the module's RELATIVE relocations (RELA, RELR) applied.
 */
bool target_module_pointer(const struct target *target, const struct target_module *module,
			   uint64_t address, uint64_t *ret);

/** Build-id of an ELF image (PT_NOTE) as lower-case hex; false when it cannot be read. */
bool target_build_id(const struct target *target, const struct target_module *module, char *buf,
		     size_t size);

/** musl's dynamic linker, which is its C library, too; NULL: the program uses another one. */
const struct target_module *target_musl(const struct target *target);
