/* SPDX-License-Identifier: MIT */
/*
 * The pseudo-nodes of a .gcdump (doc/formats.md 3): which nodes they are, and which roots they
 * represent.
 */
#include <string.h>

#include "format/gcdump/gcdump_names.h"
#include "format/gcdump/gcdump_reading.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/text.h"

/* No writer makes a longer path of pseudo-nodes. */
#define PATH_MAX_SIZE ((size_t)256)

/* A pseudo-node is not an object: it has no address and no size, and it is in the tree of roots. */
static bool may_be_pseudo(const struct gcdump_reading *reading, uint32_t node)
{
	const struct gcdump *file = &reading->file;
	struct gcdump_record record;
	return !gcdump_address(file, node) &&
	       !gcdump_is_undefined(file, &reading->undefined, node) &&
	       gcdump_record(file, gcdump_offset(file, node), &record) && record.size <= 0;
}

static enum hd_status add_pseudo_node(struct gcdump_reading *reading, uint32_t node,
				      uint32_t parent)
{
	if (!bitmap_add(reading->pseudo.nodes, node))
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(&reading->pseudo, tree), reading->err);
	reading->pseudo.tree[reading->pseudo.tree_count++] =
		(struct gcdump_pseudo_node){ .node = node, .parent = parent };
	return HD_OK;
}

enum hd_status gcdump_find_pseudo(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint64_t edges = 0;
	if (!gcdump_address(file, file->root) &&
	    !gcdump_is_undefined(file, &reading->undefined, file->root))
		TRY(add_pseudo_node(reading, file->root, 0));
	for (size_t i = 0; i < reading->pseudo.tree_count; i++) {
		uint32_t node = reading->pseudo.tree[i].node;
		struct gcdump_record record;
		if (!gcdump_record(file, gcdump_offset(file, node), &record))
			return gcdump_bad_record(reading, node);
		edges += record.child_count;
		/* The records of a file do not overlap. */
		if (edges > file->blob_size)
			return gcdump_bad_record(reading, node);
		for (uint32_t k = 0; k < record.child_count; k++) {
			uint32_t child =
				gcdump_child(&record.children, record.end, node, file->node_count);
			if (child == HD_NONE)
				return gcdump_bad_record(reading, node);
			if (may_be_pseudo(reading, child))
				TRY(add_pseudo_node(reading, child, (uint32_t)i));
		}
	}
	return HD_OK;
}

/* Nodes that turned out to be objects, in a list of nodes to look at. */
struct found_objects {
	uint32_t *nodes;
	size_t nodes_count, nodes_capacity;
};

/* The pseudo-nodes among the children of an object are also objects. */
static enum hd_status check_children(struct gcdump_reading *reading, uint32_t node,
				     struct found_objects *found)
{
	const struct gcdump *file = &reading->file;
	struct gcdump_record record;
	if (!gcdump_record(file, gcdump_offset(file, node), &record))
		return HD_OK;
	for (uint32_t i = 0; i < record.child_count; i++) {
		uint32_t child = gcdump_child(&record.children, record.end, node, file->node_count);
		if (child == HD_NONE)
			return HD_OK;
		if (child == file->root || !bitmap_has(reading->pseudo.nodes, child))
			continue;
		reading->pseudo.nodes[child / 64] &= ~((uint64_t)1 << child % 64);
		TRY_MEMORY(PAGES_RESERVE(found, nodes), reading->err);
		found->nodes[found->nodes_count++] = child;
	}
	return HD_OK;
}

static enum hd_status check_all_children(struct gcdump_reading *reading,
					 struct found_objects *found)
{
	for (uint32_t node = 0; node < reading->file.node_count; node++) {
		/* The second loop looks at the objects that this one finds. */
		if (gcdump_object(&reading->numbers, node) < GCDUMP_MISSING)
			TRY(check_children(reading, node, found));
	}
	for (size_t i = 0; i < found->nodes_count; i++)
		TRY(check_children(reading, found->nodes[i], found));
	return HD_OK;
}

enum hd_status gcdump_check_pseudo(struct gcdump_reading *reading, bool *ret_found)
{
	struct found_objects found = { 0 };
	enum hd_status status = check_all_children(reading, &found);
	*ret_found = found.nodes_count;
	pages_free(found.nodes, found.nodes_capacity, sizeof(*found.nodes));
	return status;
}

/* The meaning of a pseudo-node's children. */
struct meaning {
	uint8_t kind, flags, handle;
	bool is_none;   /* they are not roots */
	bool is_thread; /* statics below it are thread statics */
	bool is_plain;  /* a node for what is below it, which has its own name */
	const char *name;
};

/*
 * The names of DotNetHeapDumpGraphReader.cs (dotnet-gcdump, from events) and GCHeapDumper.cs
 * (PerfView, from a process), and of the writer here.
 */
static const struct {
	const char *name;
	struct meaning meaning;
	bool has_name; /* its roots tell it */
} known[] = {
	{ "[static vars]", { .kind = HD_ROOT_STATIC }, false },
	{ "[thread static vars]", { .kind = HD_ROOT_THREAD_STATIC, .is_thread = true }, false },
	{ "[local vars]", { .kind = HD_ROOT_STACK }, false },
	{ "[Stack]", { .kind = HD_ROOT_STACK }, false },
	{ "[Pinned local vars]", { .kind = HD_ROOT_STACK, .flags = HD_ROOT_PINNED }, false },
	{ "[strong Handles]", { .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_STRONG }, false },
	{ "[StrongHandle]", { .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_STRONG }, false },
	{ "[pinning Handles]",
	  { .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_PINNED, .handle = GRAPH_HANDLE_PINNED },
	  false },
	{ "[PinnedHandle]",
	  { .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_PINNED, .handle = GRAPH_HANDLE_PINNED },
	  false },
	{ "[AsyncPinnedHandle]",
	  { .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_PINNED, .handle = GRAPH_HANDLE_ASYNC_PINNED },
	  false },
	{ "[finalizer Handles]", { .kind = HD_ROOT_FINALIZER }, false },
	{ "[FinalizerQueue]", { .kind = HD_ROOT_FINALIZER }, false },
	{ "[Dependent Handles]",
	  { .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_DEPENDENT },
	  false },
	{ "[RefCountedHandle]",
	  { .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_REF_COUNTED },
	  false },
	{ "[COM/WinRT Objects]",
	  { .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_REF_COUNTED },
	  false },
	{ "[SizedRefHandle]", { .kind = HD_ROOT_HANDLE, .handle = GRAPH_HANDLE_SIZED_REF }, false },
	{ "[other Handles]", { .kind = HD_ROOT_HANDLE }, true },
	{ "[other roots]", { .kind = HD_ROOT_INTERNAL, .is_plain = true }, true },
	{ "[frozen objects]", { .kind = HD_ROOT_GC }, false },
	{ "[internal]", { .kind = HD_ROOT_INTERNAL }, false },
	{ "[not reachable from roots]", { .is_none = true }, false },
};

struct root_collecting {
	struct gcdump_reading *reading;
	struct meaning *meanings; /* pages, of each node of the tree */
	const char **names;       /* pages, of each type; NULL: not made yet */
};

/* The beginning of a static's node name; the rest is the name of the static and "]". */
static const char static_begin[] = "[static var ";
#define STATIC_BEGIN_SIZE (sizeof(static_begin) - 1)

static bool is_static_name(const char *name)
{
	return strncmp(name, static_begin, STATIC_BEGIN_SIZE) == 0 && name[STATIC_BEGIN_SIZE];
}

/* Name the type in the name of a static as the graph does. */
static enum hd_status convert_static(struct gcdump_reading *reading, char **name)
{
	if (!gcdump_is_foreign(reading))
		return HD_OK;
	HD_CLEANUP(text) struct text text = { 0 };
	const char *variable = *name + STATIC_BEGIN_SIZE;
	text_puts(&text, static_begin);
	gcdump_type_name(&text, variable, strlen(variable));
	char *copy = text.failed ? NULL : arena_alloc(reading->graph->origins.arena, text.size + 1);
	if (copy)
		memcpy(copy, text.bytes, text.size + 1);
	TRY_MEMORY(copy, reading->err);
	*name = copy;
	return HD_OK;
}

/* The name of a type, which is made once; for a static, its name without the "]". */
static enum hd_status pseudo_type_name(struct root_collecting *collecting, uint32_t type,
				       const char **ret)
{
	struct gcdump_reading *reading = collecting->reading;
	if (!collecting->names[type]) {
		char *name;
		uint32_t size;
		TRY_MEMORY(gcdump_utf8(reading->graph->origins.arena,
				       &reading->file.types[type].name, &name, &size),
			   reading->err);
		if (size && name[size - 1] == ']' && is_static_name(name)) {
			name[size - 1] = '\0';
			TRY(convert_static(reading, &name));
		}
		collecting->names[type] = name;
	}
	*ret = collecting->names[type];
	return HD_OK;
}

/* An unknown node: its roots have the parent's kind, and their names are the path to it. */
static enum hd_status mean_unknown(struct root_collecting *collecting, const char *name,
				   const struct meaning *parent, bool is_top, struct meaning *ret)
{
	*ret = *parent;
	if (is_top || parent->is_plain) {
		*ret = (struct meaning){ .kind = HD_ROOT_INTERNAL, .name = name };
		return HD_OK;
	}
	if (!parent->name) {
		ret->name = name;
		return HD_OK;
	}
	size_t before = strlen(parent->name), size = strlen(name);
	if (before + size + 1 > PATH_MAX_SIZE)
		return HD_OK;
	char *path = arena_alloc(collecting->reading->graph->origins.arena, before + size + 2);
	TRY_MEMORY(path, collecting->reading->err);
	memcpy(path, parent->name, before);
	path[before] = '/';
	memcpy(path + before + 1, name, size + 1);
	ret->name = path;
	return HD_OK;
}

static enum hd_status mean(struct root_collecting *collecting, size_t index, uint32_t type)
{
	struct meaning *ret = &collecting->meanings[index];
	uint32_t parent_index = collecting->reading->pseudo.tree[index].parent;
	const struct meaning *parent = &collecting->meanings[parent_index];
	*ret = (struct meaning){ .kind = HD_ROOT_INTERNAL };
	if (index == 0)
		return HD_OK;
	*ret = *parent;
	if (parent->is_none)
		return HD_OK;
	const char *name;
	TRY(pseudo_type_name(collecting, type, &name));
	if (is_static_name(name)) {
		*ret = (struct meaning){ .kind = parent->is_thread ? HD_ROOT_THREAD_STATIC
								   : HD_ROOT_STATIC,
					 .is_thread = parent->is_thread,
					 .name = name + STATIC_BEGIN_SIZE };
		return HD_OK;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		*ret = known[i].meaning;
		ret->name = known[i].has_name ? name : NULL;
		return HD_OK;
	}
	return mean_unknown(collecting, name, parent, parent_index == 0, ret);
}

static enum hd_status add_meant_root(struct gcdump_reading *reading, const struct meaning *meaning,
				     uint32_t target)
{
	TRY_MEMORY(PAGES_RESERVE(reading, roots), reading->err);
	reading->roots[reading->roots_count++] = (struct raw_root){ .id = target,
								    .kind = meaning->kind,
								    .flags = meaning->flags,
								    .handle = meaning->handle,
								    .name = meaning->name };
	return HD_OK;
}

static enum hd_status collect_children(struct root_collecting *collecting, size_t index)
{
	struct gcdump_reading *reading = collecting->reading;
	const struct gcdump *file = &reading->file;
	uint32_t node = reading->pseudo.tree[index].node;
	struct gcdump_record record;
	/* A node that turned out to be an object, like all that follow from it. */
	if (!bitmap_has(reading->pseudo.nodes, node))
		return HD_OK;
	if (!gcdump_record(file, gcdump_offset(file, node), &record))
		return gcdump_bad_record(reading, node);
	TRY(mean(collecting, index, record.type));
	if (collecting->meanings[index].is_none)
		return HD_OK;
	for (uint32_t i = 0; i < record.child_count; i++) {
		uint32_t child = gcdump_child(&record.children, record.end, node, file->node_count);
		if (child == HD_NONE)
			return gcdump_bad_record(reading, node);
		uint32_t object = gcdump_object(&reading->numbers, child);
		if (object != HD_NONE)
			TRY(add_meant_root(reading, &collecting->meanings[index], object));
	}
	return HD_OK;
}

/* A file whose root is an object has that one for a root. */
static enum hd_status collect_top(struct gcdump_reading *reading)
{
	const struct meaning meaning = { .kind = HD_ROOT_INTERNAL };
	uint32_t target = gcdump_object(&reading->numbers, reading->file.root);
	return reading->pseudo.tree_count || target == HD_NONE
		       ? HD_OK
		       : add_meant_root(reading, &meaning, target);
}

enum hd_status gcdump_collect_roots(struct gcdump_reading *reading)
{
	struct root_collecting collecting = {
		.reading = reading,
		.meanings = pages_alloc(reading->pseudo.tree_count, sizeof(*collecting.meanings)),
		.names = pages_alloc(reading->file.type_count, sizeof(*collecting.names)),
	};
	enum hd_status status =
		collecting.meanings && collecting.names ? HD_OK : fail_nomem(reading->err);
	for (size_t i = 0; status == HD_OK && i < reading->pseudo.tree_count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(reading->job, 0, 0))
			status = fail_cancelled(reading->err);
		if (status == HD_OK)
			status = collect_children(&collecting, i);
	}
	if (status == HD_OK)
		status = collect_top(reading);
	pages_free(collecting.meanings, reading->pseudo.tree_count, sizeof(*collecting.meanings));
	pages_free(collecting.names, reading->file.type_count, sizeof(*collecting.names));
	return status;
}
