/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "format/gcdump/gcdump_encode.h"
#include "format/nettrace/nettrace_exact_types.h"
#include "format/nettrace/nettrace_heap.h"
#include "format/nettrace/nettrace_snapshot.h"
#include "util/alloc.h"
#include "util/arena.h"

/*
 * A snapshot as dotnet-gcdump turns it into a graph (doc/formats.md 7;
 * DotNetHeapDumpGraphReader.cs, MemoryGraph.cs): nodes and types (nettrace_exact_types.c) are
 * numbered as they are first mentioned, and roots are a tree of nodes that are not objects.  When
 * the records of all objects are complete, they are encoded.
 */

/*
 * A node's record, in the order of the blob; its children come after those of the record before it.
 */
struct exact_record {
	uint32_t node, type;
	int32_t size;
	uint32_t child_count;
};

/* The records of objects; begins with only nodes and err set. */
struct exact_objects {
	struct exact_nodes *nodes;
	struct hd_error *err;
	struct exact_record *records; /* pages */
	size_t records_count, records_capacity;
	uint32_t *children; /* pages; nodes */
	size_t children_count, children_capacity;
};

/* The conversion: what it reads, and the parts that it fills, which point to each other. */
struct exact_dump {
	const struct nt_trace *trace;
	const struct nt_snapshot *snapshot;
	struct job *job;
	struct hd_error *err;
	uint32_t pointer_size; /* 4 or 8 */
	struct exact_nodes nodes;
	struct exact_names names;
	struct exact_types types;
	struct exact_tree tree;
	struct exact_objects objects;
};

/* Fail with @p what, because dotnet-gcdump cannot convert such a snapshot. */
static enum hd_status exact_fail_incomplete(const struct exact_dump *exact, const char *what)
{
	return fail(
		exact->err, HD_ERR_FORMAT, exact->trace->stream.outcome.stopped_at,
		"%s: %s: dotnet-gcdump makes nothing of such a snapshot; read it without --exact",
		exact->trace->stream.path, what);
}

/* Objects and what they refer to: their records, in the order of the trace. */

/* Where dotnet-gcdump stops (MaxNodeCount). */
#define NODES_MAX 10000000u

/* How many look-ups ahead memory is prefetched. */
#define AHEAD_LOOKUPS 12u

/* dotnet-gcdump adds this to the size of an object that has an RCW. */
#define RCW_EXTRA 1000u

/* Add a record, with the last @p child_count children. */
static enum hd_status exact_add_record(struct exact_objects *objects, uint32_t node, uint32_t type,
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

/* Append a child to the next record: the node of @p address. */
static enum hd_status exact_append_child(struct exact_objects *objects, uint64_t address)
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

/*
 * Read all objects and their references.
 *
 * @retval HD_OK also when it stops where dotnet-gcdump does
 * @retval HD_ERR_FORMAT some are missing
 * @retval HD_ERR_UNSUPPORTED too many for a .gcdump
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
static enum hd_status exact_objects_read(struct exact_dump *exact)
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

static void exact_objects_deinit(struct exact_objects *objects)
{
	pages_free(objects->records, objects->records_capacity, sizeof(*objects->records));
	pages_free(objects->children, objects->children_capacity, sizeof(*objects->children));
}

/* Roots, as dotnet-gcdump puts them into its tree. */

#define CCW_SIZE 44u
#define CCW_NODE 200
#define RCW_SIZE 40u

/* The node of the tree that a root belongs to. */
static enum hd_status root_group(struct exact_tree *tree, const struct nt_root *root, uint32_t *ret)
{
	if (root->kind == NT_ROOT_STACK)
		return exact_kid_named(tree, 0, "[local vars]", ret);
	uint32_t others;
	TRY(exact_kid_named(tree, 0, "[other roots]", &others));
	const char *name = "[other Handles]";
	if (root->flags & NT_ROOT_REF_COUNTED) {
		name = "[COM/WinRT Objects]";
	} else if (root->kind == NT_ROOT_FINALIZER) {
		name = "[finalizer Handles]";
	} else if (root->kind == NT_ROOT_HANDLE) {
		name = root->flags == NT_ROOT_PINNING ? "[pinning Handles]" : "[strong Handles]";
	}
	return exact_kid_named(tree, others, name, ret);
}

static enum hd_status add_exact_roots(struct exact_tree *tree, const struct nt_item *item,
				      uint32_t pointer_size)
{
	uint32_t group;
	TRY(exact_kid_named(tree, 0, "[static vars]", &group));
	size_t row_size = NT_ROOT_SIZE(pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct nt_root root = nt_root(rows.at + row_size * i, pointer_size);
		if (root.flags & NT_ROOT_WEAK)
			continue;
		TRY(root_group(tree, &root, &group));
		TRY(exact_add_child(tree, group, root.object));
	}
	return HD_OK;
}

static enum hd_status add_weak_tables(struct exact_tree *tree, const struct nt_item *item,
				      uint32_t pointer_size)
{
	uint32_t group;
	TRY(exact_kid_named(tree, 0, "[other roots]", &group));
	TRY(exact_kid_named(tree, group, "[Dependent Handles]", &group));
	size_t row_size = NT_WEAK_TABLE_SIZE(pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + row_size * i;
		uint64_t key = nt_load_pointer(at, pointer_size);
		if (key) {
			TRY(exact_add_child(tree, group,
					    nt_load_pointer(at + pointer_size, pointer_size)));
		}
	}
	return HD_OK;
}

static enum hd_status add_rcws(struct exact_types *types, const struct nt_item *item)
{
	struct nt_rows rows = nt_rows(item, 6, RCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)RCW_SIZE * i;
		TRY(exact_set_rcw(types, load_u64(at), load_u64(at + 16)));
	}
	return HD_OK;
}

static enum hd_status add_ccws(struct exact_dump *exact, const struct nt_item *item, uint32_t group)
{
	struct text *text = &exact->names.text;
	struct nt_rows rows = nt_rows(item, 6, CCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)CCW_SIZE * i;
		uint64_t object = load_u64(at + 8), id = load_u64(at + 16);
		uint64_t unknown = load_u64(at + 24);
		if (!unknown)
			continue;
		uint32_t node, type;
		TRY(exact_node(&exact->nodes, unknown, &node));
		TRY(exact_type_of(&exact->types, id, CCW_NODE, &type));
		text->size = 0;
		text_printf(text, "[CCW 0x%" PRIx64 " for type ", unknown);
		exact_append_copy(&exact->names, &exact->types.types[type].name);
		text_puts(text, "]");
		TRY(exact_type_named(&exact->types, NULL, &type));
		TRY(exact_append_child(&exact->objects, object));
		TRY(exact_add_record(&exact->objects, node, type, CCW_NODE, 1));
		TRY(exact_add_child(&exact->tree, group, unknown));
	}
	return HD_OK;
}

static enum hd_status add_exact_statics(struct exact_tree *tree, struct exact_types *types,
					const struct nt_item *item)
{
	struct exact_names *names = types->names;
	uint32_t count;
	struct nt_bytes at = nt_statics(item, &count);
	struct nt_static variable;
	for (uint32_t i = 0; i < count && nt_static_next(&at, &variable); i++) {
		bool of_thread = variable.flags & NT_STATIC_OF_THREAD;
		uint32_t group, type, own;
		TRY(exact_kid_named(tree, 0, of_thread ? "[thread static vars]" : "[static vars]",
				    &group));
		TRY(exact_known_type(types, variable.type, &type));
		exact_set_text(names, "[static var ");
		if (type == HD_NONE) {
			text_printf(&names->text, "Type(0x%" PRIx64 ")", variable.type);
		} else {
			exact_append_copy(names, &types->types[type].name);
		}
		text_puts(&names->text, ".");
		exact_append(names, &variable.field);
		text_puts(&names->text, "]");
		TRY(exact_kid(tree, group, &own));
		TRY(exact_add_child(tree, own, variable.object));
	}
	return HD_OK;
}

/* Add the roots that dotnet-gcdump reads as they come. */
static enum hd_status exact_early_roots(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	const struct nt_item *items = exact->trace->items;
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_ROOTS)
			TRY(add_exact_roots(&exact->tree, &items[i], exact->pointer_size));
		if (items[i].kind == NT_WEAK_TABLES)
			TRY(add_weak_tables(&exact->tree, &items[i], exact->pointer_size));
		if (items[i].kind == NT_RCWS)
			TRY(add_rcws(&exact->types, &items[i]));
	}
	return HD_OK;
}

/* Add the roots that need the types to be known. */
static enum hd_status exact_late_roots(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	const struct nt_item *items = exact->trace->items;
	uint32_t group;
	TRY(exact_kid_named(&exact->tree, 0, "[COM/WinRT Objects]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_CCWS)
			TRY(add_ccws(exact, &items[i], group));
	}
	TRY(exact_kid_named(&exact->tree, 0, "[static vars]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_STATICS)
			TRY(add_exact_statics(&exact->tree, &exact->types, &items[i]));
	}
	return HD_OK;
}

/* The records of objects and pseudo-nodes, handed to gcdump_encode(). */

/* The position in the records. */
struct exact_reading {
	const struct exact_dump *exact;
	size_t next_record, next_child; /* index in objects */
	uint32_t next_pseudo;           /* HD_NONE: none is left */
	uint32_t passes;                /* number of passes begun; the second one frees records on
					 * the way */
};

static void source_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	const struct exact_reading *reading = arg;
	*ret = reading->exact->types.types[type];
}

static void source_rewind(void *arg)
{
	struct exact_reading *reading = arg;
	reading->next_record = reading->next_child = 0;
	reading->next_pseudo = 0;
	reading->passes++;
}

/* They are not needed again. */
static void give_back(const struct exact_reading *reading)
{
	const struct exact_objects *objects = &reading->exact->objects;
	pages_discard(objects->records, objects->records_capacity, 0, reading->next_record,
		      sizeof(*objects->records));
	pages_discard(objects->children, objects->children_capacity, 0, reading->next_child,
		      sizeof(*objects->children));
}

static bool next_exact_object(struct exact_reading *reading, struct gcdump_node *ret)
{
	const struct exact_objects *objects = &reading->exact->objects;
	if (reading->next_record == objects->records_count)
		return false;
	if (reading->passes > 1 && reading->next_record % JOB_STRIDE == 0)
		give_back(reading);
	const struct exact_record *record = &objects->records[reading->next_record++];
	*ret = (struct gcdump_node){ .index = record->node,
				     .type = record->type,
				     .size = record->size,
				     .child_count = record->child_count,
				     .children = record->child_count
							 ? objects->children + reading->next_child
							 : NULL };
	reading->next_child += record->child_count;
	return true;
}

static bool source_next(void *arg, struct gcdump_node *ret)
{
	struct exact_reading *reading = arg;
	const struct exact_tree *tree = &reading->exact->tree;
	if (next_exact_object(reading, ret))
		return true;
	if (reading->next_pseudo == HD_NONE)
		return false;
	const struct exact_pseudo *pseudo = &tree->pseudos[reading->next_pseudo];
	*ret = (struct gcdump_node){ .index = pseudo->node,
				     .type = pseudo->type,
				     .child_count = pseudo->child_count,
				     .children = tree->pseudo_children + pseudo->first_child };
	reading->next_pseudo = exact_after(tree, reading->next_pseudo);
	return true;
}

static uint64_t source_address(void *arg, uint32_t node)
{
	const struct exact_reading *reading = arg;
	return reading->exact->nodes.addresses[node];
}

/* Write the .gcdump; the memory of records is given back as they are written. */
static enum hd_status exact_encode(const struct exact_dump *exact, format_write_fn write, void *arg)
{
	const char *tool = "dotnet-gcdump";
	struct gcdump_about about = { .version = 10,
				      .min_reader = 8,
				      .is_64bit = exact->pointer_size == 8,
				      .has_is_64bit = true,
				      .sampling = { .average_count = 1, .average_size = 1 },
				      .has_tool = true,
				      .interop = { .is_there = true } };
	TRY_MEMORY(gcdump_text_of(exact->names.arena, tool, strlen(tool), &about.tool), exact->err);
	struct exact_reading reading = { .exact = exact };
	const struct gcdump_source source = { .about = &about,
					      .root = 0,
					      .type_count = (uint32_t)exact->types.types_count,
					      .node_count = (uint32_t)exact->nodes.addresses_count,
					      .type = source_type,
					      .rewind = source_rewind,
					      .next = source_next,
					      .address = source_address,
					      .arg = &reading };
	return gcdump_encode(&source, exact->job, write, arg, exact->err);
}

/* Type 0, for what is mentioned but never comes. */
static enum hd_status add_undefined(struct exact_types *types)
{
	struct gcdump_text undefined;
	uint32_t type;
	exact_set_text(types->names, "UNDEFINED");
	TRY(exact_copy_text(types->names, &undefined));
	TRY(exact_add_type(types, &undefined, NULL, &type));
	types->types[type].size = 0;
	return HD_OK;
}

static enum hd_status convert_exact(struct exact_dump *exact, format_write_fn write, void *arg)
{
	exact->names.arena = arena_create();
	TRY_MEMORY(exact->names.arena, exact->err);
	if (!exact->snapshot->has_end)
		return exact_fail_incomplete(exact, "the end of the heap snapshot is missing");
	TRY(add_undefined(&exact->types));
	job_begin(exact->job, "Converting objects", 0);
	TRY(exact_root(&exact->tree));
	TRY(exact_early_roots(exact));
	TRY(exact_types_collect(&exact->types, exact->trace, exact->snapshot));
	TRY(exact_late_roots(exact));
	TRY(exact_objects_read(exact));
	TRY(exact_finish_pseudos(&exact->tree, &exact->types));
	/* Encoding needs no more than the arrays. */
	exact_nodes_forget(&exact->nodes);
	return exact_encode(exact, write, arg);
}

enum hd_status nt_exact_write(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			      struct job *job, format_write_fn write, void *arg,
			      struct hd_error *err)
{
	struct exact_dump exact = {
		.trace = trace,
		.snapshot = snapshot,
		.job = job,
		.err = err,
		.pointer_size = trace->stream.about.pointer_size == 4 ? 4 : 8,
		.nodes = { .job = job, .err = err },
		.names = { .err = err },
		.types = { .names = &exact.names, .err = err },
		.tree = { .nodes = &exact.nodes, .names = &exact.names, .err = err },
		.objects = { .nodes = &exact.nodes, .err = err },
	};
	enum hd_status status = convert_exact(&exact, write, arg);
	exact_objects_deinit(&exact.objects);
	exact_tree_deinit(&exact.tree);
	exact_types_deinit(&exact.types);
	exact_names_deinit(&exact.names);
	exact_nodes_deinit(&exact.nodes);
	return status;
}
