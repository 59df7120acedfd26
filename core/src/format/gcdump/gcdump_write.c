/* SPDX-License-Identifier: MIT */
/* Writes a graph as a .gcdump, in the form that dotnet-gcdump gives it. */
#include <string.h>

#include "format/gcdump/gcdump_encode.h"
#include "format/gcdump/gcdump_names.h"
#include "format/gcdump/gcdump_tree.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/bitmap.h"
#include "util/text.h"

/* The last tick of the year 9999; readers refuse later ones (DateTime). */
#define TIME_MAX 3155378975999999999u

/* How many ids of a heap are requested at a time. */
#define IDS_ASKED 512u

/* Which nodes of the graph are written, and as which nodes of the file. */
struct written_nodes {
	const uint64_t *live; /* only nodes with a bit are written; NULL: all */
	uint32_t *ranks;      /* pages: nodes with a bit before each word of live */
	uint32_t first;       /* index of the graph's first node; those before it are the tree's */
	uint32_t count;       /* number of the graph's nodes that are written */
};

/* Ids that were requested together. */
struct asked_ids {
	uint32_t first; /* node of the first */
	uint32_t count;
	uint64_t ids[IDS_ASKED];
};

/*
 * The types of the file: undefined, those of the graph, those of the tree.  A type of the graph is
 * followed by those of its large objects, so that a reader knows whose they are where several types
 * have one name.
 */
struct written_types {
	struct gcdump_type *rows; /* pages */
	uint32_t count;
	uint32_t first_pseudo; /* the first of the tree */
	uint32_t *firsts;      /* pages: of each type of the graph, its row */
	uint8_t *classes;      /* pages: of each type, the classes of sizes as bits; always 0 */
};

struct gcdump_writer {
	const struct hd_graph *graph;
	const char *lacks; /**< write_options */
	struct job *job;
	struct hd_error *err;
	struct gcdump_tree tree;
	struct written_nodes written;
	struct gcdump_about about;
	struct written_types types;
	struct arena *arena;
	uint32_t *children; /* pages, room for the most that an object has */
	uint64_t children_count;
	uint32_t pseudo, node, index; /* position of the pass over the records */
	uint32_t address_node;        /* position of the pass over the addresses */
	struct asked_ids asked;
};

/* Row of a type for objects of a size. */
static inline uint32_t type_row(const struct written_types *types, uint32_t type, uint64_t size)
{
	unsigned int before = (1u << gcdump_size_class(size)) - 1;
	return types->firsts[type] + (uint32_t)__builtin_popcount(types->classes[type] & before);
}

/* Index in the file of a node of the graph. */
static inline uint32_t index_of(const struct written_nodes *written, uint32_t node)
{
	if (!written->live)
		return written->first + node;
	uint64_t before = written->live[node / 64] & (((uint64_t)1 << (node % 64)) - 1);
	return written->first + written->ranks[node / 64] + (uint32_t)__builtin_popcountll(before);
}

static inline bool is_kept(const struct written_nodes *written, uint32_t node)
{
	return !written->live || bitmap_has(written->live, node);
}

static void give_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	const struct gcdump_writer *writer = arg;
	*ret = writer->types.rows[type];
}

static void writer_begin_pass(void *arg)
{
	struct gcdump_writer *writer = arg;
	writer->pseudo = writer->node = 0;
	writer->index = writer->written.first;
}

static bool next_pseudo(struct gcdump_writer *writer, struct gcdump_node *ret)
{
	const struct gcdump_pseudo *pseudo = &writer->tree.pseudos[writer->pseudo];
	*ret = (struct gcdump_node){
		.index = writer->pseudo,
		.type = writer->types.first_pseudo + writer->pseudo,
		.child_count = pseudo->child_count,
		.children = writer->tree.children + pseudo->first_child,
	};
	writer->pseudo++;
	return true;
}

static bool next_node(void *arg, struct gcdump_node *ret)
{
	struct gcdump_writer *writer = arg;
	const struct hd_graph *graph = writer->graph;
	if (writer->pseudo < writer->written.first)
		return next_pseudo(writer, ret);
	while (writer->node < graph->object_count && !is_kept(&writer->written, writer->node))
		writer->node++;
	if (writer->node >= graph->object_count)
		return false;
	uint32_t node = writer->node++;
	uint64_t size = graph_size(graph, node);
	uint64_t begin = csr_begin(&graph->forward, node);
	uint64_t count = csr_begin(&graph->forward, node + 1) - begin;
	for (uint64_t i = 0; i < count; i++)
		writer->children[i] = index_of(&writer->written, graph->forward.targets[begin + i]);
	*ret = (struct gcdump_node){
		.index = writer->index++,
		.type = type_row(&writer->types, graph->node_types[node], size),
		.size = size < INT32_MAX ? (int32_t)size : INT32_MAX,
		.child_count = (uint32_t)count,
		.children = writer->children,
	};
	return true;
}

/* Id of a node; nodes must not go backwards. */
static uint64_t next_id(const struct hd_graph *graph, struct asked_ids *asked, uint32_t node)
{
	if (!graph->places.ids || graph_is_missing(graph, node))
		return graph_id(graph, node);
	if (node - asked->first >= asked->count) {
		uint32_t left = graph->object_count - node;
		asked->first = node;
		asked->count = left < IDS_ASKED ? left : IDS_ASKED;
		graph->places.ids(graph->places.arg, node, asked->ids, asked->count);
	}
	return asked->ids[node - asked->first];
}

/* They are requested in order. */
static uint64_t next_address(void *arg, uint32_t index)
{
	struct gcdump_writer *writer = arg;
	if (index < writer->written.first) {
		writer->address_node = 0;
		return 0;
	}
	while (!is_kept(&writer->written, writer->address_node))
		writer->address_node++;
	return next_id(writer->graph, &writer->asked, writer->address_node++);
}

/* A text, which is borrowed if possible. */
static enum hd_status borrow_text(struct gcdump_writer *writer, const char *text, size_t size,
				  struct gcdump_text *ret)
{
	size_t i = 0;
	while (text && i < size && (uint8_t)text[i] < 0x80)
		i++;
	if (text && i == size && size <= INT32_MAX) {
		*ret = (struct gcdump_text){ (const uint8_t *)text, (uint32_t)size,
					     (uint32_t)size };
		return HD_OK;
	}
	return gcdump_text_of(writer->arena, text, size, ret) ? HD_OK : fail_nomem(writer->err);
}

static enum hd_status keep_string(struct gcdump_writer *writer, const char *string,
				  struct gcdump_text *ret)
{
	return borrow_text(writer, string, string ? strlen(string) : 0, ret);
}

/* The name of a type of the graph for a class of sizes; without one, what dotnet-gcdump calls it. */
static enum hd_status keep_type_name(struct gcdump_writer *writer, const struct graph_type *type,
				     unsigned int size_class, struct gcdump_text *ret)
{
	if (type->name && !size_class)
		return borrow_text(writer, type->name, type->name_size, ret);
	HD_CLEANUP(text) struct text text = { 0 };
	if (type->name) {
		text_append(&text, type->name, type->name_size);
	} else {
		text_printf(&text, "UNKNOWN 0x%llx", (unsigned long long)type->id);
	}
	text_puts(&text, gcdump_class_suffix(size_class));
	bool done = !text.failed && gcdump_text_of(writer->arena, text.bytes, text.size, ret);
	return done ? HD_OK : fail_nomem(writer->err);
}

/* A type of the graph, and those of its large objects. */
static enum hd_status keep_type(struct gcdump_writer *writer, uint32_t type)
{
	const struct graph_type *from = &writer->graph->types[type];
	struct written_types *types = &writer->types;
	struct gcdump_type *to = &types->rows[types->firsts[type]];
	struct gcdump_text module;
	if (type && from->module == from[-1].module) {
		module = to[-1].module;
	} else {
		TRY(keep_string(writer, from->module, &module));
	}
	for (unsigned int i = 0; i < GCDUMP_SIZE_CLASSES; i++) {
		if (!(types->classes[type] >> i & 1))
			continue;
		TRY(keep_type_name(writer, from, i, &to->name));
		to->module = module;
		to->size = -1;
		to++;
	}
	return HD_OK;
}

/* Find which classes of sizes the objects of each type have. */
static enum hd_status find_classes(struct gcdump_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	struct written_types *types = &writer->types;
	types->firsts = pages_alloc(graph->type_count, sizeof(*types->firsts));
	types->classes = pages_alloc(graph->type_count, sizeof(*types->classes));
	TRY_MEMORY(types->firsts && types->classes, writer->err);
	for (uint32_t i = 0; i < graph->object_count; i++) {
		if (is_kept(&writer->written, i)) {
			types->classes[graph->node_types[i]] |=
				(uint8_t)(1u << gcdump_size_class(graph_size(graph, i)));
		}
		if (i % JOB_STRIDE == 0 && !job_step(writer->job, 0, 0))
			return fail_cancelled(writer->err);
	}
	uint64_t row = 1;
	for (uint32_t i = 0; i < graph->type_count; i++) {
		types->classes[i] |= 1;
		types->firsts[i] = (uint32_t)row;
		row += (uint64_t)__builtin_popcount(types->classes[i]);
		if (row + writer->tree.pseudos_count > INT32_MAX)
			return fail(writer->err, HD_ERR_UNSUPPORTED, 0, "over 2 billion types");
	}
	types->first_pseudo = (uint32_t)row;
	types->count = (uint32_t)(row + writer->tree.pseudos_count);
	return HD_OK;
}

static enum hd_status make_written_types(struct gcdump_writer *writer)
{
	struct written_types *types = &writer->types;
	TRY(find_classes(writer));
	types->rows = pages_alloc(types->count, sizeof(*types->rows));
	TRY_MEMORY(types->rows, writer->err);
	TRY(keep_string(writer, "UNDEFINED", &types->rows->name));
	for (uint32_t i = 0; i < writer->graph->type_count; i++)
		TRY(keep_type(writer, i));
	for (size_t i = 0; i < writer->tree.pseudos_count; i++) {
		struct gcdump_type *type = &types->rows[types->first_pseudo + i];
		type->size = -1;
		TRY(keep_string(writer, writer->tree.pseudos[i].name, &type->name));
	}
	return HD_OK;
}

static void written_types_deinit(struct written_types *types, const struct hd_graph *graph)
{
	pages_free(types->rows, types->count, sizeof(*types->rows));
	pages_free(types->firsts, graph->type_count, sizeof(*types->firsts));
	pages_free(types->classes, graph->type_count, sizeof(*types->classes));
}

/* Count the nodes of the graph that come after @p tree's, and fill ranks. */
static enum hd_status count_nodes(const struct hd_graph *graph, const struct gcdump_tree *tree,
				  struct written_nodes *written, struct hd_error *err)
{
	written->count = graph->node_count;
	if (written->live) {
		size_t words = bitmap_words(graph->node_count);
		uint32_t count = 0;
		written->ranks = pages_alloc(words, sizeof(*written->ranks));
		TRY_MEMORY(written->ranks, err);
		for (size_t i = 0; i < words; i++) {
			written->ranks[i] = count;
			count += (uint32_t)__builtin_popcountll(written->live[i]);
		}
		written->count = count;
	}
	if (written->count > UINT32_MAX - tree->pseudos_count)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4 billion nodes");
	written->first = (uint32_t)tree->pseudos_count;
	return HD_OK;
}

/* The tree numbers the graph's nodes as if all were written. */
static void renumber_tree(struct gcdump_tree *tree, const struct written_nodes *written)
{
	for (uint64_t i = 0; written->live && i < tree->child_count; i++) {
		if (tree->children[i] >= written->first)
			tree->children[i] = index_of(written, tree->children[i] - written->first);
	}
}

static enum hd_status make_children_room(struct gcdump_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	for (uint32_t i = 0; i < graph->object_count; i++) {
		uint64_t degree = csr_degree(&graph->forward, i);
		if (degree > writer->children_count)
			writer->children_count = degree;
	}
	if (writer->children_count > INT32_MAX) {
		writer->children_count = 0;
		return fail(writer->err, HD_ERR_UNSUPPORTED, 0,
			    "an object with over 2 billion references");
	}
	writer->children = pages_alloc(writer->children_count, sizeof(*writer->children));
	return writer->children ? HD_OK : fail_nomem(writer->err);
}

/*
 * Write what was missing when the objects were read, because a reader of the file cannot find that
 * out.
 */
static void log_findings(const struct hd_graph *graph, const char *lacks, struct text *text)
{
	/* A reader only looks for one kind, whatever is missing. */
	bool is_logged = !lacks || !lacks[0];
	for (size_t i = 0; i < graph->findings.count; i++) {
		const struct graph_finding *finding = &graph->findings.rows[i];
		if (gcdump_is_logged(finding->kind) && finding->detail) {
			text_printf(text, GCDUMP_LOG_FINDING "%s %llx ",
				    finding_name(finding->kind),
				    (unsigned long long)finding->count);
			text_puts(text, finding->detail);
			text_puts(text, "\n");
			is_logged |= finding->kind == FINDING_PARTIAL_HEAP;
		}
	}
	if (!is_logged) {
		text_printf(text, GCDUMP_LOG_FINDING "partial-heap 1 written with gaps: %s\n",
			    lacks);
	}
}

/* The log of the collection, which readers only show: it has what does not fit into the format. */
static enum hd_status make_log(struct gcdump_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	HD_CLEANUP(text) struct text text = { 0 };
	for (uint32_t i = 0; i < graph->object_count; i++) {
		if (graph->sizes[i] <= INT32_MAX || !is_kept(&writer->written, i))
			continue;
		if (!text.size)
			text_puts(&text, "heapdump: true sizes\n");
		text_printf(&text, "%llx %llx\n", (unsigned long long)graph_id(graph, i),
			    (unsigned long long)graph_size(graph, i));
	}
	log_findings(graph, writer->lacks, &text);
	bool done = !text.failed &&
		    gcdump_text_of(writer->arena, text.bytes, text.size, &writer->about.log);
	return done ? HD_OK : fail_nomem(writer->err);
}

/* A range is written as a segment whose objects have all one generation, like a region. */
static enum hd_status make_segments(struct gcdump_writer *writer)
{
	const struct graph_info *info = &writer->graph->info;
	struct gcdump_heap *heap = &writer->about.heap;
	if (!info->range_count || info->range_count > INT32_MAX)
		return HD_OK;
	heap->segments = pages_alloc(info->range_count, sizeof(*heap->segments));
	TRY_MEMORY(heap->segments, writer->err);
	heap->is_there = true;
	heap->version = 1;
	heap->segment_count = (uint32_t)info->range_count;
	/* Ranges of a file may be anything. */
	uint64_t bytes = 0;
	for (size_t i = 0; i < info->range_count; i++) {
		const struct graph_range *range = &info->ranges[i];
		struct gcdump_segment *segment = &heap->segments[i];
		segment->start = range->start;
		segment->end = range->end;
		if (range->generation < 5)
			segment->ends[range->generation] = range->end;
		bytes += range->end - range->start;
	}
	heap->bytes = bytes <= INT64_MAX ? (int64_t)bytes : INT64_MAX;
	return HD_OK;
}

static enum hd_status make_about(struct gcdump_writer *writer)
{
	const struct graph_info *info = &writer->graph->info;
	struct gcdump_about *about = &writer->about;
	about->version = 10;
	about->min_reader = 8;
	about->has_is_64bit = true;
	about->is_64bit = !info->is_32bit;
	about->sampling.average_count = about->sampling.average_size = 1;
	about->interop.is_there = about->has_tool = true;
	about->process_id = info->pid <= INT32_MAX ? (int32_t)info->pid : 0;
	about->time = info->time <= TIME_MAX ? (int64_t)info->time : 0;
	TRY(keep_string(writer, info->process, &about->process));
	TRY(keep_string(writer, info->machine, &about->machine));
	TRY(keep_string(writer, "heapdump", &about->tool));
	TRY(make_log(writer));
	return make_segments(writer);
}

static enum hd_status prepare_gcdump(struct gcdump_writer *writer,
				     const struct write_options *options)
{
	writer->arena = arena_create();
	TRY_MEMORY(writer->arena, writer->err);
	const uint64_t *live = options ? options->live : NULL;
	bool live_only = options && options->live_only;
	writer->written.live = live_only ? live : NULL;
	writer->lacks = options ? options->lacks : NULL;
	TRY(gcdump_tree_init(writer->graph, live_only ? NULL : live, writer->job, &writer->tree,
			     writer->err));
	TRY(count_nodes(writer->graph, &writer->tree, &writer->written, writer->err));
	renumber_tree(&writer->tree, &writer->written);
	TRY(make_written_types(writer));
	TRY(make_children_room(writer));
	return make_about(writer);
}

enum hd_status gcdump_write(const struct hd_graph *graph, const struct write_options *options,
			    struct job *job, format_write_fn write, void *arg, struct hd_error *err)
{
	struct gcdump_writer writer = { .graph = graph, .job = job, .err = err };
	enum hd_status status = prepare_gcdump(&writer, options);
	if (status == HD_OK) {
		const struct gcdump_source source = {
			.about = &writer.about,
			.type_count = writer.types.count,
			.node_count = writer.written.first + writer.written.count,
			.type = give_type,
			.rewind = writer_begin_pass,
			.next = next_node,
			.address = next_address,
			.arg = &writer,
		};
		status = gcdump_encode(&source, job, write, arg, err);
	}
	gcdump_tree_deinit(&writer.tree);
	written_types_deinit(&writer.types, graph);
	pages_free(writer.written.ranks, bitmap_words(graph->node_count),
		   sizeof(*writer.written.ranks));
	pages_free(writer.children, writer.children_count, sizeof(*writer.children));
	pages_free(writer.about.heap.segments, writer.about.heap.segment_count,
		   sizeof(*writer.about.heap.segments));
	arena_destroy(writer.arena);
	return status;
}
