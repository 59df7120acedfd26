/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/fail.h"
#include "util/text.h"

struct job;
struct runtime;

/** A method, and where its source is. */
struct method_place {
	uint64_t method_desc;
	struct text name;               /**< without arguments, as debuggers have it */
	struct text file;               /**< as the compiler saw it; empty: not known */
	uint32_t first_line, last_line; /**< 0: not known */
};
void method_place_deinit(struct method_place *place);

/**
 * The method whose code is at @p address.
 *
 * @param[in,out] ret Zeroed; to be given to method_place_deinit() in any case.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND there is none
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status method_place_find(struct runtime *runtime, uint64_t address,
					      struct method_place *ret, struct hd_error *err);

/** A line of a source file, which is known by the end of its path. */
struct code_line {
	const char *file;
	uint32_t line;
};

/**
 * The first line from @p wanted on at which a statement begins, by the PDBs of all loaded modules.  Cost: linear in the
 * PDBs.
 *
 * @param[out] ret 0: no PDB has such a line; untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status code_line_find(struct runtime *runtime, struct job *job,
					   const struct code_line *wanted, uint32_t *ret,
					   struct hd_error *err);
