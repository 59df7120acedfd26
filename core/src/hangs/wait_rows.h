/* SPDX-License-Identifier: MIT */
/* Which threads or async methods an object has: those that wait for it, hold it, run it or go on after it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct wait_row {
	uint64_t object; /**< its address, or a number that it has */
	uint32_t node;   /**< a row of waits->rows, or another node (waits.h) */
};

/** Pairs, in any order until wait_rows_sort(); then ascending.  Empty when zero-initialised. */
struct wait_rows {
	struct wait_row *rows;
	size_t rows_count, rows_capacity;
};

/**
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wait_rows_add(struct wait_rows *rows, uint64_t object, uint32_t node,
					  struct hd_error *err);
/** Sort them by object, then by node. */
void wait_rows_sort(struct wait_rows *rows);
void wait_rows_deinit(struct wait_rows *rows);

/** The first pair of @p object; its pairs follow each other.  rows_count: none, or @p object is 0. */
size_t wait_rows_of(const struct wait_rows *rows, uint64_t object);
/** Does pair number @p index exist, and is it one of @p object? */
static inline bool wait_rows_has(const struct wait_rows *rows, size_t index, uint64_t object)
{
	return index < rows->rows_count && rows->rows[index].object == object;
}

/** The lowest node of @p object, or WAIT_NOBODY (waits.h). */
uint32_t wait_rows_first(const struct wait_rows *rows, uint64_t object);
/** Its only node; WAIT_NOBODY also when it has several different ones. */
uint32_t wait_rows_only(const struct wait_rows *rows, uint64_t object);
