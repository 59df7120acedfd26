/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "metadata/pdb.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/method.h"

/** The code of one method, for commands that show what belongs to each part of it. */
struct shown_code {
	struct code_info code; /**< of the address that was given, or of the method's beginning */
	uint64_t address;      /**< that */
	uint32_t size;         /**< bytes, handlers included */
	struct method method;
	struct code_bounds bounds; /**< none: the runtime does not tell the IL */
	struct pdb *pdb;           /**< NULL: none; borrowed from the runtime */
	struct pdb_points points;
	bool has_others; /**< a MethodDesc was given, and the method has more bodies */
};

/**
 * Find the code that the first word of the command is an address in; if it is a MethodDesc, the code that a call of
 * the method runs, or if that is not known, its first.
 *
 * @param[out] ret To be given to shown_code_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND with a message that says what is there
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status shown_code_find(struct call *call, struct shown_code *ret);
void shown_code_deinit(struct shown_code *shown);

/**
 * The cells for the IL from which the instruction at @p offset was compiled, its file and its line; they stay empty
 * where nothing is known.
 */
void shown_code_place(const struct shown_code *shown, uint32_t offset, struct cell *ret_il,
		      struct cell *ret_file, struct cell *ret_line);

/** Where the first instruction in a stretch of code begins that has IL of its own: after a prologue; or @p begin. */
uint32_t shown_code_first(const struct shown_code *shown, uint32_t begin, uint32_t end);

/** Where the next piece of IL begins after @p offset; UINT32_MAX: nowhere. */
uint32_t shown_code_next(const struct shown_code *shown, uint32_t offset);

/** Write which code it is: the first record of an answer. */
void shown_code_write(struct call *call, const struct shown_code *shown);
