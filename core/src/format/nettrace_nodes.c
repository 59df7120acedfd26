/* SPDX-License-Identifier: MIT */
/* Objects and references of a snapshot: GCBulkNode and GCBulkEdge, whose blocks are numbered. */
#include <inttypes.h>
#include <string.h>

#include "format/nettrace_heap.h"
#include "util/alloc.h"

/* Types whose index is at hand, by address. */
#define RECENT_BITS  12u
#define RECENT_TYPES (1u << RECENT_BITS)

static bool add_rows(struct nt_rows **array, size_t *count, size_t *capacity,
		     const struct nt_rows *rows)
{
	if (*count == *capacity && !pages_grow((void **)array, capacity, sizeof(**array)))
		return false;
	(*array)[(*count)++] = *rows;
	return true;
}

enum hd_status nt_heap_blocks(struct nt_heap *heap)
{
	bool nodes_end = false, edges_end = false;
	for (size_t i = heap->snapshot->first; i < heap->snapshot->end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		bool made = true;
		if (item->kind == NT_NODES) {
			struct nt_rows rows =
				nt_indexed_rows(item, NT_NODE_SIZE(heap->pointer_size));
			nodes_end = nodes_end || rows.index != heap->nodes_count;
			if (nodes_end) {
				heap->objects_left += rows.count;
			} else {
				made = add_rows(&heap->nodes, &heap->nodes_count,
						&heap->nodes_capacity, &rows);
			}
			nodes_end = nodes_end || rows.is_short;
		} else if (item->kind == NT_EDGES) {
			struct nt_rows rows =
				nt_indexed_rows(item, NT_EDGE_SIZE(heap->pointer_size));
			edges_end = edges_end || rows.index != heap->edges_count;
			if (edges_end) {
				heap->edges_left += rows.count;
			} else {
				made = add_rows(&heap->edges, &heap->edges_count,
						&heap->edges_capacity, &rows);
			}
			edges_end = edges_end || rows.is_short;
		}
		if (!made)
			return fail_nomem(heap->err);
	}
	return HD_OK;
}

/* Walks over the objects that can be used. */
struct walk {
	const struct nt_heap *heap;
	size_t block;
	uint32_t row;
	uint64_t done; /* objects */
};

static bool walk_next(struct walk *walk, struct nt_node *ret)
{
	const struct nt_heap *heap = walk->heap;
	while (walk->block < heap->nodes_count && walk->row >= heap->nodes[walk->block].count) {
		walk->block++;
		walk->row = 0;
	}
	if (walk->block >= heap->nodes_count)
		return false;
	size_t row_size = NT_NODE_SIZE(heap->pointer_size);
	*ret = nt_node(heap->nodes[walk->block].at + row_size * walk->row++, heap->pointer_size);
	walk->done++;
	return true;
}

/* Make the interior roots that lie in an object those of the object. */
static void adopt_interior(struct nt_heap *heap, struct nt_cursor *cursor,
			   const struct nt_node *node)
{
	for (size_t i = nt_cursor_seek(cursor, node->address);
	     i < cursor->count && cursor->keys[i] - node->address < node->size; i++)
		heap->roots[heap->interior_root[i]].id = node->address;
}

enum hd_status nt_heap_count(struct nt_heap *heap)
{
	uint64_t available = 0, used = 0, pairs = 0, total = 0;
	for (size_t i = 0; i < heap->edges_count; i++)
		available += heap->edges[i].count;
	for (size_t i = 0; i < heap->nodes_count; i++)
		total += heap->nodes[i].count;
	if (total >= HD_NONE)
		return fail(heap->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	struct nt_cursor keys = { .keys = heap->keys, .count = heap->pair_count };
	struct nt_cursor interior = { .keys = heap->interior, .count = heap->interior_count };
	struct walk walk = { .heap = heap };
	struct nt_node node;
	job_begin(heap->job, "counting objects", total);
	uint64_t objects = 0;
	while (walk_next(&walk, &node) && node.edges <= available - used) {
		used += node.edges;
		objects++;
		for (size_t i = nt_cursor_seek(&keys, node.address);
		     i < keys.count && keys.keys[i] == node.address; i++)
			pairs++;
		if (interior.count)
			adopt_interior(heap, &interior, &node);
		if (objects % JOB_STRIDE == 0 && !job_step(heap->job, 0, JOB_STRIDE))
			return fail_cancelled(heap->err);
	}
	heap->object_count = (uint32_t)objects;
	heap->edge_count = used + pairs;
	heap->objects_left += total - objects;
	heap->edges_left += available - used;
	return HD_OK;
}

/* Walks over the references. */
struct targets {
	const struct nt_heap *heap;
	size_t block;
	uint32_t row;
};

/* Copy the next @p count, which are there. */
static void copy_targets(struct targets *targets, uint64_t *to, uint64_t count)
{
	const struct nt_heap *heap = targets->heap;
	uint32_t pointer_size = heap->pointer_size;
	size_t row_size = NT_EDGE_SIZE(pointer_size);
	while (count) {
		const struct nt_rows *rows = &heap->edges[targets->block];
		if (targets->row >= rows->count) {
			targets->block++;
			targets->row = 0;
			continue;
		}
		uint32_t some = rows->count - targets->row;
		if (some > count)
			some = (uint32_t)count;
		const uint8_t *at = rows->at + row_size * targets->row;
		for (uint32_t i = 0; i < some; i++, at += row_size)
			*to++ = nt_load_pointer(at, pointer_size);
		targets->row += some;
		count -= some;
	}
}

struct recent {
	uint64_t id;
	uint32_t index; /* + 1 */
};

static uint32_t find_type(struct nt_heap *heap, struct recent *recent, uint64_t id)
{
	struct recent *entry = &recent[id * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS)];
	if (entry->index && entry->id == id)
		return entry->index - 1;
	uint32_t index = nt_types_find(&heap->types, id);
	if (index != UINT32_MAX)
		*entry = (struct recent){ .id = id, .index = index + 1 };
	return index;
}

static enum hd_status fill(struct nt_heap *heap, struct recent *recent)
{
	struct raw_graph *raw = &heap->raw;
	struct nt_cursor keys = { .keys = heap->keys, .count = heap->pair_count };
	struct walk walk = { .heap = heap };
	struct targets targets = { .heap = heap };
	struct nt_node node;
	uint64_t at = 0;
	for (uint32_t i = 0; i < heap->object_count && walk_next(&walk, &node); i++) {
		uint64_t begin = at;
		copy_targets(&targets, raw->target_ids + at, node.edges);
		at += node.edges;
		for (size_t k = nt_cursor_seek(&keys, node.address);
		     k < keys.count && keys.keys[k] == node.address; k++)
			raw->target_ids[at++] = heap->values[heap->order[k]];
		raw->ids[i] = node.address;
		raw->types[i] = find_type(heap, recent, node.type);
		raw->degrees[i] = (uint32_t)(at - begin);
		if (raw->types[i] == UINT32_MAX || !raw_graph_set_size(raw, i, node.size))
			return fail_nomem(heap->err);
		if (at - begin > UINT32_MAX) {
			return fail(heap->err, HD_ERR_UNSUPPORTED, 0,
				    "an object with over 4 billion references");
		}
		if (i % JOB_STRIDE == JOB_STRIDE - 1 && !job_step(heap->job, 0, JOB_STRIDE))
			return fail_cancelled(heap->err);
	}
	return HD_OK;
}

enum hd_status nt_heap_fill(struct nt_heap *heap)
{
	TRY(raw_graph_init(&heap->raw, heap->object_count, heap->edge_count, true, heap->job,
			   heap->err));
	job_begin(heap->job, "reading objects", heap->object_count);
	struct recent *recent = mem_calloc(RECENT_TYPES, sizeof(*recent));
	if (!recent)
		return fail_nomem(heap->err);
	enum hd_status status = fill(heap, recent);
	mem_free(recent);
	return status;
}
