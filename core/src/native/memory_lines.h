/* SPDX-License-Identifier: MIT */
#pragma once

#include "native/memory_account.h"

/** One line of what memory shows: a row of an account, or what several rows have. */
struct memory_line {
	enum memory_kind kind;
	uint32_t place;            /**< of its first row */
	const char *owner;         /**< borrowed from an account; NULL: the kind says it all */
	struct memory_bytes bytes; /**< zeros if only the earlier account has it */
	int64_t now, before;       /**< memory_bytes_used(), of both accounts */
};

struct memory_lines {
	struct memory_line *rows; /**< by kind */
	size_t count;
};

/**
 * The lines of an account, or of two next to each other: what has the same kind and owner is one line.
 *
 * @param before An earlier account, or NULL.
 * @param by_owner A line for each owner, those with the greatest difference first, or without @p before
 * the largest; else a line for each kind.
 * @param[out] ret To be given to memory_lines_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status memory_lines_make(const struct memory_account *now,
					      const struct memory_account *before, bool by_owner,
					      struct memory_lines *ret, struct hd_error *err);
void memory_lines_deinit(struct memory_lines *lines);
