/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sort ascending. */
void sort_u64(uint64_t *values, size_t count);

/** Define a comparison for qsort(): rows of @p type ascend by @p key, a member that is a number. */
#define ORDER_BY(name, type, key)                              \
	static int name(const void *a, const void *b)          \
	{                                                      \
		const type *x = a, *y = b;                     \
		return x->key < y->key ? -1 : x->key > y->key; \
	}

/** The same by two members; @p next decides between rows with the same @p key. */
#define ORDER_BY2(name, type, key, next) ORDER_BY3(name, type, key, next, next)

/** The same by three. */
#define ORDER_BY3(name, type, key, next, last)                     \
	static int name(const void *a, const void *b)              \
	{                                                          \
		const type *x = a, *y = b;                         \
		if (x->key != y->key)                              \
			return x->key < y->key ? -1 : 1;           \
		if (x->next != y->next)                            \
			return x->next < y->next ? -1 : 1;         \
		return x->last < y->last ? -1 : x->last > y->last; \
	}

/**
 * Where the number is in a row: constants, so that the compiler makes a special search for each
 * case.
 */
struct key_place {
	size_t row, offset, size; /**< size of a row; offset of the number in it; size of the
				   * number: 4 or 8 */
};

/** Does not compile for other sizes. */
#define KEY_SIZE(number) \
	(sizeof(number) + 0 * sizeof(char[sizeof(number) == 4 || sizeof(number) == 8 ? 1 : -1]))
#define KEY_PLACE(rows, field)                                                      \
	((struct key_place){ sizeof(*(rows)), offsetof(__typeof__(*(rows)), field), \
			     KEY_SIZE((rows)->field) })
#define KEY_ONLY(numbers) ((struct key_place){ sizeof(*(numbers)), 0, KEY_SIZE(*(numbers)) })

/**
 * How many of @p count rows, which ascend by an unsigned number, have a number less than @p key, or
 * equal to it if @p is_with_equal.  The macros below are the ways to call it.
 */
static inline __attribute__((always_inline)) size_t rows_search(const void *rows, size_t count,
								struct key_place place,
								bool is_with_equal, uint64_t key)
{
	const char *first = rows;
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *at = first + middle * place.row + place.offset;
		uint64_t number = place.size == sizeof(uint32_t) ? *(const uint32_t *)at
								 : *(const uint64_t *)at;
		if (number < key || (is_with_equal && number == key)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/**
 * Index of the first of @p rows, which ascend by their unsigned @p field, whose field is at least
 * @p key; @p count: there is none.
 */
#define ROWS_FROM(rows, count, field, key) \
	rows_search(rows, count, KEY_PLACE(rows, field), false, key)
/**
 * The same for a field greater than @p key; so the row before it, if there is one, is the last
 * whose field is at most @p key.
 */
#define ROWS_ABOVE(rows, count, field, key) \
	rows_search(rows, count, KEY_PLACE(rows, field), true, key)

/**
 * Index of the last of @p rows whose field is at most @p key, where each row begins a run; 0 also
 * if there is none.
 */
#define ROW_OF(rows, count, field, key) search_run_of(ROWS_ABOVE(rows, count, field, key))
static inline size_t search_run_of(size_t above)
{
	return above ? above - 1 : 0;
}

/**
 * Position of the first of @p numbers, which ascend and have 4 or 8 bytes, that is greater than @p
 * key.
 */
#define NUMBERS_ABOVE(numbers, count, key) rows_search(numbers, count, KEY_ONLY(numbers), true, key)

/**
 * Position of the first of @p values, which ascend, that is at least @p value; @p count: there is
 * none.
 */
static inline size_t lower_bound_u64(const uint64_t *values, size_t count, uint64_t value)
{
	return rows_search(values, count, KEY_ONLY(values), false, value);
}

/**
 * Sort @p keys ascending and stably, and set @p order to the former position of each (radix sort:
 * linear).
 *
 * Takes 12 more bytes per key while it runs.
 * @return false when memory is exhausted; keys are then unchanged.
 */
bool sort_keys(uint64_t *keys, uint32_t *order, uint32_t count);

/** Keys that ascend: @p count of them at @p from, which will be moved to @p to. */
struct sort_piece {
	uint32_t from, to, count;
};

#define SORT_PIECES_MAX 1024u

/**
 * Find pieces that only have to be moved to be sorted; equal keys keep their order.  Objects in the
 * order of a heap walk, region by region, are only a few pieces.
 *
 * @param[out] ret SORT_PIECES_MAX, ascending by from
 * @return how many; 0: there are more, or no keys
 */
uint32_t sort_pieces(const uint64_t *keys, uint32_t count, struct sort_piece *ret);

/** The same as sort_keys(), but @p values go where their keys go. */
bool sort_pairs(uint64_t *keys, uint32_t *values, uint32_t count);
