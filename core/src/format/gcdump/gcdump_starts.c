/* SPDX-License-Identifier: MIT */
/* Where the records of objects begin, one after the other. */
#include "format/gcdump/gcdump_starts.h"

#include "util/alloc.h"
#include "util/bitmap.h"

void gcdump_starts_deinit(struct gcdump_starts *starts, uint64_t blob_size)
{
	bitmap_free(starts->bits, blob_size);
	pages_free(starts->ranks, starts->words, sizeof(*starts->ranks));
	starts->bits = NULL;
	starts->ranks = NULL;
	starts->piece_count = 0;
}

/* Go to the place before the record with @p rank. */
static void cursor_go(struct gcdump_cursor *cursor, uint32_t rank)
{
	const struct gcdump_starts *starts = cursor->starts;
	size_t low = search_run_of(NUMBERS_ABOVE(starts->ranks, starts->words, rank));
	cursor->word = low;
	cursor->bits = starts->bits[low];
	for (uint32_t skip = rank - starts->ranks[low]; skip; skip--)
		cursor->bits &= cursor->bits - 1;
}

void gcdump_cursor_next_piece(struct gcdump_cursor *cursor)
{
	cursor->piece++;
	cursor->left = cursor->piece->count;
	cursor_go(cursor, cursor->piece->from);
}

void gcdump_cursor_init(struct gcdump_cursor *cursor, const struct gcdump_starts *starts,
			uint32_t object)
{
	*cursor = (struct gcdump_cursor){ .starts = starts, .piece = starts->pieces };
	while (object - cursor->piece->to >= cursor->piece->count)
		cursor->piece++;
	uint32_t skipped = object - cursor->piece->to;
	cursor->left = cursor->piece->count - skipped;
	cursor_go(cursor, cursor->piece->from + skipped);
}
