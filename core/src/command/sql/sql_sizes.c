/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/heap/heap_gaps.h"
#include "command/sql/sql_objects.h"
#include "graph/heap_graph.h"
#include "util/alloc.h"

/* So many objects have this type and size. */
struct size_count {
	uint64_t size;
	uint32_t type; /* index, of the runtime's types or of the graph's */
	uint32_t count;
};

/* Open addressing; count 0: free. */
struct size_map {
	struct size_count *rows;
	size_t capacity, used; /* capacity is a power of 2, or 0 */
};

struct sql_sizes {
	struct sql_source *source;
	struct size_map map;
	const struct size_count **order; /* those in use, by name */
	size_t next;
	uint32_t left; /* of the row before next */
	bool is_weighted;
	struct sql_object row;
};

#define SIZES_AT_FIRST 1024u

static size_t slot_of(const struct size_map *map, uint32_t type, uint64_t size)
{
	uint64_t hash = (size ^ (uint64_t)type << 40) * 0x9e3779b97f4a7c15u;
	size_t slot = (size_t)(hash >> 20) & (map->capacity - 1);
	while (map->rows[slot].count &&
	       (map->rows[slot].type != type || map->rows[slot].size != size))
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

static bool grow(struct size_map *map)
{
	struct size_map larger = { .capacity = map->capacity ? 2 * map->capacity : SIZES_AT_FIRST };
	larger.rows = pages_alloc(larger.capacity, sizeof(*larger.rows));
	if (!larger.rows)
		return false;
	for (size_t i = 0; i < map->capacity; i++) {
		const struct size_count *row = &map->rows[i];
		if (row->count)
			larger.rows[slot_of(&larger, row->type, row->size)] = *row;
	}
	larger.used = map->used;
	pages_free(map->rows, map->capacity, sizeof(*map->rows));
	*map = larger;
	return true;
}

static void map_deinit(struct size_map *map)
{
	pages_free(map->rows, map->capacity, sizeof(*map->rows));
	*map = (struct size_map){ 0 };
}

/* A count of one type and size ends at UINT32_MAX: such a heap has more objects than a graph can hold. */
static bool add(struct size_map *map, uint32_t type, uint64_t size, uint32_t count)
{
	if (map->used >= map->capacity / 2 && !grow(map))
		return false;
	struct size_count *row = &map->rows[slot_of(map, type, size)];
	if (!row->count) {
		map->used++;
		row->type = type;
		row->size = size;
	}
	if (count > UINT32_MAX - row->count)
		return false;
	row->count += count;
	return true;
}

/* One worker's counts. */
struct size_worker {
	struct size_map map;
	struct gaps gaps;
};

static enum hd_status count_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct size_worker *worker = arg;
	enum walk_result result;
	while ((result = walker_next(walker)) != WALK_END) {
		if (result == WALK_DAMAGE) {
			gaps_add(&worker->gaps, walker->heap, &walker->damage);
		} else if (!add(&worker->map, walker->object.type->index, walker->object.size, 1)) {
			return fail_nomem(err);
		}
	}
	return HD_OK;
}

static enum hd_status merge(struct size_map *map, const struct size_map *other,
			    struct hd_error *err)
{
	for (size_t i = 0; i < other->capacity; i++) {
		const struct size_count *row = &other->rows[i];
		if (row->count && !add(map, row->type, row->size, row->count))
			return fail_nomem(err);
	}
	return HD_OK;
}

static enum hd_status count_heap_sizes(struct sql_sizes *sizes)
{
	struct size_worker workers[JOB_WORKERS_MAX] = { { .map = { 0 } } };
	void *args[JOB_WORKERS_MAX];
	struct call *call = sizes->source->call;
	for (size_t i = 0; i < JOB_WORKERS_MAX; i++)
		args[i] = &workers[i];
	enum hd_status status = heap_walk(sizes->source->heap,
					  &(const struct heap_tour){ .what = "walking the heap",
								     .visit = count_segment,
								     .args = args },
					  &call->job, call->err);
	for (size_t i = 0; i < JOB_WORKERS_MAX; i++) {
		if (status == HD_OK)
			status = merge(&sizes->map, &workers[i].map, call->err);
		gaps_merge(sizes->source->gaps, &workers[i].gaps);
		map_deinit(&workers[i].map);
	}
	return status;
}

static enum hd_status count_dump(struct sql_sizes *sizes)
{
	struct call *call = sizes->source->call;
	const struct hd_graph *graph = call->graph;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (node % JOB_STRIDE == 0)
			TRY(call_check(call));
		TRY_MEMORY(add(&sizes->map, graph->node_types[node], graph_size(graph, node), 1),
			   call->err);
	}
	return HD_OK;
}

static void type_of(const struct sql_source *source, uint32_t index, struct sql_object *ret)
{
	if (source->heap) {
		const struct type *type = type_at(source->heap->runtime, index);
		ret->type_id = type->method_table;
		ret->is_free = type->is_free;
		ret->type_name = type_name(source->heap->runtime, type, &ret->type_size);
		return;
	}
	const struct graph_type *type = &source->call->graph->types[index];
	ret->type_id = type->id;
	ret->type_name = type->name;
	ret->type_size = type->name_size;
}

static int compare_names(const struct sql_object *one, const struct sql_object *other)
{
	if (!one->type_name || !other->type_name)
		return (one->type_name != NULL) - (other->type_name != NULL);
	size_t size = one->type_size < other->type_size ? one->type_size : other->type_size;
	int order = memcmp(one->type_name, other->type_name, size);
	if (order)
		return order;
	return (one->type_size > other->type_size) - (one->type_size < other->type_size);
}

/* By name, then by id, then by size. */
static int compare_counts(const void *one_arg, const void *other_arg, void *arg)
{
	const struct size_count *one = *(const struct size_count *const *)one_arg;
	const struct size_count *other = *(const struct size_count *const *)other_arg;
	struct sql_object types[2] = { { 0 }, { 0 } };
	if (one->type == other->type)
		return (one->size > other->size) - (one->size < other->size);
	type_of(arg, one->type, &types[0]);
	type_of(arg, other->type, &types[1]);
	int order = compare_names(&types[0], &types[1]);
	if (order)
		return order;
	return (one->type > other->type) - (one->type < other->type);
}

static enum hd_status sort_counts(struct sql_sizes *sizes)
{
	size_t count = 0;
	sizes->order = mem_alloc(sizes->map.used + 1, sizeof(const struct size_count *));
	TRY_MEMORY(sizes->order, sizes->source->call->err);
	for (size_t i = 0; i < sizes->map.capacity; i++) {
		if (sizes->map.rows[i].count)
			sizes->order[count++] = &sizes->map.rows[i];
	}
	qsort_r(sizes->order, count, sizeof(const struct size_count *), compare_counts,
		sizes->source);
	return HD_OK;
}

enum hd_status sql_sizes_open(struct sql_source *source, bool is_weighted, struct sql_sizes **ret)
{
	struct sql_sizes *sizes = mem_calloc(1, sizeof(*sizes));
	TRY_MEMORY(sizes, source->call->err);
	sizes->source = source;
	sizes->is_weighted = is_weighted;
	enum hd_status status = source->heap ? count_heap_sizes(sizes) : count_dump(sizes);
	if (status == HD_OK)
		status = sort_counts(sizes);
	if (status != HD_OK) {
		sql_sizes_close(sizes);
		return status;
	}
	*ret = sizes;
	return HD_OK;
}

const struct sql_object *sql_sizes_next(struct sql_sizes *sizes)
{
	if (sizes->is_weighted) {
		sizes->left = 0;
		sizes->source->weight = 1;
	}
	if (!sizes->left) {
		if (sizes->next == sizes->map.used)
			return NULL;
		const struct size_count *count = sizes->order[sizes->next++];
		type_of(sizes->source, count->type, &sizes->row);
		sizes->row.size = count->size;
		sizes->left = count->count;
		if (sizes->is_weighted)
			sizes->source->weight = count->count;
	}
	sizes->left--;
	return &sizes->row;
}

void sql_sizes_close(struct sql_sizes *sizes)
{
	if (!sizes)
		return;
	map_deinit(&sizes->map);
	mem_free((void *)sizes->order);
	mem_free(sizes);
}
