/* SPDX-License-Identifier: MIT */
#pragma once

#include "metadata/pdb.h"
#include "runtime/coreclr/modules/module.h"

/**
 * Find and read the portable PDB of @p module: in @p symbols, or next to the module's file, if that
 * file is proven to be the one that the target had.  Only a PDB with the id that the module's debug
 * directory has is taken (doc/coreclr.md 12.14).  If there is none, a finding says why, unless
 * there is simply no such file.
 *
 * @param symbols A folder, laid out as a symbol store or not at all; NULL: none.
 * @param[in,out] budget Bytes of PDBs that may be read, of which those that were are taken off.
 * @return to be given to pdb_destroy(); NULL: there is none, or memory is exhausted
 */
struct pdb *module_pdb_open(struct runtime *runtime, const struct module *module,
			    const char *symbols, uint64_t *budget);
