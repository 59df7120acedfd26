/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/type_counts.h"

/** The references of one object into one generation; if is_single, one reference. */
struct crossing {
	uint64_t from, to; /**< to: what the first one refers to */
	uint64_t size;     /**< of the objects that are referred to */
	uint32_t count;
	uint8_t from_generation, to_generation;
};

/** Does a reference from an object of generation @p from to one of generation @p to count? */
typedef bool (*crossing_test)(uint8_t from, uint8_t to);

/** One bit for each address that was referred to, in the segments that have young objects. */
struct marks {
	const struct heap *heap;
	uint64_t **bitmaps; /**< one for each segment of the heap; NULL: it has no young objects */
};

/** Finds crossings: the test to use, and the rows found so far. */
struct crossing_finder {
	crossing_test test;
	bool is_single;      /**< a row for each reference */
	struct marks *marks; /**< or NULL: not asked for */
	struct window targets;
	struct gaps gaps;
	struct crossing *rows;
	size_t rows_count, rows_capacity;
	uint64_t count, size; /**< objects that this marked first, and their bytes */
};

/** Generations 0 and 1. */
bool generation_is_young(uint8_t generation);

/**
 * Walk the heap; @p ret gets all rows in order of address.  Its test, is_single and marks say what
 * to look for.
 */
HD_NODISCARD enum hd_status find_crossings(struct heap *heap, struct job *job,
					   struct crossing_finder *ret, struct hd_error *err);
void crossing_finder_deinit(struct crossing_finder *finder);

/** Do both rows lead from the same generation into the same generation? */
bool crossing_is_like(const struct crossing *row, const struct crossing *other);

/**
 * Count the objects that refer, each once, by type.
 *
 * @param counts The counts are added to it.
 * @param like Only rows of the same generations as this one; NULL: all.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status crossings_count(struct type_counts *counts, struct heap *heap,
					    const struct crossing_finder *found,
					    const struct crossing *like, struct job *job,
					    struct hd_error *err);

/**
 * Index of the first row whose reference is in the object at @p address; rows_count if there is
 * none.
 */
size_t crossings_from(const struct crossing_finder *found, uint64_t address);

/** @param marks Only its heap is set. */
HD_NODISCARD enum hd_status marks_init(struct marks *marks, struct job *job, struct hd_error *err);
void marks_deinit(struct marks *marks);
