/* SPDX-License-Identifier: MIT */
#include "util/sort.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define RADIX_BITS 11u
#define RADIX      ((size_t)1 << RADIX_BITS)
/* Ascending runs of keys that are merged. */
#define SORTED_RUNS_MAX 256u

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

void sort_u64(uint64_t *values, size_t count)
{
	if (count > 1)
		qsort(values, count, sizeof(*values), compare_u64);
}

struct keyed {
	uint64_t *keys;
	uint32_t *values;
};

/* One stable pass by the digit at @p shift. */
static void radix_pass(struct keyed from, struct keyed to, uint32_t count, unsigned int shift)
{
	uint32_t starts[RADIX] = { 0 };
	for (uint32_t i = 0; i < count; i++)
		starts[from.keys[i] >> shift & (RADIX - 1)]++;
	uint32_t sum = 0;
	for (size_t digit = 0; digit < RADIX; digit++) {
		uint32_t here = starts[digit];
		starts[digit] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = starts[from.keys[i] >> shift & (RADIX - 1)]++;
		to.keys[at] = from.keys[i];
		to.values[at] = from.values[i];
	}
}

/* Bits in which keys differ; those below and above them need no pass. */
static uint64_t different_bits(const uint64_t *keys, uint32_t count)
{
	uint64_t bits = 0;
	for (uint32_t i = 0; i < count; i++)
		bits |= keys[i] ^ keys[0];
	return bits;
}

/* Keys that ascend: those at [begin .. end). */
struct sorted_run {
	uint32_t begin, end;
};

/* Find the runs of the keys; 0: there are too many. */
static uint32_t find_sorted_runs(const uint64_t *keys, uint32_t count, struct sorted_run *runs)
{
	uint32_t made = 0;
	for (uint32_t i = 0; i < count;) {
		if (made == SORTED_RUNS_MAX)
			return 0;
		uint32_t begin = i++;
		while (i < count && keys[i - 1] <= keys[i])
			i++;
		runs[made++] = (struct sorted_run){ begin, i };
	}
	return made;
}

/* The run whose first key is the lowest, and the first key of the next one, or UINT64_MAX. */
static struct sorted_run *lowest_run(const uint64_t *keys, struct sorted_run *runs,
				     const struct sorted_run *runs_end, uint64_t *ret_next)
{
	struct sorted_run *lowest = runs;
	while (lowest->begin == lowest->end)
		lowest++;
	uint64_t key = keys[lowest->begin];
	*ret_next = UINT64_MAX;
	for (struct sorted_run *run = lowest + 1; run < runs_end; run++) {
		if (run->begin == run->end)
			continue;
		if (keys[run->begin] < key) {
			*ret_next = key;
			key = keys[run->begin];
			lowest = run;
		} else if (keys[run->begin] < *ret_next) {
			*ret_next = keys[run->begin];
		}
	}
	return lowest;
}

/* First key of a run that is at least @p key. */
static uint32_t run_place(const uint64_t *keys, const struct sorted_run *run, uint64_t key)
{
	size_t count = run->end - run->begin;
	return run->begin + (uint32_t)lower_bound_u64(keys + run->begin, count, key);
}

ORDER_BY(compare_pieces, struct sort_piece, from)

uint32_t sort_pieces(const uint64_t *keys, uint32_t count, struct sort_piece *ret)
{
	struct sorted_run runs[SORTED_RUNS_MAX];
	uint32_t run_count = find_sorted_runs(keys, count, runs), pieces = 0, at = 0;
	while (run_count && at < count) {
		uint64_t next;
		struct sorted_run *run = lowest_run(keys, runs, runs + run_count, &next);
		uint32_t end = run_place(keys, run, next);
		if (pieces == SORT_PIECES_MAX)
			return 0;
		/* Equal keys keep their order. */
		if (end == run->begin)
			end++;
		ret[pieces++] = (struct sort_piece){ run->begin, at, end - run->begin };
		at += end - run->begin;
		run->begin = end;
	}
	if (pieces)
		qsort(ret, pieces, sizeof(*ret), compare_pieces);
	return pieces;
}

/* false: there are too many pieces. */
static bool move_pieces(struct keyed from, struct keyed to, uint32_t count)
{
	struct sort_piece pieces[SORT_PIECES_MAX];
	uint32_t piece_count = sort_pieces(from.keys, count, pieces);
	for (uint32_t i = 0; i < piece_count; i++) {
		const struct sort_piece *piece = &pieces[i];
		memcpy(to.keys + piece->to, from.keys + piece->from,
		       piece->count * sizeof(*to.keys));
		memcpy(to.values + piece->to, from.values + piece->from,
		       piece->count * sizeof(*to.values));
	}
	return piece_count;
}

bool sort_pairs(uint64_t *keys, uint32_t *values, uint32_t count)
{
	struct keyed a = { keys, values };
	struct keyed b = { pages_alloc(count, sizeof(*keys)), pages_alloc(count, sizeof(*values)) };
	struct keyed scratch = b;
	bool made = b.keys && b.values;
	uint64_t bits = 0;
	if (made && move_pieces(a, b, count)) {
		a = b;
	} else if (made) {
		bits = different_bits(keys, count);
	}
	for (unsigned int shift = 0; bits && bits >> shift;) {
		shift += (unsigned int)__builtin_ctzll(bits >> shift);
		radix_pass(a, b, count, shift);
		struct keyed swap = a;
		a = b;
		b = swap;
		shift += RADIX_BITS;
		if (shift >= 64)
			break;
	}
	if (made && count && a.keys != keys) {
		memcpy(keys, a.keys, count * sizeof(*keys));
		memcpy(values, a.values, count * sizeof(*values));
	}
	pages_free(scratch.keys, count, sizeof(*keys));
	pages_free(scratch.values, count, sizeof(*values));
	return made;
}

bool sort_keys(uint64_t *keys, uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	return sort_pairs(keys, order, count);
}
