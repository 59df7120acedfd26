/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/symbols/dwarf_file.h"
#include "util/fail.h"

/* The symbols of MethodTables: they say which class of the DWARF each is (doc/nativeaot.md 9.2). */

struct type_symbol {
	uint64_t address; /**< as in the file, without a bias */
	const char *name; /**< the class, as the compiler has mangled it; belongs to the file */
};

/** Symbols of one kind. */
struct symbol_list {
	struct type_symbol *rows; /**< ascending by address */
	size_t count;
	uint64_t *hashes; /**< of the names, ascending */
	uint32_t *order;  /**< the row of each */
};

struct type_symbols {
	struct symbol_list tables;  /**< MethodTables */
	struct symbol_list threads; /**< words that say where the thread statics of a class are */
};

/**
 * Read them.
 *
 * @param target Its memory limit counts.
 * @param[out] ret To be given to type_symbols_deinit(); empty if there is no symbol table.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status type_symbols_read(struct target *target, const struct dwarf_file *file,
					      struct type_symbols *ret, struct hd_error *err);
void type_symbols_deinit(struct type_symbols *symbols);

/** The mangled name of the class whose MethodTable is at @p address; NULL: there is none. */
const char *type_symbol_at(const struct type_symbols *symbols, uint64_t address);
/** Address of the symbol of @p list for the class with that mangled name; 0: there is none. */
uint64_t symbol_by_name(const struct symbol_list *list, const char *name);
