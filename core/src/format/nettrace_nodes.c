/* SPDX-License-Identifier: MIT */
/* Objects and references of a snapshot: GCBulkNode and GCBulkEdge, whose blocks are numbered. */
#include <inttypes.h>
#include <string.h>

#include "format/nettrace_heap.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Types whose index is at hand, by address. */
#define RECENT_BITS  12u
#define RECENT_TYPES (1u << RECENT_BITS)

/* Their index is the number of the event. */
static bool add_rows(struct nt_blocks *blocks, const struct nt_rows *rows)
{
	blocks->has_end = blocks->has_end || rows->index != blocks->rows_count;
	if (blocks->has_end) {
		blocks->left += rows->count;
		return true;
	}
	if (!PAGES_RESERVE(blocks, rows))
		return false;
	blocks->rows[blocks->rows_count++] = *rows;
	blocks->total += rows->count;
	blocks->has_end = rows->is_short;
	return true;
}

enum hd_status nt_heap_blocks(struct nt_heap *heap)
{
	for (size_t i = heap->snapshot->first; i < heap->snapshot->end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		bool is_node = item->kind == NT_NODES;
		if (!is_node && item->kind != NT_EDGES)
			continue;
		struct nt_rows rows =
			nt_indexed_rows(item, is_node ? NT_NODE_SIZE(heap->pointer_size)
						      : NT_EDGE_SIZE(heap->pointer_size));
		if (!add_rows(is_node ? &heap->nodes : &heap->edges, &rows))
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
	while (walk->block < heap->nodes.rows_count &&
	       walk->row >= heap->nodes.rows[walk->block].count) {
		walk->block++;
		walk->row = 0;
	}
	if (walk->block >= heap->nodes.rows_count)
		return false;
	size_t row_size = NT_NODE_SIZE(heap->pointer_size);
	*ret = nt_node(heap->nodes.rows[walk->block].at + row_size * walk->row++,
		       heap->pointer_size);
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
	uint64_t available = heap->edges.total, total = heap->nodes.total, used = 0, pairs = 0;
	if (total >= HD_NONE)
		return fail(heap->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	struct nt_cursor keys = { .keys = heap->keys, .count = heap->pair_count };
	struct nt_cursor interior = { .keys = heap->interior, .count = heap->interior_count };
	struct walk walk = { .heap = heap };
	struct nt_node node;
	job_begin(heap->job, "Counting objects", total);
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
	heap->nodes.left += total - objects;
	heap->edges.left += available - used;
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
	while (count && targets->block < heap->edges.rows_count) {
		const struct nt_rows *rows = &heap->edges.rows[targets->block];
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

/* Where pieces of the objects go, and their references. */
struct places {
	struct sort_piece pieces[SORT_PIECES_MAX];
	uint64_t edges[SORT_PIECES_MAX], edges_end[SORT_PIECES_MAX];
	uint32_t count;
	struct recent recent[RECENT_TYPES];
};

/* References of an object; those of weak tables are behind its own. */
static uint64_t degree_of(struct nt_cursor *keys, const struct nt_node *node)
{
	uint64_t degree = node->edges;
	for (size_t k = nt_cursor_seek(keys, node->address);
	     k < keys->count && keys->keys[k] == node->address; k++)
		degree++;
	return degree;
}

/* Addresses and degrees of all objects as they come. */
static enum hd_status list_objects(struct nt_heap *heap)
{
	struct raw_graph *raw = &heap->raw;
	struct nt_cursor keys = { .keys = heap->keys, .count = heap->pair_count };
	struct walk walk = { .heap = heap };
	struct nt_node node;
	for (uint32_t i = 0; i < heap->object_count && walk_next(&walk, &node); i++) {
		uint64_t degree = degree_of(&keys, &node);
		if (degree > UINT32_MAX) {
			return fail(heap->err, HD_ERR_UNSUPPORTED, 0,
				    "an object with over 4 billion references");
		}
		raw->ids[i] = node.address;
		raw->degrees[i] = (uint32_t)degree;
		if (i % JOB_STRIDE == JOB_STRIDE - 1 && !job_step(heap->job, 0, JOB_STRIDE))
			return fail_cancelled(heap->err);
	}
	return HD_OK;
}

/* In order of addresses, if that takes a few pieces; raw_graph_finish() sorts what is not. */
static void plan_places(const struct nt_heap *heap, struct places *places)
{
	const struct raw_graph *raw = &heap->raw;
	uint32_t object_count = heap->object_count;
	places->count = sort_pieces(raw->ids, object_count, places->pieces);
	if (!places->count) {
		places->pieces[0] = (struct sort_piece){ .count = object_count };
		places->count = 1;
	}
	uint64_t counts[SORT_PIECES_MAX] = { 0 };
	for (uint32_t i = 0; i < places->count; i++) {
		const struct sort_piece *piece = &places->pieces[i];
		for (uint32_t k = 0; k < piece->count; k++)
			counts[i] += raw->degrees[piece->from + k];
	}
	for (uint32_t i = 0; i < places->count; i++) {
		places->edges[i] = 0;
		for (uint32_t k = 0; k < places->count; k++) {
			if (places->pieces[k].to < places->pieces[i].to)
				places->edges[i] += counts[k];
		}
		places->edges_end[i] = places->edges[i] + counts[i];
	}
}

static enum hd_status fill_object(struct nt_heap *heap, struct places *places, uint32_t index,
				  const struct nt_node *node)
{
	struct raw_graph *raw = &heap->raw;
	raw->ids[index] = node->address;
	raw->types[index] = find_type(heap, places->recent, node->type);
	if (raw->types[index] == UINT32_MAX || !raw_graph_set_size(raw, index, node->size))
		return fail_nomem(heap->err);
	return HD_OK;
}

static enum hd_status fill(struct nt_heap *heap, struct places *places)
{
	struct raw_graph *raw = &heap->raw;
	struct nt_cursor keys = { .keys = heap->keys, .count = heap->pair_count };
	struct walk walk = { .heap = heap };
	struct targets targets = { .heap = heap };
	struct nt_node node;
	for (uint32_t p = 0; p < places->count; p++) {
		const struct sort_piece *piece = &places->pieces[p];
		uint64_t at = places->edges[p];
		for (uint32_t i = 0; i < piece->count && walk_next(&walk, &node); i++) {
			uint64_t degree = degree_of(&keys, &node), end = at + degree;
			if (end > places->edges_end[p]) {
				return fail(heap->err, HD_ERR_OS, 0,
					    "%s: the file changed while it was read",
					    heap->trace->stream.path);
			}
			raw->degrees[piece->to + i] = (uint32_t)degree;
			copy_targets(&targets, raw->target_ids + at, node.edges);
			at += node.edges;
			for (size_t k = nt_cursor_seek(&keys, node.address); at < end; k++)
				raw->target_ids[at++] = heap->values[heap->order[k]];
			TRY(fill_object(heap, places, piece->to + i, &node));
			if (i % JOB_STRIDE == JOB_STRIDE - 1 && !job_step(heap->job, 0, JOB_STRIDE))
				return fail_cancelled(heap->err);
		}
	}
	return HD_OK;
}

enum hd_status nt_heap_fill(struct nt_heap *heap)
{
	TRY(raw_graph_init(&heap->raw, heap->object_count, heap->edge_count, true, heap->job,
			   heap->err));
	job_begin(heap->job, "Reading objects", heap->object_count * (uint64_t)2);
	struct places *places = mem_calloc(1, sizeof(*places));
	if (!places)
		return fail_nomem(heap->err);
	enum hd_status status = list_objects(heap);
	if (status == HD_OK) {
		plan_places(heap, places);
		status = fill(heap, places);
	}
	mem_free(places);
	return status;
}
