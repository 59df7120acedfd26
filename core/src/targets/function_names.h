/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/elf_file.h"
#include "targets/target.h"

/** The functions in the symbol table of an ELF file. */
struct function_names {
	struct function_row {
		uint64_t begin, end; /**< as in the file, without a bias */
		uint64_t reach;      /**< the highest end of this row and all rows before it */
		uint32_t name;       /**< offset in names */
		uint32_t index;      /**< in the symbol table */
	} * rows;                    /**< ascending by begin */
	size_t count;
	char *names; /**< NUL-terminated, whatever the file says */
	size_t names_size;
	bool is_whole; /**< from .symtab, which also has the functions that are not exported */
};

/**
 * Read .symtab, or .dynsym if there is none.
 *
 * @param target Its memory limit counts.
 * @param[in,out] budget Bytes of symbol tables that may be read.
 * @param[out] ret To be given to function_names_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND there is no table, or no function in it
 * @retval HD_ERR_FORMAT it cannot be read
 * @retval HD_ERR_NOMEM also if it exceeds the limit or the budget
 */
HD_NODISCARD enum hd_status function_names_read(struct target *target, const struct elf_file *file,
						uint64_t *budget, struct function_names *ret);
void function_names_deinit(struct function_names *names);

/**
 * The function that contains @p place and has a name of at most SYMBOL_NAME_MAX bytes; of several,
 * the one that begins last.
 *
 * @return NULL: there is none, or the budget is spent
 */
const struct function_row *function_names_at(const struct function_names *names, uint64_t place,
					     uint64_t *budget);
