/* SPDX-License-Identifier: MIT */
#include "findings/heap_map.h"

#include <stdlib.h>

#include "gc/heap.h"
#include "roots/root_set.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

/* Most cells of all rows together. */
#define ALL_CELLS_MAX 24576u

/* A segment that is not empty. */
struct sized_segment {
	const struct segment *segment;
	uint64_t size;
};

static uint64_t segment_size(const struct segment *segment)
{
	return segment->end > segment->begin ? segment->end - segment->begin : 0;
}

static int compare_segment_sizes(const void *left, const void *right)
{
	const struct sized_segment *a = left, *b = right;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->segment->begin < b->segment->begin ? -1 : a->segment->begin > b->segment->begin;
}

ORDER_BY(compare_map_rows, struct map_row, begin)

static enum hd_status make_map_rows(struct heap_map *map, const struct sized_segment *sorted,
				    size_t count, struct hd_error *err)
{
	map->row_count = count < MAP_ROWS_MAX ? count : MAP_ROWS_MAX;
	map->cell_count = map->row_count ? ALL_CELLS_MAX / map->row_count : MAP_CELLS_MAX;
	if (map->cell_count > MAP_CELLS_MAX)
		map->cell_count = MAP_CELLS_MAX;
	map->rows = mem_calloc(map->row_count + 1, sizeof(*map->rows));
	map->cells = mem_calloc(map->row_count * map->cell_count + 1, sizeof(*map->cells));
	TRY_MEMORY(map->rows && map->cells, err);
	for (size_t i = 0; i < map->row_count; i++) {
		const struct segment *segment = sorted[i].segment;
		map->rows[i] = (struct map_row){ .begin = segment->begin,
						 .end = segment->end,
						 .generation = segment->generation,
						 .heap = segment->heap };
	}
	qsort(map->rows, map->row_count, sizeof(*map->rows), compare_map_rows);
	return HD_OK;
}

static struct map_rest *rest_of(struct heap_map *map, uint32_t generation)
{
	return &map->rest[generation < GENERATION_UNKNOWN ? generation : GENERATION_UNKNOWN];
}

static enum hd_status choose_rows(struct heap_map *map, const struct heap *heap,
				  struct hd_error *err)
{
	size_t count = 0;
	HD_FREE struct sized_segment *sorted = mem_calloc(heap->segment_count + 1, sizeof(*sorted));
	TRY_MEMORY(sorted, err);
	for (size_t i = 0; i < heap->segment_count; i++) {
		uint64_t size = segment_size(&heap->segments[i]);
		if (size) {
			sorted[count++] = (struct sized_segment){ &heap->segments[i], size };
		} else {
			map->empty++;
		}
	}
	if (count > MAP_ROWS_MAX)
		qsort(sorted, count, sizeof(*sorted), compare_segment_sizes);
	TRY(make_map_rows(map, sorted, count, err));
	for (size_t i = MAP_ROWS_MAX; i < count; i++) {
		struct map_rest *rest = rest_of(map, sorted[i].segment->generation);
		rest->segments++;
		rest->bytes += sorted[i].size;
	}
	return HD_OK;
}

/* The row that has @p address, or NULL. */
static struct map_row *row_at(const struct heap_map *map, uint64_t address)
{
	size_t above = ROWS_ABOVE(map->rows, map->row_count, begin, address);
	return above && address < map->rows[above - 1].end ? &map->rows[above - 1] : NULL;
}

/* The cell of an address of the row. */
static size_t cell_at(const struct heap_map *map, const struct map_row *row, uint64_t address)
{
	double place = (double)(address - row->begin) / (double)(row->end - row->begin);
	size_t cell = (size_t)(place * (double)map->cell_count);
	if (cell >= map->cell_count)
		cell = map->cell_count - 1;
	while (cell && map_cell_begin(map, row, cell) > address)
		cell--;
	while (cell + 1 < map->cell_count && map_cell_begin(map, row, cell + 1) <= address)
		cell++;
	return cell;
}

/* Count an object in the cells that it lies in. */
static void map_object(const struct heap_map *map, struct map_row *row, uint64_t address,
		       uint64_t size, bool is_live)
{
	struct map_cell *cells = heap_map_cells(map, row);
	uint64_t end = size < row->end - address ? address + size : row->end;
	*(is_live ? &row->live : &row->dead) += end - address;
	for (size_t cell = cell_at(map, row, address); address < end; cell++) {
		uint64_t next =
			cell + 1 < map->cell_count ? map_cell_begin(map, row, cell + 1) : row->end;
		uint64_t bytes = (end < next ? end : next) - address;
		*(is_live ? &cells[cell].live : &cells[cell].dead) += bytes;
		address += bytes;
	}
}

static void count_rest(struct heap_map *map, const struct heap *heap, uint64_t address,
		       uint64_t size, bool is_live)
{
	const struct segment *segment = heap_segment_at(heap, address);
	if (!segment)
		return;
	struct map_rest *rest = rest_of(map, segment->generation);
	*(is_live ? &rest->live : &rest->dead) += size;
}

static enum hd_status count_objects(struct heap_map *map, const struct report_facts *facts,
				    struct hd_error *err)
{
	const struct hd_graph *graph = facts->graph;
	struct map_row *row = NULL;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(facts->job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		uint64_t address = graph_id(graph, node), size = graph_size(graph, node);
		bool is_live = facts_is_live(facts, node);
		if (!row || address < row->begin || address >= row->end)
			row = row_at(map, address);
		if (row) {
			map_object(map, row, address, size, is_live);
		} else {
			count_rest(map, facts->heap, address, size, is_live);
		}
	}
	return HD_OK;
}

static void map_pins(struct heap_map *map, const struct report_facts *facts)
{
	for (size_t i = 0; facts->roots && i < facts->roots->rows_count; i++) {
		const struct root *root = &facts->roots->rows[i];
		if (!root->is_pinned || root->is_weak)
			continue;
		struct map_row *row = row_at(map, root->value);
		const struct segment *segment =
			row ? NULL : heap_segment_at(facts->heap, root->value);
		if (segment)
			rest_of(map, segment->generation)->pins++;
		if (!row)
			continue;
		row->pins++;
		heap_map_cells(map, row)[cell_at(map, row, root->value)].pins++;
	}
}

enum hd_status heap_map_init(struct heap_map *ret, const struct report_facts *facts,
			     struct hd_error *err)
{
	*ret = (struct heap_map){ 0 };
	TRY(choose_rows(ret, facts->heap, err));
	job_begin(facts->job, "Drawing the heap", facts->graph->object_count);
	enum hd_status status = count_objects(ret, facts, err);
	job_end(facts->job);
	TRY(status);
	map_pins(ret, facts);
	return HD_OK;
}

void heap_map_deinit(struct heap_map *map)
{
	mem_free(map->rows);
	mem_free(map->cells);
	*map = (struct heap_map){ 0 };
}
