/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"
#include "runtime/source_line.h"

/**
 * Look up PDBs in the folder @p symbols from now on, too (module_pdb_open()); NULL: in the one that
 * the target was opened with, if any.  If that is another folder than before, PDBs that were looked
 * up in vain are looked up again, and lines that were given are not valid any more.
 */
void runtime_symbols_set(struct runtime *runtime, const char *symbols);

/**
 * The line of the instruction at @p place in the code of @p method_desc (doc/coreclr.md 12.13,
 * 12.14).  The first time, the PDB of the method's module is looked up and read.
 *
 * @param place An address inside the instruction: of a call, its return address - 1.
 * @return false when there is no PDB, or when it or the runtime does not tell; *@p ret is untouched
 */
bool runtime_source_line(struct runtime *runtime, uint64_t method_desc, uint64_t place,
			 struct source_line *ret);

/**
 * The line of the await that an async method is at (doc/coreclr.md 12.14).
 *
 * @param machine Type of its state machine.
 * @param state The number of the await, from 0.
 * @return false when there is no PDB, or when it does not tell; *@p ret is untouched
 */
struct type;
bool runtime_await_line(struct runtime *runtime, const struct type *machine, uint32_t state,
			struct source_line *ret);

/**
 * The PDB of @p module, looked up once; NULL: there is none, or memory is exhausted.  Borrowed, as
 * long as lines of runtime_source_line() are.
 *
 * @param[out] ret_budget Bytes that look-ups in PDBs and debug info may still decode.
 */
struct module;
struct pdb;
struct pdb *runtime_pdb(struct runtime *runtime, const struct module *module,
			uint64_t **ret_budget);

/** Bytes that look-ups in PDBs and debug info may still decode; NULL: memory is exhausted. */
uint64_t *coreclr_debug_budget(struct runtime *runtime);

/** Free what runtime_source_line() has kept (runtime_destroy() does). */
struct source_cache;
void source_cache_destroy(struct source_cache *cache);
