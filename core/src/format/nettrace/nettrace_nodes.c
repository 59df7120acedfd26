/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "format/nettrace/nettrace_heap.h"
#include "util/alloc.h"
#include "util/fuzzed.h"

/* Fail because the bytes of the trace have changed. */
static enum hd_status nt_heap_changed(const struct nt_heap *heap)
{
	return fail(heap->err, HD_ERR_OS, 0, "%s: the file changed while it was read",
		    heap->trace->stream.path);
}

/* References of a snapshot: where they lie in the trace, and in weak tables. */

/* The block that contains row @p row, counted over all blocks. */
static size_t nt_block_of(const struct nt_blocks *blocks, uint64_t row)
{
	return ROW_OF(blocks->rows, blocks->rows_count, first, row);
}

/* Add a run after the last one of its piece, and go on after it. */
static bool add_run(struct nt_heap *heap, uint64_t *to, uint64_t from, uint64_t count,
		    bool is_values)
{
	if (!count)
		return true;
	if (!PAGES_RESERVE(heap, runs))
		return false;
	heap->runs[heap->runs_count++] =
		(struct nt_run){ .to = *to, .from = from, .count = count, .is_values = is_values };
	*to += count;
	return true;
}

ORDER_BY(compare_runs, struct nt_run, to)

/* Find out where the references lie, for nt_heap_references(). */
static enum hd_status nt_heap_runs(struct nt_heap *heap, const struct nt_places *places)
{
	const struct nt_pairs *pairs = &heap->pairs;
	uint64_t from = 0;
	size_t next = 0; /* of paired */
	bool made = true, is_same = true;
	for (uint32_t p = 0; made && is_same && p < places->count; p++) {
		const struct sort_piece *piece = &places->pieces[p];
		uint64_t to = places->edges[p], end = to + places->edge_counts[p];
		for (; made && next < pairs->paired_count; next++) {
			const struct nt_paired *paired = &pairs->paired[next];
			if (paired->object - piece->from >= piece->count)
				break;
			/* The bytes may have changed since they were counted. */
			is_same = paired->own_end - from <= end - to &&
				  paired->count <= end - to - (paired->own_end - from);
			if (!is_same)
				break;
			made = add_run(heap, &to, from, paired->own_end - from, false) &&
			       add_run(heap, &to, paired->first, paired->count, true);
			from = paired->own_end;
		}
		uint64_t rest = end - to;
		made = made && add_run(heap, &to, from, rest, false);
		from += rest;
	}
	TRY_MEMORY(made, heap->err);
	if (!is_same || next < pairs->paired_count)
		return nt_heap_changed(heap);
	if (heap->runs_count)
		qsort(heap->runs, heap->runs_count, sizeof(*heap->runs), compare_runs);
	return HD_OK;
}

/* Rows of edges, beginning with number @p row, which exist. */
static void read_edge_rows(const struct nt_heap *heap, uint64_t row, uint64_t count, uint64_t *to)
{
	uint32_t pointer_size = heap->pointer_size;
	size_t row_size = NT_EDGE_SIZE(pointer_size);
	for (size_t block = nt_block_of(&heap->edges, row); count; block++) {
		const struct nt_rows *rows = &heap->edges.rows[block];
		uint64_t skipped = row - rows->first;
		uint64_t some = rows->count - skipped < count ? rows->count - skipped : count;
		const uint8_t *at = rows->at + row_size * skipped;
		for (uint64_t i = 0; i < some; i++, at += row_size)
			*to++ = nt_load_pointer(at, pointer_size);
		row += some;
		count -= some;
	}
}

static size_t run_of(const struct nt_heap *heap, uint64_t reference)
{
	return ROW_OF(heap->runs, heap->runs_count, to, reference);
}

/* The ids that references of heap->raw lead to: raw_graph's read_ids. */
static void nt_heap_references(const void *arg, uint64_t begin, size_t count, uint64_t *ret)
{
	const struct nt_heap *heap = arg;
	const struct nt_pairs *pairs = &heap->pairs;
	for (const struct nt_run *run = &heap->runs[run_of(heap, begin)]; count; run++) {
		uint64_t skipped = begin - run->to;
		uint64_t some = run->count - skipped < count ? run->count - skipped : count;
		if (run->is_values) {
			for (uint64_t i = 0; i < some; i++)
				ret[i] = pairs->values[pairs->order[run->from + skipped + i]];
		} else {
			read_edge_rows(heap, run->from + skipped, some, ret);
		}
		ret += some;
		begin += some;
		count -= some;
	}
}

/* Objects and references of a snapshot: GCBulkNode and GCBulkEdge, whose blocks are numbered. */

/* Types whose index is cached, by address. */
#define RECENT_TYPES_BITS FUZZED(12u, 4u)
#define RECENT_TYPES      (1u << RECENT_TYPES_BITS)

/* Their index is the number of the event. */
static bool add_block_rows(struct nt_blocks *blocks, const struct nt_rows *rows)
{
	blocks->has_end = blocks->has_end || rows->index != blocks->rows_count;
	if (blocks->has_end) {
		blocks->left += rows->count;
		return true;
	}
	if (!PAGES_RESERVE(blocks, rows))
		return false;
	blocks->rows[blocks->rows_count] = *rows;
	blocks->rows[blocks->rows_count++].first = blocks->total;
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
		TRY_MEMORY(add_block_rows(is_node ? &heap->nodes : &heap->edges, &rows), heap->err);
	}
	return HD_OK;
}

/* Walks over the objects in the order of the trace. */
struct node_walk {
	const struct nt_blocks *nodes;
	uint32_t pointer_size;
	uint32_t row; /* position in the block */
	size_t block;
};

/* Begin at object @p index. */
static struct node_walk node_walk_from(const struct nt_heap *heap, uint32_t index)
{
	size_t block = nt_block_of(&heap->nodes, index);
	uint64_t first = block < heap->nodes.rows_count ? heap->nodes.rows[block].first : 0;
	return (struct node_walk){ .nodes = &heap->nodes,
				   .pointer_size = heap->pointer_size,
				   .row = (uint32_t)(index - first),
				   .block = block };
}

static bool walk_next(struct node_walk *walk, struct nt_node *ret)
{
	const struct nt_blocks *nodes = walk->nodes;
	while (walk->block < nodes->rows_count && walk->row >= nodes->rows[walk->block].count) {
		walk->block++;
		walk->row = 0;
	}
	if (walk->block >= nodes->rows_count)
		return false;
	size_t row_size = NT_NODE_SIZE(walk->pointer_size);
	*ret = nt_node(nodes->rows[walk->block].at + row_size * walk->row++, walk->pointer_size);
	return true;
}

/*
 * Give the interior roots inside an object to the object.  Each is inside one object: only
 * overlapping objects could share them, and then all would.
 */
static void adopt_interior(struct nt_roots *roots, struct nt_cursor *cursor,
			   const struct nt_node *node)
{
	for (size_t i = nt_cursor_seek(cursor, node->address);
	     i < cursor->count && cursor->keys[i] - node->address < node->size &&
	     roots->adopted_count < cursor->count;
	     i++, roots->adopted_count++)
		roots->rows[roots->interior_root[i]].id = node->address;
}

/* The values of weak tables whose key is an object, if there are any. */
static enum hd_status find_values(struct nt_pairs *pairs, struct nt_cursor *keys, uint64_t address,
				  struct nt_paired *ret, struct hd_error *err)
{
	ret->count = (uint32_t)nt_cursor_equal(keys, address, &ret->first);
	if (!ret->count)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(pairs, paired), err);
	pairs->paired[pairs->paired_count++] = *ret;
	return HD_OK;
}

enum hd_status nt_heap_count(struct nt_heap *heap)
{
	uint64_t available = heap->edges.total, total = heap->nodes.total, used = 0, pairs = 0;
	if (total >= HD_NONE)
		return fail(heap->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	struct nt_cursor keys = { .keys = heap->pairs.keys, .count = heap->pairs.count };
	struct nt_cursor interior = { .keys = heap->roots.interior,
				      .count = heap->roots.interior_count };
	struct node_walk walk = node_walk_from(heap, 0);
	struct nt_node node;
	job_begin(heap->job, "Counting objects", total);
	uint32_t objects = 0;
	while (walk_next(&walk, &node) && node.edges <= available - used) {
		used += node.edges;
		struct nt_paired paired = { .object = objects++, .own_end = used };
		TRY(find_values(&heap->pairs, &keys, node.address, &paired, heap->err));
		pairs += paired.count;
		if (node.edges + paired.count > UINT32_MAX) {
			return fail(heap->err, HD_ERR_UNSUPPORTED, 0,
				    "an object with over 4 billion references");
		}
		if (interior.count)
			adopt_interior(&heap->roots, &interior, &node);
		if (objects % JOB_STRIDE == 0 && !job_step(heap->job, 0, JOB_STRIDE))
			return fail_cancelled(heap->err);
	}
	heap->object_count = objects;
	heap->edge_count = used + pairs;
	heap->nodes.left += total - objects;
	heap->edges.left += available - used;
	return HD_OK;
}

struct type_at_hand {
	uint64_t id;
	uint32_t index; /* + 1 */
};

/* Objects that are put into heap->raw. */
struct trace_filling {
	struct nt_heap *heap;
	struct nt_places places;
	unsigned int workers;
	_Atomic uint64_t edge_count; /* as the objects before say */
	_Atomic bool has_rest;       /* types without a definition, or large sizes */
	_Atomic bool is_cancelled, is_nomem;
};

/* Index of a type that has a definition, or UINT32_MAX. */
static uint32_t find_recent_type(const struct nt_heap *heap, struct type_at_hand *recent,
				 uint64_t id)
{
	struct type_at_hand *entry = &recent[id * 0x9e3779b97f4a7c15u >> (64 - RECENT_TYPES_BITS)];
	if (entry->index && entry->id == id)
		return entry->index - 1;
	uint32_t index = nt_types_known(&heap->types, id);
	if (index != UINT32_MAX)
		*entry = (struct type_at_hand){ .id = id, .index = index + 1 };
	return index;
}

/* References of an object; those of weak tables come after its own. */
static uint64_t degree_of(struct nt_cursor *keys, const struct nt_node *node)
{
	size_t first;
	return node->edges + nt_cursor_equal(keys, node->address, &first);
}

/* Objects of a worker: its first; that of the next worker begins its own. */
static uint32_t first_of(const struct trace_filling *filling, unsigned int worker)
{
	return (uint32_t)((uint64_t)filling->heap->object_count * worker / filling->workers);
}

static bool step_filling(struct trace_filling *filling, unsigned int worker)
{
	if (!job_step(filling->heap->job, worker, JOB_STRIDE))
		filling->is_cancelled = true;
	return !filling->is_cancelled;
}

/* Take addresses and degrees in the order of the trace. */
static void list_trace_objects(void *arg, unsigned int worker)
{
	struct trace_filling *filling = arg;
	const struct nt_heap *heap = filling->heap;
	struct nt_cursor keys = { .keys = heap->pairs.keys, .count = heap->pairs.count };
	uint32_t begin = first_of(filling, worker), end = first_of(filling, worker + 1);
	struct node_walk walk = node_walk_from(heap, begin);
	struct nt_node node;
	uint64_t edge_count = 0;
	for (uint32_t i = begin; i < end && walk_next(&walk, &node); i++) {
		uint64_t degree = degree_of(&keys, &node);
		edge_count += degree;
		heap->raw.ids[i] = node.address;
		heap->raw.degrees[i] = (uint32_t)degree;
		if (i % JOB_STRIDE == JOB_STRIDE - 1 && !step_filling(filling, worker))
			break;
	}
	filling->edge_count += edge_count;
}

/*
 * Put them in order of addresses, if that takes only a few pieces; if not, raw_graph_finish()
 * sorts.
 */
static void plan_places(const struct raw_graph *raw, struct nt_places *places)
{
	places->count = sort_pieces(raw->ids, raw->object_count, places->pieces);
	if (!places->count) {
		places->pieces[0] = (struct sort_piece){ .count = raw->object_count };
		places->count = 1;
	}
	for (uint32_t i = 0; i < places->count; i++) {
		const struct sort_piece *piece = &places->pieces[i];
		for (uint32_t k = 0; k < piece->count; k++)
			places->edge_counts[i] += raw->degrees[piece->from + k];
	}
	for (uint32_t i = 0; i < places->count; i++) {
		for (uint32_t k = 0; k < places->count; k++) {
			if (places->pieces[k].to < places->pieces[i].to)
				places->edges[i] += places->edge_counts[k];
		}
	}
}

/* The piece that contains object @p index. */
static const struct sort_piece *piece_of(const struct nt_places *places, uint32_t index)
{
	const struct sort_piece *piece = places->pieces;
	while (index - piece->from >= piece->count)
		piece++;
	return piece;
}

/* Put objects where they belong, except types and sizes that need a table. */
static void place_trace_objects(void *arg, unsigned int worker)
{
	struct trace_filling *filling = arg;
	const struct nt_heap *heap = filling->heap;
	const struct raw_graph *raw = &heap->raw;
	struct nt_cursor keys = { .keys = heap->pairs.keys, .count = heap->pairs.count };
	uint32_t begin = first_of(filling, worker), end = first_of(filling, worker + 1);
	HD_FREE struct type_at_hand *recent = mem_calloc(RECENT_TYPES, sizeof(*recent));
	struct node_walk walk = node_walk_from(heap, begin);
	struct nt_node node;
	uint64_t edge_count = 0;
	bool has_rest = false;
	const struct sort_piece *piece = begin < end ? piece_of(&filling->places, begin) : NULL;
	for (uint32_t i = begin; recent && i < end && walk_next(&walk, &node); i++) {
		while (i - piece->from >= piece->count)
			piece++;
		uint32_t to = piece->to + (i - piece->from);
		uint64_t degree = degree_of(&keys, &node);
		edge_count += degree;
		raw->ids[to] = node.address;
		raw->degrees[to] = (uint32_t)degree;
		raw->types[to] = find_recent_type(heap, recent, node.type);
		raw->sizes[to] = node.size < SIZE_LARGE ? (uint32_t)node.size : SIZE_LARGE;
		has_rest |= raw->types[to] == UINT32_MAX || raw->sizes[to] == SIZE_LARGE;
		if (i % JOB_STRIDE == JOB_STRIDE - 1 && !step_filling(filling, worker))
			break;
	}
	if (!recent)
		filling->is_nomem = true;
	if (has_rest)
		filling->has_rest = true;
	filling->edge_count += edge_count;
}

/*
 * Types without a definition get an index in the order in which they come, large sizes their table.
 */
static enum hd_status place_rest(struct trace_filling *filling)
{
	struct nt_heap *heap = filling->heap;
	struct raw_graph *raw = &heap->raw;
	const struct sort_piece *piece = filling->places.pieces;
	struct node_walk walk = node_walk_from(heap, 0);
	struct nt_node node;
	for (uint32_t i = 0; i < heap->object_count && walk_next(&walk, &node); i++) {
		while (i - piece->from >= piece->count)
			piece++;
		uint32_t to = piece->to + (i - piece->from);
		if (raw->types[to] == UINT32_MAX)
			raw->types[to] = nt_types_find(&heap->types, node.type);
		if (raw->types[to] == UINT32_MAX ||
		    (raw->sizes[to] == SIZE_LARGE && !raw_graph_set_size(raw, to, node.size)))
			return fail_nomem(heap->err);
		if (i % JOB_STRIDE == JOB_STRIDE - 1 && !job_step(heap->job, 0, JOB_STRIDE))
			return fail_cancelled(heap->err);
	}
	return HD_OK;
}

/* Let all workers do their share of the objects. */
static enum hd_status run_filling(struct trace_filling *filling,
				  void (*fn)(void *arg, unsigned int worker))
{
	const struct nt_heap *heap = filling->heap;
	filling->workers = heap->object_count < JOB_STRIDE ? 1 : job_workers(heap->job);
	filling->edge_count = 0;
	run_parallel(filling->workers, filling->heap->job, fn, filling);
	if (filling->is_nomem)
		return fail_nomem(heap->err);
	if (filling->is_cancelled)
		return fail_cancelled(heap->err);
	return filling->edge_count == heap->edge_count ? HD_OK : nt_heap_changed(heap);
}

static enum hd_status fill_trace_nodes(struct trace_filling *filling)
{
	struct nt_heap *heap = filling->heap;
	TRY(run_filling(filling, list_trace_objects));
	plan_places(&heap->raw, &filling->places);
	TRY(nt_heap_runs(heap, &filling->places));
	TRY(run_filling(filling, place_trace_objects));
	return filling->has_rest ? place_rest(filling) : HD_OK;
}

enum hd_status nt_heap_fill(struct nt_heap *heap)
{
	TRY(raw_graph_init(&heap->raw, heap->object_count, heap->edge_count, heap->job, heap->err));
	heap->raw.read_ids = nt_heap_references;
	heap->raw.read_arg = heap;
	job_begin(heap->job, "Reading objects", heap->object_count * (uint64_t)2);
	HD_FREE struct trace_filling *filling = mem_calloc(1, sizeof(*filling));
	TRY_MEMORY(filling, heap->err);
	filling->heap = heap;
	return fill_trace_nodes(filling);
}
