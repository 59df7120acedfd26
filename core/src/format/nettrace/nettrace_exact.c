/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_exact.h"

#include <inttypes.h>
#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"

/* Where dotnet-gcdump stops (MaxNodeCount). */
#define NODES_MAX 10000000u

/* How many look-ups ahead memory is asked for. */
#define AHEAD_LOOKUPS 12u

#define CCW_SIZE  44u
#define CCW_NODE  200
#define RCW_SIZE  40u
#define RCW_EXTRA 1000u

/* The node of the tree that a root belongs to. */
static enum hd_status root_group(struct exact_dump *exact, const struct nt_root *root,
				 uint32_t *ret)
{
	if (root->kind == NT_ROOT_STACK)
		return exact_kid_named(exact, 0, "[local vars]", ret);
	uint32_t others;
	TRY(exact_kid_named(exact, 0, "[other roots]", &others));
	const char *name = "[other Handles]";
	if (root->flags & NT_ROOT_REF_COUNTED) {
		name = "[COM/WinRT Objects]";
	} else if (root->kind == NT_ROOT_FINALIZER) {
		name = "[finalizer Handles]";
	} else if (root->kind == NT_ROOT_HANDLE) {
		name = root->flags == NT_ROOT_PINNING ? "[pinning Handles]" : "[strong Handles]";
	}
	return exact_kid_named(exact, others, name, ret);
}

static enum hd_status add_exact_roots(struct exact_dump *exact, const struct nt_item *item)
{
	uint32_t group;
	TRY(exact_kid_named(exact, 0, "[static vars]", &group));
	size_t row_size = NT_ROOT_SIZE(exact->pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct nt_root root = nt_root(rows.at + row_size * i, exact->pointer_size);
		if (root.flags & NT_ROOT_WEAK)
			continue;
		TRY(root_group(exact, &root, &group));
		TRY(exact_add_child(exact, group, root.object));
	}
	return HD_OK;
}

static enum hd_status add_weak_tables(struct exact_dump *exact, const struct nt_item *item)
{
	uint32_t group;
	TRY(exact_kid_named(exact, 0, "[other roots]", &group));
	TRY(exact_kid_named(exact, group, "[Dependent Handles]", &group));
	size_t row_size = NT_WEAK_TABLE_SIZE(exact->pointer_size);
	struct nt_rows rows = nt_indexed_rows(item, (uint32_t)row_size);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + row_size * i;
		uint64_t key = nt_load_pointer(at, exact->pointer_size);
		if (key) {
			TRY(exact_add_child(
				exact, group,
				nt_load_pointer(at + exact->pointer_size, exact->pointer_size)));
		}
	}
	return HD_OK;
}

static enum hd_status add_rcws(struct exact_dump *exact, const struct nt_item *item)
{
	struct nt_rows rows = nt_rows(item, 6, RCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)RCW_SIZE * i;
		TRY(exact_set_rcw(exact, load_u64(at), load_u64(at + 16)));
	}
	return HD_OK;
}

static enum hd_status add_exact_record(struct exact_dump *exact, uint32_t node, uint32_t type,
				       int32_t size, uint32_t child_count)
{
	if (!PAGES_RESERVE(exact, records))
		return fail_nomem(exact->err);
	exact->records[exact->records_count++] =
		(struct exact_record){ .node = node,
				       .type = type,
				       .size = size < 0 ? INT32_MAX : size,
				       .child_count = child_count };
	return HD_OK;
}

static enum hd_status append_child(struct exact_dump *exact, uint64_t address)
{
	uint32_t node;
	TRY(exact_node(exact, address, &node));
	if (!PAGES_RESERVE(exact, children))
		return fail_nomem(exact->err);
	exact->children[exact->children_count++] = node;
	return HD_OK;
}

static enum hd_status add_ccws(struct exact_dump *exact, const struct nt_item *item, uint32_t group)
{
	struct nt_rows rows = nt_rows(item, 6, CCW_SIZE);
	for (uint32_t i = 0; i < rows.count; i++) {
		const uint8_t *at = rows.at + (size_t)CCW_SIZE * i;
		uint64_t object = load_u64(at + 8), id = load_u64(at + 16);
		uint64_t unknown = load_u64(at + 24);
		if (!unknown)
			continue;
		uint32_t node, type;
		TRY(exact_node(exact, unknown, &node));
		TRY(exact_type_of(exact, id, CCW_NODE, &type));
		const struct gcdump_text name = exact->types[type].name;
		exact->text.size = 0;
		text_printf(&exact->text, "[CCW 0x%" PRIx64 " for type ", unknown);
		text_append(&exact->text, (const char *)name.bytes, name.size);
		text_puts(&exact->text, "]");
		TRY(exact_type_named(exact, NULL, &type));
		TRY(append_child(exact, object));
		TRY(add_exact_record(exact, node, type, CCW_NODE, 1));
		TRY(exact_add_child(exact, group, unknown));
	}
	return HD_OK;
}

static enum hd_status add_exact_statics(struct exact_dump *exact, const struct nt_item *item)
{
	uint32_t count;
	struct nt_bytes at = nt_statics(item, &count);
	struct nt_static variable;
	for (uint32_t i = 0; i < count && nt_static_next(&at, &variable); i++) {
		bool of_thread = variable.flags & NT_STATIC_OF_THREAD;
		uint32_t group, type, own;
		TRY(exact_kid_named(exact, 0, of_thread ? "[thread static vars]" : "[static vars]",
				    &group));
		TRY(exact_known_type(exact, variable.type, &type));
		exact->text.size = 0;
		text_puts(&exact->text, "[static var ");
		if (type == HD_NONE) {
			text_printf(&exact->text, "Type(0x%" PRIx64 ")", variable.type);
		} else {
			text_append(&exact->text, (const char *)exact->types[type].name.bytes,
				    exact->types[type].name.size);
		}
		text_puts(&exact->text, ".");
		exact_append(exact, &variable.field);
		text_puts(&exact->text, "]");
		TRY(exact_kid(exact, group, &own));
		TRY(exact_add_child(exact, own, variable.object));
	}
	return HD_OK;
}

/* What dotnet-gcdump looks at when it comes. */
static enum hd_status add_early_roots(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	const struct nt_item *items = exact->trace->items;
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_ROOTS)
			TRY(add_exact_roots(exact, &items[i]));
		if (items[i].kind == NT_WEAK_TABLES)
			TRY(add_weak_tables(exact, &items[i]));
		if (items[i].kind == NT_RCWS)
			TRY(add_rcws(exact, &items[i]));
	}
	return HD_OK;
}

/* What waits for the types. */
static enum hd_status add_late_roots(struct exact_dump *exact)
{
	const struct nt_snapshot *snapshot = exact->snapshot;
	const struct nt_item *items = exact->trace->items;
	uint32_t group;
	TRY(exact_kid_named(exact, 0, "[COM/WinRT Objects]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_CCWS)
			TRY(add_ccws(exact, &items[i], group));
	}
	TRY(exact_kid_named(exact, 0, "[static vars]", &group));
	for (size_t i = snapshot->first; i < snapshot->end; i++) {
		if (items[i].kind == NT_STATICS)
			TRY(add_exact_statics(exact, &items[i]));
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

static enum hd_status fail_incomplete(const struct exact_dump *exact, const char *what)
{
	return fail(
		exact->err, HD_ERR_FORMAT, exact->trace->stream.stopped_at,
		"%s: %s: dotnet-gcdump makes nothing of such a snapshot; read it without --exact",
		exact->trace->stream.path, what);
}

/* Ask for what the rows behind @p row need, which begin with an address. */
static void prefetch(const struct exact_dump *exact, const struct nt_rows *rows, uint32_t row,
		     size_t row_size)
{
	const uint8_t *at = rows->at + row_size * row;
	if (rows->count - row <= 2 * AHEAD_LOOKUPS)
		return;
	exact_prefetch_node(exact,
			    nt_load_pointer(at + row_size * AHEAD_LOOKUPS, exact->pointer_size));
	exact_prefetch_slot(
		exact, nt_load_pointer(at + row_size * 2 * AHEAD_LOOKUPS, exact->pointer_size));
}

static enum hd_status add_exact_node(struct exact_dump *exact, const struct nt_node *object,
				     struct edges *edges)
{
	uint32_t node, type;
	uint32_t size = (uint32_t)object->size;
	size_t first = exact->children_count;
	TRY(exact_node(exact, object->address, &node));
	TRY(exact_type_of(exact, object->type, (int32_t)size, &type));
	for (uint64_t i = 0; i < object->edges; i++) {
		if (!edges_there(exact, edges))
			return fail_incomplete(exact, "references of its objects are missing");
		const uint8_t *at =
			edges->rows.at + (size_t)NT_EDGE_SIZE(exact->pointer_size) * edges->row++;
		TRY(append_child(exact, nt_load_pointer(at, exact->pointer_size)));
		prefetch(exact, &edges->rows, edges->row, NT_EDGE_SIZE(exact->pointer_size));
	}
	uint64_t unknown;
	bool has_rcw;
	TRY(exact_rcw(exact, object->address, &has_rcw, &unknown));
	if (has_rcw) {
		TRY(append_child(exact, unknown));
		size += RCW_EXTRA;
	}
	if (exact->children_count - first > INT32_MAX)
		return fail(exact->err, HD_ERR_UNSUPPORTED, 0, "an object of 2 billion references");
	return add_exact_record(exact, node, type, (int32_t)size,
				(uint32_t)(exact->children_count - first));
}

static enum hd_status add_nodes(struct exact_dump *exact)
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
			return fail_incomplete(exact, "some of its objects are missing");
		for (uint32_t k = 0; k < rows.count; k++) {
			struct nt_node node = nt_node(rows.at + row_size * k, exact->pointer_size);
			TRY(add_exact_node(exact, &node, &edges));
			prefetch(exact, &rows, k, row_size);
			if (exact->addresses_count >= NODES_MAX)
				return HD_OK;
		}
		if (!job_step(exact->job, 0, rows.count))
			return fail_cancelled(exact->err);
	}
	/* dotnet-gcdump does not see when whole blocks are missing, and joins what does not belong. */
	if (edges_there(exact, &edges) || edges.item < exact->snapshot->end)
		return fail_incomplete(exact, "it has references without objects");
	return HD_OK;
}

static void source_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	const struct exact_dump *exact = arg;
	*ret = exact->types[type];
}

static void source_rewind(void *arg)
{
	struct exact_dump *exact = arg;
	exact->next_record = exact->next_child = 0;
	exact->next_pseudo = 0;
	exact->passes++;
}

/* Nobody asks for them once more. */
static void give_back(struct exact_dump *exact)
{
	pages_discard(exact->records, exact->records_capacity, 0, exact->next_record,
		      sizeof(*exact->records));
	pages_discard(exact->children, exact->children_capacity, 0, exact->next_child,
		      sizeof(*exact->children));
}

static bool source_next(void *arg, struct gcdump_node *ret)
{
	struct exact_dump *exact = arg;
	if (exact->next_record < exact->records_count) {
		if (exact->passes > 1 && exact->next_record % JOB_STRIDE == 0)
			give_back(exact);
		const struct exact_record *record = &exact->records[exact->next_record++];
		*ret = (struct gcdump_node){
			.index = record->node,
			.type = record->type,
			.size = record->size,
			.child_count = record->child_count,
			.children = record->child_count ? exact->children + exact->next_child : NULL
		};
		exact->next_child += record->child_count;
		return true;
	}
	if (exact->next_pseudo == HD_NONE)
		return false;
	const struct exact_pseudo *pseudo = &exact->pseudos[exact->next_pseudo];
	*ret = (struct gcdump_node){ .index = pseudo->node,
				     .type = pseudo->type,
				     .child_count = pseudo->child_count,
				     .children = exact->pseudo_children + pseudo->first_child };
	exact->next_pseudo = exact_after(exact, exact->next_pseudo);
	return true;
}

static uint64_t source_address(void *arg, uint32_t node)
{
	const struct exact_dump *exact = arg;
	return exact->addresses[node];
}

static enum hd_status encode_exact(struct exact_dump *exact, format_write_fn write, void *arg)
{
	const char *tool = "dotnet-gcdump";
	struct gcdump_about about = { .version = 10,
				      .min_reader = 8,
				      .is_64bit = exact->pointer_size == 8,
				      .has_is_64bit = true,
				      .average_count = 1,
				      .average_size = 1,
				      .has_tool = true,
				      .has_interop = true };
	if (!gcdump_text_of(exact->arena, tool, strlen(tool), &about.tool))
		return fail_nomem(exact->err);
	const struct gcdump_source source = { .about = &about,
					      .root = 0,
					      .type_count = (uint32_t)exact->types_count,
					      .node_count = (uint32_t)exact->addresses_count,
					      .type = source_type,
					      .rewind = source_rewind,
					      .next = source_next,
					      .address = source_address,
					      .arg = exact };
	return gcdump_encode(&source, exact->job, write, arg, exact->err);
}

/* Type 0, of what is mentioned and never comes. */
static enum hd_status add_undefined(struct exact_dump *exact)
{
	struct gcdump_text undefined;
	uint32_t type;
	text_puts(&exact->text, "UNDEFINED");
	TRY(exact_copy_text(exact, &undefined));
	TRY(exact_add_type(exact, &undefined, NULL, &type));
	exact->types[type].size = 0;
	return HD_OK;
}

static enum hd_status convert_exact(struct exact_dump *exact, format_write_fn write, void *arg)
{
	exact->arena = arena_create();
	if (!exact->arena)
		return fail_nomem(exact->err);
	if (!exact->snapshot->has_end)
		return fail_incomplete(exact, "the end of the heap snapshot is missing");
	TRY(add_undefined(exact));
	job_begin(exact->job, "Converting objects", 0);
	TRY(exact_root(exact));
	TRY(add_early_roots(exact));
	TRY(exact_types(exact));
	TRY(add_late_roots(exact));
	TRY(add_nodes(exact));
	TRY(exact_finish_pseudos(exact));
	/* Encoding needs no more than the arrays. */
	pages_free(exact->map.slots, exact->map.capacity, sizeof(*exact->map.slots));
	exact->map = (struct exact_map){ 0 };
	return encode_exact(exact, write, arg);
}

enum hd_status nt_exact_write(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			      struct job *job, format_write_fn write, void *arg,
			      struct hd_error *err)
{
	struct exact_dump exact = { .trace = trace,
				    .snapshot = snapshot,
				    .job = job,
				    .err = err,
				    .pointer_size = trace->stream.pointer_size == 4 ? 4 : 8 };
	enum hd_status status = convert_exact(&exact, write, arg);
	pages_free(exact.map.slots, exact.map.capacity, sizeof(*exact.map.slots));
	pages_free(exact.addresses, exact.addresses_capacity, sizeof(*exact.addresses));
	pages_free(exact.records, exact.records_capacity, sizeof(*exact.records));
	pages_free(exact.children, exact.children_capacity, sizeof(*exact.children));
	pages_free(exact.pseudos, exact.pseudos_capacity, sizeof(*exact.pseudos));
	pages_free(exact.links, exact.links_capacity, sizeof(*exact.links));
	pages_free(exact.pseudo_children, exact.links_count, sizeof(*exact.pseudo_children));
	pages_free(exact.types, exact.types_capacity, sizeof(*exact.types));
	type_table_deinit(&exact.table);
	pages_free(exact.slots, exact.slots_capacity, sizeof(*exact.slots));
	string_table_deinit(&exact.names);
	pages_free(exact.values, exact.values_capacity, sizeof(*exact.values));
	arena_destroy(exact.arena);
	text_deinit(&exact.text);
	text_deinit(&exact.key);
	return status;
}
