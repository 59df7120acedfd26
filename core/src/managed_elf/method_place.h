/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
	bool suspends;                  /**< an async method that the runtime suspends (11) */
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
	uint64_t address; /**< of some code, or 0 */
	uint32_t found; /**< the first line from @c line on at which a statement begins; 0: none */
	bool is_there;  /**< the method of the code at @c address has a statement in that line */
};

/**
 * Find the line in the PDBs of all loaded modules.  Cost: linear in the PDBs.
 *
 * @param[in,out] line Its last two members are set, on success.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status code_line_find(struct runtime *runtime, struct job *job,
					   struct code_line *line, struct hd_error *err);
