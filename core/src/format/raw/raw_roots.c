/* SPDX-License-Identifier: MIT */
/* Roots, totals and findings of a graph that is being made. */
#include <string.h>

#include "format/raw/raw_graph.h"
#include "format/type_table.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"

/*
 * For fewer objects than this, another worker is not worth it; and for more types than this, sums
 * for each worker are not.
 */
#define OBJECTS_MIN      65536u
#define SHARED_TYPES_MAX 65536u

struct type_sum {
	uint64_t count, size;
};

/* Objects of which each worker has a share. */
struct counting {
	struct hd_graph *graph;
	const uint32_t *map;
	unsigned int workers;
	struct type_sum *sums; /* pages, type_count for each worker */
	_Atomic bool overflows;
};

static void count_share(void *arg, unsigned int worker)
{
	struct counting *counting = arg;
	const struct hd_graph *graph = counting->graph;
	struct type_sum *sums = counting->sums + (size_t)worker * graph->type_count;
	uint64_t objects = graph->object_count;
	uint32_t node = (uint32_t)(objects * worker / counting->workers);
	uint32_t end = (uint32_t)(objects * (worker + 1) / counting->workers);
	bool overflows = false;
	for (; node < end; node++) {
		uint32_t type = graph->node_types[node];
		uint64_t size = graph->sizes[node];
		if (size == SIZE_LARGE)
			size = graph_size(graph, node);
		if (counting->map)
			graph->node_types[node] = type = counting->map[type];
		sums[type].count++;
		overflows |= __builtin_add_overflow(sums[type].size, size, &sums[type].size);
	}
	if (overflows)
		counting->overflows = true;
}

/* false: a sum exceeds 64 bits. */
static bool add_sums(const struct counting *counting)
{
	struct hd_graph *graph = counting->graph;
	bool overflows = counting->overflows;
	for (size_t i = 0; i < (size_t)counting->workers * graph->type_count; i++) {
		struct graph_type *type = &graph->types[i % graph->type_count];
		const struct type_sum *sum = &counting->sums[i];
		type->count += sum->count;
		overflows |= __builtin_add_overflow(type->size, sum->size, &type->size);
		overflows |=
			__builtin_add_overflow(graph->total_size, sum->size, &graph->total_size);
	}
	return !overflows;
}

enum hd_status raw_graph_count_types(struct hd_graph *graph, const uint32_t *map, const char *path,
				     struct job *job, struct hd_error *err)
{
	struct counting counting = { .graph = graph, .map = map, .workers = job_workers(job) };
	if (graph->object_count < OBJECTS_MIN || graph->type_count > SHARED_TYPES_MAX)
		counting.workers = 1;
	size_t count = (size_t)counting.workers * graph->type_count;
	counting.sums = pages_alloc(count, sizeof(*counting.sums));
	TRY_MEMORY(counting.sums, err);
	run_parallel(counting.workers, job, count_share, &counting);
	bool is_good = add_sums(&counting);
	pages_free(counting.sums, count, sizeof(*counting.sums));
	if (is_good)
		return HD_OK;
	return fail(err, HD_ERR_FORMAT, 0, "%s%sthe sizes of all objects exceed 64 bits",
		    path ? path : "", path ? ": " : "");
}

enum hd_status raw_graph_finding(struct hd_graph *graph, enum finding_kind kind, uint64_t count,
				 const char *detail, struct hd_error *err)
{
	struct graph_finding *findings = mem_realloc(
		graph->findings.rows, graph->findings.count + 1, sizeof(*graph->findings.rows));
	TRY_MEMORY(findings, err);
	graph->findings.rows = findings;
	char *copy = mem_strndup(detail, strlen(detail));
	TRY_MEMORY(copy, err);
	findings[graph->findings.count++] =
		(struct graph_finding){ .kind = kind, .count = count, .detail = copy };
	return HD_OK;
}

/* Everything that a root says except its node, as a number. */
static uint64_t root_rest(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root *root = &graph->roots[index];
	uint64_t rest = (uint64_t)root->container << 16 | (uint64_t)root->kind << 8 | root->flags;
	if (!graph->origins.details)
		return rest;
	const struct graph_root_detail *detail = &graph->origins.details[index];
	uint64_t name = detail->name ? type_table_hash(detail->name, strlen(detail->name)) : 0;
	return (rest ^ name) * 0x9e3779b97f4a7c15u + detail->handle;
}

static bool same_root(const struct hd_graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_root *x = &graph->roots[a], *y = &graph->roots[b];
	if (x->node != y->node || x->container != y->container || x->kind != y->kind ||
	    x->flags != y->flags)
		return false;
	if (!graph->origins.details)
		return true;
	const struct graph_root_detail *p = &graph->origins.details[a],
				       *q = &graph->origins.details[b];
	if (p->handle != q->handle || !p->name != !q->name)
		return false;
	return !p->name || strcmp(p->name, q->name) == 0;
}

/*
 * Sort the roots by node, then by everything else, then by their position; keys and order have room
 * for @p count.
 */
static bool sort_roots(const struct hd_graph *graph, uint64_t *keys, uint32_t *order,
		       uint32_t *by_rest)
{
	uint32_t count = graph->root_count;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = root_rest(graph, i);
	if (!sort_keys(keys, by_rest, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = graph->roots[by_rest[i]].node;
	return sort_keys(keys, order, count);
}

enum hd_status raw_graph_mark_repeated(struct hd_graph *graph, struct hd_error *err)
{
	uint32_t count = graph->root_count;
	uint64_t *keys = pages_alloc(count, sizeof(*keys));
	uint32_t *order = pages_alloc(count, sizeof(*order));
	uint32_t *by_rest = pages_alloc(count, sizeof(*by_rest));
	bool made = keys && order && by_rest && sort_roots(graph, keys, order, by_rest);
	for (uint32_t i = 1; made && i < count; i++) {
		uint32_t root = by_rest[order[i]];
		graph->roots[root].repeated = same_root(graph, root, by_rest[order[i - 1]]);
	}
	pages_free(keys, count, sizeof(*keys));
	pages_free(order, count, sizeof(*order));
	pages_free(by_rest, count, sizeof(*by_rest));
	return made ? HD_OK : fail_nomem(err);
}

static bool is_static_kind(uint8_t kind)
{
	return kind == HD_ROOT_STATIC || kind == HD_ROOT_THREAD_STATIC;
}

/* Enter all types by name; if several have one name, the first. */
static bool index_declarer_names(const struct hd_graph *graph, struct type_table *table)
{
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		if (type->name &&
		    type_table_add(table, 0, type_table_hash(type->name, type->name_size), i) ==
			    HD_NONE)
			return false;
	}
	return true;
}

/* Types of the graph by name, and types that declare statics but are not in the graph. */
struct declarers {
	struct hd_graph *graph;
	struct type_table table;
	struct raw_type *types; /* pages */
	size_t types_count, types_capacity;
};

/* Length of the type's name in that of a static: 0 if there is none. */
static size_t declarer_size(const char *name)
{
	size_t size = 0, depth = 0;
	for (size_t i = 0; name[i]; i++) {
		depth += name[i] == '<';
		depth -= name[i] == '>' && depth;
		/* ".cctor" and the like begin with a dot of their own. */
		if (name[i] == '.' && !depth)
			size = i;
	}
	return size <= UINT32_MAX ? size : 0;
}

static bool declarer_is_called(const struct declarers *declarers, uint32_t type, const char *name,
			       size_t size)
{
	const struct hd_graph *graph = declarers->graph;
	bool is_old = type < graph->type_count;
	if (!is_old && type - graph->type_count >= declarers->types_count)
		return false;
	const struct raw_type *fresh = is_old ? NULL : &declarers->types[type - graph->type_count];
	const char *other = is_old ? graph->types[type].name : fresh->name;
	size_t other_size = is_old ? graph->types[type].name_size : fresh->name_size;
	return other_size == size && memcmp(other, name, size) == 0;
}

/* The type that declares a static, index + 1. */
static enum hd_status find_declarer(struct declarers *declarers, const char *name, uint32_t *ret,
				    struct hd_error *err)
{
	size_t size = declarer_size(name);
	if (!size)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(declarers, types), err);
	uint32_t fresh = declarers->graph->type_count + (uint32_t)declarers->types_count;
	uint32_t type = type_table_add(&declarers->table, 0, type_table_hash(name, size), fresh);
	if (type == HD_NONE)
		return fail_nomem(err);
	if (type == fresh) {
		declarers->types[declarers->types_count++] =
			(struct raw_type){ .name = name, .name_size = (uint32_t)size };
	}
	if (declarer_is_called(declarers, type, name, size))
		*ret = type + 1;
	return HD_OK;
}

/* The lowest numbers that are not ids of types. */
static bool give_ids(struct hd_graph *graph, uint32_t first)
{
	HD_CLEANUP(type_table) struct type_table table = { 0 };
	bool made = true;
	for (uint32_t i = 0; made && i < first; i++)
		made = type_table_add(&table, 0, graph->types[i].id, i) != HD_NONE;
	uint64_t id = 1;
	for (uint32_t i = first; made && i < graph->type_count; i++) {
		while (type_table_find(&table, 0, id) != HD_NONE)
			id++;
		graph->types[i].id = id++;
	}
	return made;
}

enum hd_status raw_graph_add_types(struct hd_graph *graph, const struct raw_type *types,
				   size_t count, struct hd_error *err)
{
	uint32_t first = graph->type_count;
	if (!count)
		return HD_OK;
	if (count >= HD_NONE - first)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4 billion types");
	struct graph_type *grown =
		pages_resize(graph->types, first, first + count, sizeof(*graph->types));
	TRY_MEMORY(grown, err);
	graph->types = grown;
	graph->type_count = first + (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		char *name = arena_alloc(graph->arena, (size_t)types[i].name_size + 1);
		TRY_MEMORY(name, err);
		memcpy(name, types[i].name, types[i].name_size);
		name[types[i].name_size] = '\0';
		grown[first + i] = (struct graph_type){ .name = name,
							.name_size = types[i].name_size,
							.module = types[i].module };
	}
	return give_ids(graph, first) ? HD_OK : fail_nomem(err);
}

/* Statics that do not say what declares them. */
static bool has_to_be_found(const struct raw_root *root)
{
	return root->name && is_static_kind(root->kind) && !root->declarer;
}

/* Find what declares statics by their names. */
static enum hd_status find_declarers(struct hd_graph *graph, const struct raw_root *roots,
				     struct hd_error *err)
{
	struct declarers declarers = { .graph = graph };
	enum hd_status status = HD_OK;
	bool is_indexed = false;
	for (uint32_t i = 0; status == HD_OK && i < graph->root_count; i++) {
		uint32_t declarer = roots[i].declarer;
		if (has_to_be_found(&roots[i])) {
			if (!is_indexed && !index_declarer_names(graph, &declarers.table))
				status = fail_nomem(err);
			is_indexed = true;
			if (status == HD_OK)
				status = find_declarer(&declarers, roots[i].name, &declarer, err);
		}
		graph->roots[i].container =
			declarer && is_static_kind(roots[i].kind) ? declarer - 1 : HD_NONE;
	}
	if (status == HD_OK)
		status = raw_graph_add_types(graph, declarers.types, declarers.types_count, err);
	pages_free(declarers.types, declarers.types_capacity, sizeof(*declarers.types));
	type_table_deinit(&declarers.table);
	return status;
}

static enum hd_status add_graph_roots(struct hd_graph *graph, const struct raw_root *roots,
				      struct hd_error *err)
{
	uint64_t missing = 0;
	TRY(find_declarers(graph, roots, err));
	for (uint32_t i = 0; i < graph->root_count; i++) {
		uint32_t node = hd_graph_find(graph, roots[i].id);
		missing += node == HD_NONE || graph_is_missing(graph, node);
		graph->origins.has_slots |= roots[i].address != 0;
		graph->roots[i] = (struct graph_root){ .node = node,
						       .container = graph->roots[i].container,
						       .kind = roots[i].kind,
						       .flags = roots[i].flags };
		graph->origins.details[i] = (struct graph_root_detail){ .address = roots[i].address,
									.name = roots[i].name,
									.thread = HD_NONE,
									.frame = HD_NONE,
									.handle = roots[i].handle };
	}
	if (!missing)
		return HD_OK;
	return raw_graph_finding(graph, FINDING_UNRESOLVED_ROOT, missing,
				 "roots of objects that the file does not define", err);
}

/* Roots whose ids are not nodes point nowhere: remove them. */
static void drop_lost(struct hd_graph *graph, uint32_t *ret_kept)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (graph->roots[i].node == HD_NONE)
			continue;
		graph->roots[kept] = graph->roots[i];
		graph->origins.details[kept++] = graph->origins.details[i];
	}
	*ret_kept = kept;
}

static enum hd_status shrink_roots(struct hd_graph *graph, uint32_t kept, struct hd_error *err)
{
	struct graph_root *roots = pages_alloc(kept, sizeof(*roots));
	struct graph_root_detail *details = pages_alloc(kept, sizeof(*details));
	if (!roots || !details) {
		pages_free(roots, kept, sizeof(*roots));
		pages_free(details, kept, sizeof(*details));
		return fail_nomem(err);
	}
	if (kept) {
		memcpy(roots, graph->roots, kept * sizeof(*roots));
		memcpy(details, graph->origins.details, kept * sizeof(*details));
	}
	pages_free(graph->roots, graph->root_count, sizeof(*roots));
	pages_free(graph->origins.details, graph->root_count, sizeof(*details));
	graph->roots = roots;
	graph->origins.details = details;
	graph->root_count = kept;
	return HD_OK;
}

enum hd_status raw_graph_roots(struct hd_graph *graph, const struct raw_root *roots, size_t count,
			       struct hd_error *err)
{
	if (count >= HD_NONE)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4 billion roots");
	graph->root_count = (uint32_t)count;
	graph->roots = pages_alloc(count, sizeof(*graph->roots));
	graph->origins.details = pages_alloc(count, sizeof(*graph->origins.details));
	TRY_MEMORY(graph->roots && graph->origins.details, err);
	TRY(add_graph_roots(graph, roots, err));
	uint32_t kept = 0;
	drop_lost(graph, &kept);
	if (kept < graph->root_count)
		TRY(shrink_roots(graph, kept, err));
	return raw_graph_mark_repeated(graph, err);
}
