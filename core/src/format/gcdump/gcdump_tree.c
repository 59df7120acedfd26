/* SPDX-License-Identifier: MIT */
#include "format/gcdump/gcdump_tree.h"

#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"
#include "util/bitmap.h"
#include "util/text.h"

/*
 * The fixed nodes, with their names in DotNetHeapDumpGraphReader.cs; later ones are not in that
 * file.
 */
enum group {
	GROUP_ROOT,
	GROUP_STATICS,
	GROUP_THREAD_STATICS,
	GROUP_LOCALS,
	GROUP_OTHER,
	GROUP_STRONG,
	GROUP_PINNING,
	GROUP_FINALIZER,
	GROUP_DEPENDENT,
	GROUP_OTHER_HANDLES,
	GROUP_COM,
	GROUP_FROZEN,
	GROUP_INTERNAL,
	GROUP_UNREACHABLE,
	GROUPS
};

static const struct {
	const char *name;
	enum group parent;
} groups[GROUPS] = {
	[GROUP_ROOT] = { "[.NET Roots]", GROUP_ROOT },
	[GROUP_STATICS] = { "[static vars]", GROUP_ROOT },
	[GROUP_THREAD_STATICS] = { "[thread static vars]", GROUP_ROOT },
	[GROUP_LOCALS] = { "[local vars]", GROUP_ROOT },
	[GROUP_OTHER] = { "[other roots]", GROUP_ROOT },
	[GROUP_STRONG] = { "[strong Handles]", GROUP_OTHER },
	[GROUP_PINNING] = { "[pinning Handles]", GROUP_OTHER },
	[GROUP_FINALIZER] = { "[finalizer Handles]", GROUP_OTHER },
	[GROUP_DEPENDENT] = { "[Dependent Handles]", GROUP_OTHER },
	[GROUP_OTHER_HANDLES] = { "[other Handles]", GROUP_OTHER },
	[GROUP_COM] = { "[COM/WinRT Objects]", GROUP_OTHER },
	[GROUP_FROZEN] = { "[frozen objects]", GROUP_OTHER },
	[GROUP_INTERNAL] = { "[internal]", GROUP_OTHER },
	[GROUP_UNREACHABLE] = { "[not reachable from roots]", GROUP_ROOT },
};

struct builder {
	const struct hd_graph *graph;
	const uint64_t *live;
	struct job *job;
	struct gcdump_tree *tree;
	struct hd_error *err;
	uint32_t numbers[GROUPS]; /* index in the tree; HD_NONE: not made yet */
	uint32_t *owners;         /* for each root: its parent node, or HD_NONE */
	uint32_t *table;          /* statics by name: number in the tree + 1 */
	size_t table_size;        /* a power of two */
};

static enum hd_status tree_add_pseudo(struct builder *builder, const char *name, uint32_t parent,
				      uint32_t *ret)
{
	struct gcdump_tree *tree = builder->tree;
	TRY_MEMORY(PAGES_RESERVE(tree, pseudos), builder->err);
	*ret = (uint32_t)tree->pseudos_count;
	tree->pseudos[tree->pseudos_count++] =
		(struct gcdump_pseudo){ .name = name, .parent = parent };
	return HD_OK;
}

/* The node of a group; its parents are made as well. */
static enum hd_status group_node(struct builder *builder, enum group group, uint32_t *ret)
{
	enum group parent = groups[group].parent;
	if (builder->numbers[group] == HD_NONE) {
		if (builder->numbers[parent] == HD_NONE) {
			TRY(tree_add_pseudo(builder, groups[parent].name,
					    builder->numbers[GROUP_ROOT],
					    &builder->numbers[parent]));
		}
		TRY(tree_add_pseudo(builder, groups[group].name, builder->numbers[parent],
				    &builder->numbers[group]));
	}
	*ret = builder->numbers[group];
	return HD_OK;
}

static enum group handle_group(const struct hd_graph *graph, uint32_t root)
{
	switch (graph->origins.details ? graph->origins.details[root].handle
				       : (uint8_t)GRAPH_HANDLE_NONE) {
	case GRAPH_HANDLE_NONE:
		return graph->roots[root].flags & HD_ROOT_PINNED ? GROUP_PINNING : GROUP_STRONG;
	case GRAPH_HANDLE_STRONG:
		return GROUP_STRONG;
	case GRAPH_HANDLE_PINNED:
	case GRAPH_HANDLE_ASYNC_PINNED:
		return GROUP_PINNING;
	case GRAPH_HANDLE_DEPENDENT:
		return GROUP_DEPENDENT;
	case GRAPH_HANDLE_REF_COUNTED:
		return GROUP_COM;
	default:
		return GROUP_OTHER_HANDLES;
	}
}

static enum group root_group_of(const struct hd_graph *graph, uint32_t root)
{
	switch (graph->roots[root].kind) {
	case HD_ROOT_STACK:
		return GROUP_LOCALS;
	case HD_ROOT_FINALIZER:
		return GROUP_FINALIZER;
	case HD_ROOT_HANDLE:
		return handle_group(graph, root);
	case HD_ROOT_STATIC:
		return GROUP_STATICS;
	case HD_ROOT_THREAD_STATIC:
		return GROUP_THREAD_STATICS;
	case HD_ROOT_GC:
		return GROUP_FROZEN;
	default:
		return GROUP_INTERNAL;
	}
}

/* "[static var NAME]", where NAME is what is known about it. */
static enum hd_status static_var_name(struct builder *builder, uint32_t root, const char **ret)
{
	const struct hd_graph *graph = builder->graph;
	const char *name = graph->origins.details ? graph->origins.details[root].name : NULL;
	uint32_t container = graph->roots[root].container;
	size_t size = name ? strlen(name) : 0;
	const char *after = "]";
	*ret = NULL;
	if (!name && container != HD_NONE && graph->types[container].name) {
		name = graph->types[container].name;
		size = graph->types[container].name_size;
		after = ".?]"; /* the part before the last dot is a type */
	}
	if (!name)
		return HD_OK;
	HD_CLEANUP(text) struct text text = { 0 };
	text_puts(&text, "[static var ");
	text_append(&text, name, size);
	text_puts(&text, after);
	/* With the NUL after it. */
	char *copy = text.failed ? NULL : arena_alloc(builder->tree->arena, text.size + 1);
	if (copy)
		memcpy(copy, text.bytes, text.size + 1);
	*ret = copy;
	return copy ? HD_OK : fail_nomem(builder->err);
}

static uint64_t hash_child_name(const char *text, uint32_t parent)
{
	uint64_t hash = 0xcbf29ce484222325u ^ parent; /* FNV-1a */
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

/*
 * The node of a static: all statics with one name share it, such as the same one in several
 * threads.
 */
static enum hd_status static_node(struct builder *builder, uint32_t root, uint32_t parent,
				  uint32_t *ret)
{
	const struct gcdump_tree *tree = builder->tree;
	const char *name;
	*ret = parent;
	TRY(static_var_name(builder, root, &name));
	if (!name)
		return HD_OK;
	size_t mask = builder->table_size - 1, place = (size_t)hash_child_name(name, parent) & mask;
	for (; builder->table[place]; place = (place + 1) & mask) {
		uint32_t number = builder->table[place] - 1;
		if (tree->pseudos[number].parent == parent &&
		    strcmp(tree->pseudos[number].name, name) == 0) {
			*ret = number;
			return HD_OK;
		}
	}
	TRY(tree_add_pseudo(builder, name, parent, ret));
	builder->table[place] = *ret + 1;
	return HD_OK;
}

static bool is_static_root(const struct graph_root *root)
{
	return root->kind == HD_ROOT_STATIC || root->kind == HD_ROOT_THREAD_STATIC;
}

static enum hd_status make_table(struct builder *builder)
{
	uint64_t statics = 0;
	for (uint32_t i = 0; i < builder->graph->root_count; i++)
		statics += is_static_root(&builder->graph->roots[i]);
	for (builder->table_size = 16; builder->table_size / 2 < statics;)
		builder->table_size *= 2;
	builder->table = pages_alloc(builder->table_size, sizeof(*builder->table));
	return builder->table ? HD_OK : fail_nomem(builder->err);
}

/* The nodes of the tree, owners, and how many roots each node has. */
static enum hd_status place_tree_roots(struct builder *builder)
{
	const struct hd_graph *graph = builder->graph;
	TRY(make_table(builder));
	builder->owners = pages_alloc(graph->root_count, sizeof(*builder->owners));
	TRY_MEMORY(builder->owners, builder->err);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		builder->owners[i] = HD_NONE;
		if (i % JOB_STRIDE == 0 && !job_step(builder->job, 0, 0))
			return fail_cancelled(builder->err);
		if (root_is_weak(&graph->roots[i]))
			continue;
		TRY(group_node(builder, root_group_of(graph, i), &builder->owners[i]));
		if (is_static_root(&graph->roots[i])) {
			TRY(static_node(builder, i, builder->owners[i], &builder->owners[i]));
		}
		builder->tree->pseudos[builder->owners[i]].child_count++;
	}
	return HD_OK;
}

static uint32_t dead_count(const struct builder *builder)
{
	uint32_t count = 0;
	for (uint32_t i = 0; builder->live && i < builder->graph->object_count; i++)
		count += !bitmap_has(builder->live, i);
	return count;
}

/* Where the children of each node will be; child_count starts again. */
static enum hd_status make_rows(struct builder *builder)
{
	struct gcdump_tree *tree = builder->tree;
	for (size_t i = 1; i < tree->pseudos_count; i++)
		tree->pseudos[tree->pseudos[i].parent].child_count++;
	for (size_t i = 0; i < tree->pseudos_count; i++) {
		tree->pseudos[i].first_child = tree->child_count;
		tree->child_count += tree->pseudos[i].child_count;
		tree->pseudos[i].child_count = 0;
	}
	tree->children = pages_alloc(tree->child_count, sizeof(*tree->children));
	return tree->children ? HD_OK : fail_nomem(builder->err);
}

static void add_child(struct gcdump_tree *tree, uint32_t pseudo, uint32_t child)
{
	struct gcdump_pseudo *to = &tree->pseudos[pseudo];
	tree->children[to->first_child + to->child_count++] = child;
}

static void fill_rows(const struct builder *builder)
{
	struct gcdump_tree *tree = builder->tree;
	const struct hd_graph *graph = builder->graph;
	uint32_t first = (uint32_t)tree->pseudos_count;
	for (uint32_t i = 1; i < first; i++)
		add_child(tree, tree->pseudos[i].parent, i);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (builder->owners[i] != HD_NONE)
			add_child(tree, builder->owners[i], first + graph->roots[i].node);
	}
	uint32_t unreachable = builder->numbers[GROUP_UNREACHABLE];
	for (uint32_t i = 0; unreachable != HD_NONE && i < graph->object_count; i++) {
		if (!bitmap_has(builder->live, i))
			add_child(tree, unreachable, first + i);
	}
}

static enum hd_status build_gcdump_tree(struct builder *builder)
{
	builder->tree->arena = arena_create();
	TRY_MEMORY(builder->tree->arena, builder->err);
	for (size_t i = 0; i < GROUPS; i++)
		builder->numbers[i] = HD_NONE;
	TRY(tree_add_pseudo(builder, groups[GROUP_ROOT].name, 0, &builder->numbers[GROUP_ROOT]));
	TRY(place_tree_roots(builder));
	uint32_t dead = dead_count(builder), node;
	if (dead) {
		TRY(group_node(builder, GROUP_UNREACHABLE, &node));
		builder->tree->pseudos[node].child_count = dead;
	}
	TRY(make_rows(builder));
	fill_rows(builder);
	return HD_OK;
}

enum hd_status gcdump_tree_init(const struct hd_graph *graph, const uint64_t *live, struct job *job,
				struct gcdump_tree *ret, struct hd_error *err)
{
	struct builder builder = {
		.graph = graph, .live = live, .job = job, .tree = ret, .err = err
	};
	*ret = (struct gcdump_tree){ 0 };
	enum hd_status status = build_gcdump_tree(&builder);
	pages_free(builder.owners, graph->root_count, sizeof(*builder.owners));
	pages_free(builder.table, builder.table_size, sizeof(*builder.table));
	return status;
}

void gcdump_tree_deinit(struct gcdump_tree *tree)
{
	pages_free(tree->pseudos, tree->pseudos_capacity, sizeof(*tree->pseudos));
	pages_free(tree->children, tree->child_count, sizeof(*tree->children));
	arena_destroy(tree->arena);
	*tree = (struct gcdump_tree){ 0 };
}
