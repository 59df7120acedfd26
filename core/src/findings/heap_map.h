/* SPDX-License-Identifier: MIT */
/* Maps the segments of a heap: doc/report.md 6.1. */
#pragma once

#include "findings/facts.h"

/** Most segments that have cells, and most cells of one; fewer if there are many segments. */
#define MAP_ROWS_MAX  512u
#define MAP_CELLS_MAX 256u

/** A part of a segment. */
struct map_cell {
	uint64_t live, dead; /**< bytes of objects; the rest is free */
	uint32_t pins;       /**< pinned objects that begin there */
};

/** A segment or region. */
struct map_row {
	uint64_t begin, end; /**< end > begin */
	uint64_t live, dead, pins;
	uint32_t generation; /**< enum generation */
	uint32_t heap;
};

/** Segments that have no row of their own, of one generation. */
struct map_rest {
	uint64_t segments, bytes, live, dead, pins;
};

struct heap_map {
	struct map_row *rows; /**< ascending by address */
	size_t row_count;
	size_t cell_count;      /**< of each row */
	struct map_cell *cells; /**< row_count * cell_count */
	struct map_rest rest[GENERATION_UNKNOWN + 1];
	uint64_t empty; /**< segments without a byte */
};

/**
 * Make it of the segments, the largest ones if there are many: one pass over the objects.
 *
 * @param facts With a heap.
 * @param[out] ret To be given to heap_map_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status heap_map_init(struct heap_map *ret, const struct report_facts *facts,
					  struct hd_error *err);
void heap_map_deinit(struct heap_map *map);

/** The cells of a row. */
static inline struct map_cell *heap_map_cells(const struct heap_map *map, const struct map_row *row)
{
	return &map->cells[(size_t)(row - map->rows) * map->cell_count];
}

/** The address that cell @p index of a row begins at; index may be the count of cells. */
static inline uint64_t map_cell_begin(const struct heap_map *map, const struct map_row *row,
				      uint64_t index)
{
	uint64_t size = row->end - row->begin;
	/* Without overflow: the quotient and the remainder apart. */
	return row->begin + size / map->cell_count * index +
	       size % map->cell_count * index / map->cell_count;
}
