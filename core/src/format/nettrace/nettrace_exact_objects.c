/* SPDX-License-Identifier: MIT */
/* Objects and what they refer to: their records, in the order of the trace. */
#include "format/nettrace/nettrace_exact.h"
#include "util/alloc.h"

/* Where dotnet-gcdump stops (MaxNodeCount). */
#define NODES_MAX 10000000u

/* How many look-ups ahead memory is prefetched. */
#define AHEAD_LOOKUPS 12u

/* dotnet-gcdump adds this to the size of an object that has an RCW. */
#define RCW_EXTRA 1000u

enum hd_status exact_add_record(struct exact_objects *objects, uint32_t node, uint32_t type,
				int32_t size, uint32_t child_count)
{
	TRY_MEMORY(PAGES_RESERVE(objects, records), objects->err);
	objects->records[objects->records_count++] =
		(struct exact_record){ .node = node,
				       .type = type,
				       .size = size < 0 ? INT32_MAX : size,
				       .child_count = child_count };
	return HD_OK;
}

enum hd_status exact_append_child(struct exact_objects *objects, uint64_t address)
{
	uint32_t node;
	TRY(exact_node(objects->nodes, address, &node));
	TRY_MEMORY(PAGES_RESERVE(objects, children), objects->err);
	objects->children[objects->children_count++] = node;
	return HD_OK;
}

/* The references of all objects, one after the other. */
struct edges {
	size_t item;
	struct nt_rows rows;
	uint32_t row;
	uint32_t next; /* index of the next block */
};

/* Go to the next block when one is used up; false: there is none. */
static bool edges_there(const struct exact_dump *exact, struct edges *edges)
{
	while (edges->row >= edges->rows.count) {
		while (edges->item < exact->snapshot->end &&
		       exact->trace->items[edges->item].kind != NT_EDGES)
			edges->item++;
		if (edges->item == exact->snapshot->end)
			return false;
		edges->rows = nt_indexed_rows(&exact->trace->items[edges->item++],
					      NT_EDGE_SIZE(exact->pointer_size));
		edges->row = 0;
		if (edges->rows.index != edges->next++)
			return false;
	}
	return true;
}

/* Prefetch what the rows after @p row need; these begin with an address. */
static void prefetch(const struct exact_nodes *nodes, const struct nt_rows *rows, uint32_t row,
		     size_t row_size, uint32_t pointer_size)
{
	const uint8_t *at = rows->at + row_size * row;
	if (rows->count - row <= 2 * AHEAD_LOOKUPS)
		return;
	exact_prefetch_node(nodes, nt_load_pointer(at + row_size * AHEAD_LOOKUPS, pointer_size));
	exact_prefetch_slot(nodes,
			    nt_load_pointer(at + row_size * 2 * AHEAD_LOOKUPS, pointer_size));
}

static enum hd_status add_exact_node(struct exact_dump *exact, const struct nt_node *object,
				     struct edges *edges)
{
	uint32_t node, type;
	uint32_t size = (uint32_t)object->size;
	struct exact_objects *objects = &exact->objects;
	size_t first = objects->children_count, row_size = NT_EDGE_SIZE(exact->pointer_size);
	TRY(exact_node(&exact->nodes, object->address, &node));
	TRY(exact_type_of(&exact->types, object->type, (int32_t)size, &type));
	for (uint64_t i = 0; i < object->edges; i++) {
		if (!edges_there(exact, edges)) {
			return exact_fail_incomplete(exact,
						     "references of its objects are missing");
		}
		const uint8_t *at = edges->rows.at + row_size * edges->row++;
		TRY(exact_append_child(objects, nt_load_pointer(at, exact->pointer_size)));
		prefetch(objects->nodes, &edges->rows, edges->row, row_size, exact->pointer_size);
	}
	uint64_t unknown;
	bool has_rcw;
	TRY(exact_rcw(&exact->types, object->address, &has_rcw, &unknown));
	if (has_rcw) {
		TRY(exact_append_child(objects, unknown));
		size += RCW_EXTRA;
	}
	if (objects->children_count - first > INT32_MAX)
		return fail(exact->err, HD_ERR_UNSUPPORTED, 0, "an object of 2 billion references");
	return exact_add_record(objects, node, type, (int32_t)size,
				(uint32_t)(objects->children_count - first));
}

enum hd_status exact_objects_read(struct exact_dump *exact)
{
	struct edges edges = { .item = exact->snapshot->first };
	size_t row_size = NT_NODE_SIZE(exact->pointer_size);
	uint32_t next = 0;
	for (size_t i = exact->snapshot->first; i < exact->snapshot->end; i++) {
		const struct nt_item *item = &exact->trace->items[i];
		if (item->kind != NT_NODES)
			continue;
		struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
		if (rows.index != next++)
			return exact_fail_incomplete(exact, "some of its objects are missing");
		for (uint32_t k = 0; k < rows.count; k++) {
			struct nt_node node = nt_node(rows.at + row_size * k, exact->pointer_size);
			TRY(add_exact_node(exact, &node, &edges));
			prefetch(&exact->nodes, &rows, k, row_size, exact->pointer_size);
			if (exact->nodes.addresses_count >= NODES_MAX)
				return HD_OK;
		}
		TRY(job_check(exact->job, rows.count, exact->err));
	}
	/*
	 * dotnet-gcdump does not notice missing blocks, and then joins parts that do not belong
	 * together.
	 */
	if (edges_there(exact, &edges) || edges.item < exact->snapshot->end)
		return exact_fail_incomplete(exact, "it has references without objects");
	return HD_OK;
}

void exact_objects_deinit(struct exact_objects *objects)
{
	pages_free(objects->records, objects->records_capacity, sizeof(*objects->records));
	pages_free(objects->children, objects->children_capacity, sizeof(*objects->children));
}
