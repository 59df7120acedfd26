/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_exact.h"

#include <inttypes.h>
#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"

/* Where dotnet-gcdump stops (MaxNodeCount). */
#define NODES_MAX 10000000u

/* How many look-ups ahead memory is asked for. */
#define AHEAD 12u

#define CCW_SIZE  44u
#define CCW_NODE  200
#define RCW_SIZE  40u
#define RCW_EXTRA 1000u

/* The node of the tree that a root belongs to. */
static enum hd_status root_group(struct nx *nx, const struct nt_root *root, uint32_t *ret)
{
	if (root->kind == NT_ROOT_STACK)
		return nx_kid_named(nx, 0, "[local vars]", ret);
	uint32_t others;
	TRY(nx_kid_named(nx, 0, "[other roots]", &others));
	const char *name = "[other Handles]";
	if (root->flags & NT_ROOT_REF_COUNTED) {
		name = "[COM/WinRT Objects]";
	} else if (root->kind == NT_ROOT_FINALIZER) {
		name = "[finalizer Handles]";
	} else if (root->kind == NT_ROOT_HANDLE) {
		name = root->flags == NT_ROOT_PINNING ? "[pinning Handles]" : "[strong Handles]";
	}
	return nx_kid_named(nx, others, name, ret);
}

static enum hd_status add_roots(struct nx *nx, const struct nt_item *item)
{
	uint32_t group;
	TRY(nx_kid_named(nx, 0, "[static vars]", &group));
	size_t row_size = NT_ROOT_SIZE(nx->pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct nt_root root = nt_root(rows.at + row_size * i, nx->pointer_size);
		if (root.flags & NT_ROOT_WEAK)
			continue;
		TRY(root_group(nx, &root, &group));
		TRY(nx_add_child(nx, group, root.object));
	}
	return HD_OK;
}

static enum hd_status add_weak_tables(struct nx *nx, const struct nt_item *item)
{
	uint32_t group;
	TRY(nx_kid_named(nx, 0, "[other roots]", &group));
	TRY(nx_kid_named(nx, group, "[Dependent Handles]", &group));
	size_t row_size = NT_WEAK_TABLE_SIZE(nx->pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + row_size * i;
		uint64_t key = nt_load_pointer(at, nx->pointer_size);
		if (key) {
			TRY(nx_add_child(nx, group,
					 nt_load_pointer(at + nx->pointer_size, nx->pointer_size)));
		}
	}
	return HD_OK;
}

static enum hd_status add_rcws(struct nx *nx, const struct nt_item *item)
{
	struct nt_rows rows = nt_rows(item, 6, RCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)RCW_SIZE * i;
		TRY(nx_set_rcw(nx, load_u64(at), load_u64(at + 16)));
	}
	return HD_OK;
}

static enum hd_status add_record(struct nx *nx, uint32_t node, uint32_t type, int32_t size,
				 uint32_t child_count)
{
	if (!PAGES_RESERVE(nx, records))
		return fail_nomem(nx->err);
	nx->records[nx->records_count++] = (struct nx_record){ .node = node,
							       .type = type,
							       .size = size < 0 ? INT32_MAX : size,
							       .child_count = child_count };
	return HD_OK;
}

static enum hd_status append_child(struct nx *nx, uint64_t address)
{
	uint32_t node;
	TRY(nx_node(nx, address, &node));
	if (!PAGES_RESERVE(nx, children))
		return fail_nomem(nx->err);
	nx->children[nx->children_count++] = node;
	return HD_OK;
}

static enum hd_status add_ccws(struct nx *nx, const struct nt_item *item, uint32_t group)
{
	struct nt_rows rows = nt_rows(item, 6, CCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)CCW_SIZE * i;
		uint64_t object = load_u64(at + 8), id = load_u64(at + 16);
		uint64_t unknown = load_u64(at + 24);
		if (!unknown)
			continue;
		uint32_t node, type;
		TRY(nx_node(nx, unknown, &node));
		TRY(nx_type_of(nx, id, CCW_NODE, &type));
		const struct gcdump_text name = nx->types[type].name;
		nx->text.size = 0;
		text_printf(&nx->text, "[CCW 0x%" PRIx64 " for type ", unknown);
		text_append(&nx->text, (const char *)name.bytes, name.size);
		text_puts(&nx->text, "]");
		TRY(nx_type_named(nx, NULL, &type));
		TRY(append_child(nx, object));
		TRY(add_record(nx, node, type, CCW_NODE, 1));
		TRY(nx_add_child(nx, group, unknown));
	}
	return HD_OK;
}

static enum hd_status add_statics(struct nx *nx, const struct nt_item *item)
{
	uint32_t count;
	struct nt_bytes at = nt_statics(item, &count);
	struct nt_static variable;
	for (uint32_t i = 0; i < count && nt_static_next(&at, &variable); i++) {
		bool of_thread = variable.flags & NT_STATIC_OF_THREAD;
		uint32_t group, type, own;
		TRY(nx_kid_named(nx, 0, of_thread ? "[thread static vars]" : "[static vars]",
				 &group));
		TRY(nx_known_type(nx, variable.type, &type));
		nx->text.size = 0;
		text_puts(&nx->text, "[static var ");
		if (type == HD_NONE) {
			text_printf(&nx->text, "Type(0x%" PRIx64 ")", variable.type);
		} else {
			text_append(&nx->text, (const char *)nx->types[type].name.bytes,
				    nx->types[type].name.size);
		}
		text_puts(&nx->text, ".");
		nx_append(nx, &variable.field);
		text_puts(&nx->text, "]");
		TRY(nx_kid(nx, group, &own));
		TRY(nx_add_child(nx, own, variable.object));
	}
	return HD_OK;
}

/* What dotnet-gcdump looks at when it comes. */
static enum hd_status add_early_roots(struct nx *nx)
{
	const struct nt_snapshot *snapshot = nx->snapshot;
	const struct nt_item *items = nx->trace->items;
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_ROOTS)
			TRY(add_roots(nx, &items[i]));
		if (items[i].kind == NT_WEAK_TABLES)
			TRY(add_weak_tables(nx, &items[i]));
		if (items[i].kind == NT_RCWS)
			TRY(add_rcws(nx, &items[i]));
	}
	return HD_OK;
}

/* What waits for the types. */
static enum hd_status add_late_roots(struct nx *nx)
{
	const struct nt_snapshot *snapshot = nx->snapshot;
	const struct nt_item *items = nx->trace->items;
	uint32_t group;
	TRY(nx_kid_named(nx, 0, "[COM/WinRT Objects]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_CCWS)
			TRY(add_ccws(nx, &items[i], group));
	}
	TRY(nx_kid_named(nx, 0, "[static vars]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_STATICS)
			TRY(add_statics(nx, &items[i]));
	}
	return HD_OK;
}

/* The references of all objects, one behind the other. */
struct edges {
	size_t item;
	struct nt_rows rows;
	uint32_t row;
	uint32_t next; /* index of the next block */
};

/* Go to the next block when one is used up; false: there is none. */
static bool edges_there(const struct nx *nx, struct edges *edges)
{
	while (edges->row >= edges->rows.count) {
		while (edges->item < nx->snapshot->end &&
		       nx->trace->items[edges->item].kind != NT_EDGES)
			edges->item++;
		if (edges->item == nx->snapshot->end)
			return false;
		edges->rows = nt_indexed_rows(&nx->trace->items[edges->item++],
					      NT_EDGE_SIZE(nx->pointer_size));
		edges->row = 0;
		if (edges->rows.index != edges->next++)
			return false;
	}
	return true;
}

static enum hd_status fail_incomplete(const struct nx *nx, const char *what)
{
	return fail(
		nx->err, HD_ERR_FORMAT, nx->trace->stream.stopped_at,
		"%s: %s: dotnet-gcdump makes nothing of such a snapshot; read it without --exact",
		nx->trace->stream.path, what);
}

/* Ask for what the rows behind @p row need, which begin with an address. */
static void prefetch(const struct nx *nx, const struct nt_rows *rows, uint32_t row, size_t row_size)
{
	const uint8_t *at = rows->at + row_size * row;
	if (rows->count - row <= 2 * AHEAD)
		return;
	nx_prefetch_node(nx, nt_load_pointer(at + row_size * AHEAD, nx->pointer_size));
	nx_prefetch_slot(nx, nt_load_pointer(at + row_size * 2 * AHEAD, nx->pointer_size));
}

static enum hd_status add_node(struct nx *nx, const struct nt_node *object, struct edges *edges)
{
	uint32_t node, type;
	uint32_t size = (uint32_t)object->size;
	size_t first = nx->children_count;
	TRY(nx_node(nx, object->address, &node));
	TRY(nx_type_of(nx, object->type, (int32_t)size, &type));
	for (uint64_t i = 0; i < object->edges; i++) {
		if (!edges_there(nx, edges))
			return fail_incomplete(nx, "references of its objects are missing");
		const uint8_t *at =
			edges->rows.at + (size_t)NT_EDGE_SIZE(nx->pointer_size) * edges->row++;
		TRY(append_child(nx, nt_load_pointer(at, nx->pointer_size)));
		prefetch(nx, &edges->rows, edges->row, NT_EDGE_SIZE(nx->pointer_size));
	}
	uint64_t unknown;
	bool has_rcw;
	TRY(nx_rcw(nx, object->address, &has_rcw, &unknown));
	if (has_rcw) {
		TRY(append_child(nx, unknown));
		size += RCW_EXTRA;
	}
	if (nx->children_count - first > INT32_MAX)
		return fail(nx->err, HD_ERR_UNSUPPORTED, 0, "an object of 2 billion references");
	return add_record(nx, node, type, (int32_t)size, (uint32_t)(nx->children_count - first));
}

static enum hd_status add_nodes(struct nx *nx)
{
	struct edges edges = { .item = nx->snapshot->first };
	size_t row_size = NT_NODE_SIZE(nx->pointer_size);
	uint32_t next = 0;
	for (size_t i = nx->snapshot->first; i < nx->snapshot->end; i++) {
		const struct nt_item *item = &nx->trace->items[i];
		if (item->kind != NT_NODES)
			continue;
		struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
		if (rows.index != next++)
			return fail_incomplete(nx, "some of its objects are missing");
		for (uint32_t k = 0; k < rows.count; k++) {
			struct nt_node node = nt_node(rows.at + row_size * k, nx->pointer_size);
			TRY(add_node(nx, &node, &edges));
			prefetch(nx, &rows, k, row_size);
			if (nx->addresses_count >= NODES_MAX)
				return HD_OK;
		}
		if (!job_step(nx->job, 0, rows.count))
			return fail_cancelled(nx->err);
	}
	/* dotnet-gcdump does not see when whole blocks are missing, and joins what does not belong. */
	if (edges_there(nx, &edges) || edges.item < nx->snapshot->end)
		return fail_incomplete(nx, "it has references without objects");
	return HD_OK;
}

static void source_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	const struct nx *nx = arg;
	*ret = nx->types[type];
}

static void source_rewind(void *arg)
{
	struct nx *nx = arg;
	nx->next_record = nx->next_child = 0;
	nx->next_pseudo = 0;
	nx->passes++;
}

/* Nobody asks for them once more. */
static void give_back(struct nx *nx)
{
	pages_discard(nx->records, nx->records_capacity, 0, nx->next_record, sizeof(*nx->records));
	pages_discard(nx->children, nx->children_capacity, 0, nx->next_child,
		      sizeof(*nx->children));
}

static bool source_next(void *arg, struct gcdump_node *ret)
{
	struct nx *nx = arg;
	if (nx->next_record < nx->records_count) {
		if (nx->passes > 1 && nx->next_record % JOB_STRIDE == 0)
			give_back(nx);
		const struct nx_record *record = &nx->records[nx->next_record++];
		*ret = (struct gcdump_node){ .index = record->node,
					     .type = record->type,
					     .size = record->size,
					     .child_count = record->child_count,
					     .children = record->child_count
								 ? nx->children + nx->next_child
								 : NULL };
		nx->next_child += record->child_count;
		return true;
	}
	if (nx->next_pseudo == HD_NONE)
		return false;
	const struct nx_pseudo *pseudo = &nx->pseudos[nx->next_pseudo];
	*ret = (struct gcdump_node){ .index = pseudo->node,
				     .type = pseudo->type,
				     .child_count = pseudo->child_count,
				     .children = nx->pseudo_children + pseudo->first_child };
	nx->next_pseudo = nx_after(nx, nx->next_pseudo);
	return true;
}

static uint64_t source_address(void *arg, uint32_t node)
{
	const struct nx *nx = arg;
	return nx->addresses[node];
}

static enum hd_status encode(struct nx *nx, format_write_fn write, void *arg)
{
	const char *tool = "dotnet-gcdump";
	struct gcdump_about about = { .version = 10,
				      .min_reader = 8,
				      .is_64bit = nx->pointer_size == 8,
				      .has_is_64bit = true,
				      .average_count = 1,
				      .average_size = 1,
				      .has_tool = true,
				      .has_interop = true };
	if (!gcdump_text_of(nx->arena, tool, strlen(tool), &about.tool))
		return fail_nomem(nx->err);
	const struct gcdump_source source = { .about = &about,
					      .root = 0,
					      .type_count = (uint32_t)nx->types_count,
					      .node_count = (uint32_t)nx->addresses_count,
					      .type = source_type,
					      .rewind = source_rewind,
					      .next = source_next,
					      .address = source_address,
					      .arg = nx };
	return gcdump_encode(&source, nx->job, write, arg, nx->err);
}

/* Type 0, of what is mentioned and never comes. */
static enum hd_status add_undefined(struct nx *nx)
{
	struct gcdump_text undefined;
	uint32_t type;
	text_puts(&nx->text, "UNDEFINED");
	TRY(nx_copy_text(nx, &undefined));
	TRY(nx_add_type(nx, &undefined, NULL, &type));
	nx->types[type].size = 0;
	return HD_OK;
}

static enum hd_status convert(struct nx *nx, format_write_fn write, void *arg)
{
	nx->arena = arena_create();
	if (!nx->arena)
		return fail_nomem(nx->err);
	if (!nx->snapshot->has_end)
		return fail_incomplete(nx, "the end of the heap snapshot is missing");
	TRY(add_undefined(nx));
	job_begin(nx->job, "Converting objects", 0);
	TRY(nx_root(nx));
	TRY(add_early_roots(nx));
	TRY(nx_types(nx));
	TRY(add_late_roots(nx));
	TRY(add_nodes(nx));
	TRY(nx_finish_pseudos(nx));
	/* Encoding needs no more than the arrays. */
	pages_free(nx->map.slots, nx->map.capacity, sizeof(*nx->map.slots));
	nx->map = (struct nx_map){ 0 };
	return encode(nx, write, arg);
}

enum hd_status nt_exact_write(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			      struct job *job, format_write_fn write, void *arg,
			      struct hd_error *err)
{
	struct nx nx = { .trace = trace,
			 .snapshot = snapshot,
			 .job = job,
			 .err = err,
			 .pointer_size = trace->stream.pointer_size == 4 ? 4 : 8 };
	enum hd_status status = convert(&nx, write, arg);
	pages_free(nx.map.slots, nx.map.capacity, sizeof(*nx.map.slots));
	pages_free(nx.addresses, nx.addresses_capacity, sizeof(*nx.addresses));
	pages_free(nx.records, nx.records_capacity, sizeof(*nx.records));
	pages_free(nx.children, nx.children_capacity, sizeof(*nx.children));
	pages_free(nx.pseudos, nx.pseudos_capacity, sizeof(*nx.pseudos));
	pages_free(nx.links, nx.links_capacity, sizeof(*nx.links));
	pages_free(nx.pseudo_children, nx.links_count, sizeof(*nx.pseudo_children));
	pages_free(nx.types, nx.types_capacity, sizeof(*nx.types));
	type_table_deinit(&nx.table);
	pages_free(nx.slots, nx.slots_capacity, sizeof(*nx.slots));
	string_table_deinit(&nx.names);
	pages_free(nx.values, nx.values_capacity, sizeof(*nx.values));
	arena_destroy(nx.arena);
	text_deinit(&nx.text);
	text_deinit(&nx.key);
	return status;
}
