/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/** All strings with one value. */
struct string_count {
	uint64_t hash;
	uint64_t address; /**< the first of these strings */
	uint32_t count;   /**< at most UINT32_MAX */
	uint32_t length;  /**< UTF-16 units */
};

/** How many gaps each worker remembers. */
#define GAPS_KEPT 65536u

/** Which strings to count; zero: all. */
struct strings_filter {
	const struct segment *const *segments; /**< NULL: all */
	size_t segment_count;
	uint64_t begin, end; /**< strings that start in [begin, end); 0, 0: all */
	/** May be NULL; called on the workers' threads. */
	bool (*accept)(void *arg, const struct walker *walker);
	void *arg;
};

/**
 * Strings by value.  24 bytes for each value and 6 to 12 for finding it; the texts stay where they
 * are.
 */
struct strings {
	struct heap *heap;
	const struct type *type; /**< System.String; NULL: there is none */
	struct string_count *rows;
	size_t rows_count, rows_capacity;
	uint64_t count, size; /**< number of all strings, and the sum of their true sizes */
	uint64_t unreadable;  /**< strings whose characters are not in the target; they are not
			       * counted */
	struct damage *gaps;  /**< places where the walk met something else than objects, up to
			       * GAPS_KEPT */
	size_t gaps_count, gaps_capacity;
};

/**
 * Walk the heap and count its strings by value.
 *
 * @param filter May be NULL.
 * @param[out] ret To be given to strings_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when it would exceed the job's max_mem
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status strings_collect(struct heap *heap, const struct strings_filter *filter,
					    struct job *job, struct strings *ret,
					    struct hd_error *err);
void strings_deinit(struct strings *strings);

/**
 * Keep the values that occur at least @p min times; sort them by total size, then by count, then by
 * address, ascending.
 */
void strings_sort(struct strings *strings, uint32_t min);

/** Size of all strings of a row, in bytes. */
uint64_t string_count_size(const struct strings *strings, const struct string_count *row);
