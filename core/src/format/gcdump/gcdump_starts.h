/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/sort.h"

/** Where the records of objects begin in the blob. */
struct gcdump_starts {
	uint64_t *bits;  /**< bitmap of the blob's bytes; NULL: the starts are not known */
	uint32_t *ranks; /**< pages, one for each word of bits: how many records come before it */
	size_t words;
	/*
	 * records that are consecutive objects; ascending by from (ranks of records) and, when
	 * objects are numbered, by to (objects)
	 */
	struct sort_piece pieces[SORT_PIECES_MAX];
	uint32_t piece_count;
};

/** Forget them; @p blob_size: the number of bits. */
void gcdump_starts_deinit(struct gcdump_starts *starts, uint64_t blob_size);

/** A cursor over the records, in the order of objects. */
struct gcdump_cursor {
	const struct gcdump_starts *starts;
	const struct sort_piece *piece;
	uint32_t left; /**< records that the piece still has */
	size_t word;
	uint64_t bits; /**< bits of the word that are still to come */
};

/** Go to the place before the record of @p object. */
void gcdump_cursor_init(struct gcdump_cursor *cursor, const struct gcdump_starts *starts,
			uint32_t object);
/** Go to the piece after the one that has ended. */
void gcdump_cursor_next_piece(struct gcdump_cursor *cursor);

/** Where the next record begins. */
static inline uint32_t gcdump_cursor_next(struct gcdump_cursor *cursor)
{
	if (!cursor->left)
		gcdump_cursor_next_piece(cursor);
	cursor->left--;
	while (!cursor->bits)
		cursor->bits = cursor->starts->bits[++cursor->word];
	uint32_t bit = (uint32_t)__builtin_ctzll(cursor->bits);
	cursor->bits &= cursor->bits - 1;
	return (uint32_t)cursor->word * 64 + bit;
}
