/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "format/stream.h"
#include "format/string_table.h"
#include "format/viewers/heapsnapshot_ids.h"
#include "format/viewers/root_names.h"
#include "format/viewers/viewers.h"
#include "graph/heap_graph.h"
#include "graph/reach.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/text.h"

/*
 * The nodes that no strong root reaches, and a small set of them from which all of them can be
 * reached.
 */
struct unreached {
	const uint64_t *live; /* one bit per node: set if a strong root reaches it */
	uint64_t *own_live;   /* the same, if the caller did not give it */
	uint64_t *tops;       /* one bit per node: the nodes of the small set */
	uint64_t top_count;
	uint32_t node_count;
};

/* Mark what another node that is not live refers to. */
static enum hd_status find_held_nodes(const struct csr *forward, const uint64_t *live,
				      uint64_t *held, struct job *job, struct hd_error *err)
{
	for (uint32_t node = 0; node < forward->node_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		if (bitmap_has(live, node))
			continue;
		uint64_t end = csr_begin(forward, node + 1);
		for (uint64_t i = csr_begin(forward, node); i < end; i++) {
			if (forward->targets[i] != node)
				(void)bitmap_add(held, forward->targets[i]);
		}
	}
	return HD_OK;
}

/* Go on from all nodes that were not reached, but not from those in @p held. */
static enum hd_status find_tops(struct reach_pass *pass, const uint64_t *held,
				struct unreached *ret, struct job *job, struct hd_error *err)
{
	for (uint32_t node = 0; node < ret->node_count; node++) {
		if (bitmap_has(pass->bitmap, node) || (held && bitmap_has(held, node)))
			continue;
		(void)bitmap_add(ret->tops, node);
		ret->top_count++;
		reach_pass_add(pass, node);
		TRY(reach_pass_run(pass, job, err));
	}
	return HD_OK;
}

static void copy_bits(uint64_t *to, const uint64_t *from, uint32_t count)
{
	for (size_t i = 0; i < bitmap_words(count); i++)
		to[i] = from[i];
}

/* Mark what is live, in @p pass and in @p ret. */
static enum hd_status find_live(struct reach_pass *pass, const struct hd_graph *graph,
				const uint64_t *live, struct unreached *ret, struct job *job,
				struct hd_error *err)
{
	ret->live = live;
	if (live) {
		copy_bits(pass->bitmap, live, graph->node_count);
		return HD_OK;
	}
	ret->own_live = bitmap_alloc(graph->node_count);
	TRY_MEMORY(ret->own_live, err);
	ret->live = ret->own_live;
	reach_pass_add_roots(pass, graph);
	TRY(reach_pass_run(pass, job, err));
	copy_bits(ret->own_live, pass->bitmap, graph->node_count);
	return HD_OK;
}

/*
 * Tops are the nodes that no other unreached node refers to, and one node of each cycle that
 * remains.
 *
 * @param live Borrowed; NULL: it is made.
 * @param[out] ret To be given to unreached_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
static enum hd_status unreached_init(struct unreached *ret, const struct hd_graph *graph,
				     const uint64_t *live, struct job *job, struct hd_error *err)
{
	HD_CLEANUP(reach_pass) struct reach_pass pass = { 0 };
	*ret = (struct unreached){ .node_count = graph->node_count };
	TRY(reach_pass_init(&pass, graph, err));
	job_begin(job, "Looking for unreachable objects", graph->node_count);
	TRY(find_live(&pass, graph, live, ret, job, err));
	uint64_t *held = bitmap_alloc(ret->node_count);
	ret->tops = bitmap_alloc(ret->node_count);
	enum hd_status status = held && ret->tops
					? find_held_nodes(pass.forward, ret->live, held, job, err)
					: fail_nomem(err);
	if (status == HD_OK)
		status = find_tops(&pass, held, ret, job, err);
	bitmap_free(held, ret->node_count);
	TRY(status);
	return find_tops(&pass, NULL, ret, job, err);
}

/* A zeroed struct is allowed. */
static void unreached_deinit(struct unreached *unreached)
{
	if (unreached->tops)
		bitmap_free(unreached->tops, unreached->node_count);
	if (unreached->own_live)
		bitmap_free(unreached->own_live, unreached->node_count);
	*unreached = (struct unreached){ 0 };
}

/*
 * V8's heap snapshot (v8/src/profiler/heap-snapshot-generator.cc, HeapSnapshotJSONSerializer), as
 * DevTools reads it (HeapSnapshotLoader.ts, HeapSnapshot.ts).  All nodes to which the root refers
 * are synthetic: then DevTools keeps sizes unchanged and counts distances from the root.  It would
 * not show what the root does not reach, so unreachable objects are under a node of their own.
 */

#define NODE_FIELDS 7u

/*
 * To name a reference, its object is read again; so in larger heaps references only have numbers.
 */
#define NAMED_EDGES_MAX  ((uint64_t)1 << 21)
#define NAMED_DEGREE_MAX 128u

enum node_type {
	NODE_HIDDEN = 0,
	NODE_STRING = 2,
	NODE_OBJECT = 3,
	NODE_SYNTHETIC = 9
};

enum edge_type {
	EDGE_ELEMENT = 1,
	EDGE_PROPERTY = 2,
	EDGE_INTERNAL = 3,
	EDGE_WEAK = 6
};

/* Ids of what is not an object are even, and the same in every snapshot. */
enum synthetic_id {
	ID_ROOT = 2,
	ID_GC_ROOTS = 4,
	ID_GROUPS = 6,
	ID_UNREACHED = 30,
	ID_MISSING = 32
};

static const char meta[] =
	"{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\","
	"\"edge_count\",\"trace_node_id\",\"detachedness\"],\"node_types\":[[\"hidden\",\"array\","
	"\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\",\"native\",\"synthetic\","
	"\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object shape\"],"
	"\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],\"edge_fields\":"
	"[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[[\"context\",\"element\","
	"\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],\"string_or_number\","
	"\"node\"],\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\","
	"\"script_id\",\"line\",\"column\"],\"trace_node_fields\":[\"id\",\"function_info_index\","
	"\"count\",\"size\",\"children\"],\"sample_fields\":[\"timestamp_us\","
	"\"last_assigned_id\"],\"location_fields\":[\"object_index\",\"script_id\",\"line\","
	"\"column\"]},\"node_count\":";

/* How a type's objects are written. */
struct type_look {
	uint32_t name;
	enum node_type type;
};

/* The nodes that are not objects, which come first: the root, "(GC roots)", kinds of roots, "(Not reachable)". */
struct synthetic_nodes {
	uint32_t count;
	uint32_t groups;                  /* kinds that have roots */
	uint64_t group_edges[ROOT_KINDS]; /* roots of a kind, each once */
	uint32_t root_name, gc_roots_name, unreached_name;
	uint32_t group_names[ROOT_KINDS];
};

struct snapshot_writing {
	const struct hd_graph *graph;
	struct stream stream;
	struct string_table strings;
	struct heapsnapshot_ids ids;
	struct unreached unreached;
	struct type_look *looks; /* type_count */
	uint32_t *ranks;  /* for each 64 nodes: how many written nodes come before them; NULL: all
			   * nodes are written */
	uint32_t written; /* nodes of the graph */
	struct synthetic_nodes synthetic; /* before them */
	uint64_t edge_count;
	uint32_t missing_name;
	bool has_names; /* of references */
	bool has_edges; /* one was put */
	struct text scratch;
	struct hd_error *err;
};

static bool is_node_written(const struct snapshot_writing *snapshot, uint32_t node)
{
	return !snapshot->ranks || bitmap_has(snapshot->unreached.live, node);
}

/* Position of a node of the graph among all nodes of the file. */
static uint64_t position_of(const struct snapshot_writing *snapshot, uint32_t node)
{
	if (!snapshot->ranks)
		return (uint64_t)snapshot->synthetic.count + node;
	uint64_t before = snapshot->unreached.live[node / 64] & (((uint64_t)1 << node % 64) - 1);
	return (uint64_t)snapshot->synthetic.count + snapshot->ranks[node / 64] +
	       (unsigned int)__builtin_popcountll(before);
}

static enum hd_status count_written(struct snapshot_writing *snapshot, bool live_only)
{
	uint32_t count = snapshot->graph->node_count;
	snapshot->written = count;
	if (!live_only)
		return HD_OK;
	snapshot->ranks = pages_alloc(bitmap_words(count), sizeof(*snapshot->ranks));
	TRY_MEMORY(snapshot->ranks, snapshot->err);
	snapshot->written = 0;
	for (uint32_t node = 0; node < count; node++) {
		if (node % 64 == 0)
			snapshot->ranks[node / 64] = snapshot->written;
		snapshot->written += bitmap_has(snapshot->unreached.live, node);
	}
	return HD_OK;
}

static bool is_root_written(const struct snapshot_writing *snapshot, uint32_t index)
{
	const struct graph_root *root = &snapshot->graph->roots[index];
	return !root->repeated && is_node_written(snapshot, root->node);
}

static unsigned int root_kind_of(const struct graph_root *root)
{
	return root->kind < ROOT_KINDS ? root->kind : HD_ROOT_INTERNAL;
}

static bool has_unreached(const struct snapshot_writing *snapshot)
{
	return !snapshot->ranks && snapshot->unreached.top_count;
}

static void count_written_edges(struct snapshot_writing *snapshot)
{
	struct synthetic_nodes *synthetic = &snapshot->synthetic;
	const struct hd_graph *graph = snapshot->graph;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (is_root_written(snapshot, i))
			synthetic->group_edges[root_kind_of(&graph->roots[i])]++;
	}
	/* The root's edge, and those of all groups. */
	snapshot->edge_count = 1;
	for (unsigned int kind = 0; kind < ROOT_KINDS; kind++) {
		if (!synthetic->group_edges[kind])
			continue;
		synthetic->groups++;
		snapshot->edge_count += synthetic->group_edges[kind] + 1;
	}
	if (has_unreached(snapshot))
		snapshot->edge_count += snapshot->unreached.top_count + 1;
	synthetic->count = 2 + synthetic->groups + has_unreached(snapshot);
	if (!snapshot->ranks) {
		snapshot->edge_count += graph->forward.edge_count;
		return;
	}
	for (uint32_t node = 0; node < graph->node_count; node++) {
		if (is_node_written(snapshot, node))
			snapshot->edge_count += csr_degree(&graph->forward, node);
	}
}

static enum hd_status add_string(struct snapshot_writing *snapshot, const char *bytes, size_t size,
				 uint32_t *ret)
{
	return string_table_add(&snapshot->strings, bytes, size, ret, snapshot->err);
}

static enum hd_status add_literal(struct snapshot_writing *snapshot, const char *string,
				  uint32_t *ret)
{
	return add_string(snapshot, string, strlen(string), ret);
}

/*
 * Strings are recognised by the name of their type, also "System.String (Bytes > 1K)".  Arrays are
 * written as objects: DevTools counts all nodes of its own array type as one class.
 */
static enum node_type node_type_of(const char *name, size_t size)
{
	static const char string[] = "System.String";
	if (size && name[size - 1] == ')') {
		const char *blank = memrchr(name, ' ', size);
		while (blank && blank > name && blank[1] != '(')
			blank = memrchr(name, ' ', (size_t)(blank - name));
		if (blank && blank[1] == '(')
			size = (size_t)(blank - name);
	}
	bool is_string = size == sizeof(string) - 1 && memcmp(name, string, size) == 0;
	return is_string ? NODE_STRING : NODE_OBJECT;
}

static enum hd_status add_fixed_names(struct snapshot_writing *snapshot)
{
	struct synthetic_nodes *synthetic = &snapshot->synthetic;
	const struct hd_graph *graph = snapshot->graph;
	uint32_t dummy;
	TRY(add_literal(snapshot, "<dummy>", &dummy)); /* V8: number 0 is no string */
	TRY(add_literal(snapshot, "", &synthetic->root_name));
	TRY(add_literal(snapshot, "(GC roots)", &synthetic->gc_roots_name));
	TRY(add_literal(snapshot, "(Not reachable)", &synthetic->unreached_name));
	TRY(add_literal(snapshot, "(missing)", &snapshot->missing_name));
	for (unsigned int kind = 0; kind < ROOT_KINDS; kind++) {
		TRY(add_literal(snapshot, root_group_name(graph, kind),
				&synthetic->group_names[kind]));
	}
	return HD_OK;
}

static enum hd_status add_type_looks(struct snapshot_writing *snapshot)
{
	const struct hd_graph *graph = snapshot->graph;
	snapshot->looks = pages_alloc(graph->type_count, sizeof(*snapshot->looks));
	TRY_MEMORY(snapshot->looks, snapshot->err);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		size_t size;
		const char *name = type_own_name(graph, i, &size);
		snapshot->looks[i].type = node_type_of(name, size);
		TRY(add_string(snapshot, name, size, &snapshot->looks[i].name));
	}
	return HD_OK;
}

static void put_node(struct snapshot_writing *snapshot, enum node_type type, uint32_t name,
		     uint64_t id, uint64_t size, uint64_t edges)
{
	struct stream *stream = &snapshot->stream;
	if (type != NODE_SYNTHETIC || id != ID_ROOT)
		stream_char(stream, ',');
	stream_number(stream, type);
	stream_char(stream, ',');
	stream_number(stream, name);
	stream_char(stream, ',');
	stream_number(stream, id);
	stream_char(stream, ',');
	stream_number(stream, size);
	stream_char(stream, ',');
	stream_number(stream, edges);
	stream_bytes(stream, ",0,0\n", 5);
}

static void put_nodes(struct snapshot_writing *snapshot)
{
	const struct synthetic_nodes *synthetic = &snapshot->synthetic;
	const struct hd_graph *graph = snapshot->graph;
	put_node(snapshot, NODE_SYNTHETIC, synthetic->root_name, ID_ROOT, 0,
		 1 + has_unreached(snapshot));
	put_node(snapshot, NODE_SYNTHETIC, synthetic->gc_roots_name, ID_GC_ROOTS, 0,
		 synthetic->groups);
	for (unsigned int kind = 0; kind < ROOT_KINDS; kind++) {
		if (synthetic->group_edges[kind]) {
			put_node(snapshot, NODE_SYNTHETIC, synthetic->group_names[kind],
				 ID_GROUPS + 2 * kind, 0, synthetic->group_edges[kind]);
		}
	}
	if (has_unreached(snapshot)) {
		put_node(snapshot, NODE_SYNTHETIC, synthetic->unreached_name, ID_UNREACHED, 0,
			 snapshot->unreached.top_count);
	}
	for (uint32_t node = 0; node < graph->node_count; node++) {
		if (snapshot->stream.status != HD_OK)
			return;
		if (!is_node_written(snapshot, node))
			continue;
		snapshot->stream.units++;
		if (graph_is_missing(graph, node)) {
			put_node(snapshot, NODE_HIDDEN, snapshot->missing_name,
				 ID_MISSING + 2 * (uint64_t)(node - graph->object_count), 0, 0);
			continue;
		}
		const struct type_look *look = &snapshot->looks[graph->node_types[node]];
		put_node(snapshot, look->type, look->name, heapsnapshot_id(&snapshot->ids, node),
			 graph_size(graph, node), csr_degree(&graph->forward, node));
	}
}

/* An edge to the node of the file at @p position. */
static void put_edge(struct snapshot_writing *snapshot, enum edge_type type, uint64_t name,
		     uint64_t position)
{
	struct stream *stream = &snapshot->stream;
	if (snapshot->has_edges)
		stream_char(stream, ',');
	snapshot->has_edges = true;
	stream_number(stream, type);
	stream_char(stream, ',');
	stream_number(stream, name);
	stream_char(stream, ',');
	stream_number(stream, position * NODE_FIELDS);
	stream_char(stream, '\n');
}

static enum hd_status put_root_edge(struct snapshot_writing *snapshot, uint32_t index,
				    uint64_t number)
{
	const struct graph_root *root = &snapshot->graph->roots[index];
	uint64_t position = position_of(snapshot, root->node);
	size_t size = 0;
	const char *own = root_own_name(snapshot->graph, index, &size);
	uint32_t name = 0;
	if (!own && !root_is_weak(root)) {
		put_edge(snapshot, EDGE_ELEMENT, number, position);
		return HD_OK;
	}
	if (!own)
		own = "weak";
	TRY(add_string(snapshot, own, size ? size : strlen(own), &name));
	put_edge(snapshot, root_is_weak(root) ? EDGE_WEAK : EDGE_PROPERTY, name, position);
	return HD_OK;
}

static enum hd_status put_synthetic_edges(struct snapshot_writing *snapshot)
{
	const struct synthetic_nodes *synthetic = &snapshot->synthetic;
	const struct hd_graph *graph = snapshot->graph;
	put_edge(snapshot, EDGE_ELEMENT, 1, 1);
	if (has_unreached(snapshot))
		put_edge(snapshot, EDGE_ELEMENT, 2, synthetic->count - 1);
	for (uint32_t i = 0; i < synthetic->groups; i++)
		put_edge(snapshot, EDGE_ELEMENT, i, 2 + (uint64_t)i);
	for (unsigned int kind = 0; kind < ROOT_KINDS; kind++) {
		uint64_t number = 0;
		for (uint32_t i = 0; synthetic->group_edges[kind] && i < graph->root_count; i++) {
			if (root_kind_of(&graph->roots[i]) == kind && is_root_written(snapshot, i))
				TRY(put_root_edge(snapshot, i, number++));
		}
	}
	uint64_t number = 0;
	for (uint32_t node = 0; has_unreached(snapshot) && node < graph->node_count; node++) {
		if (bitmap_has(snapshot->unreached.tops, node))
			put_edge(snapshot, EDGE_ELEMENT, number++, position_of(snapshot, node));
	}
	return HD_OK;
}

/* "[12]" and nothing after it. */
static bool parse_element(const struct text *text, uint64_t *ret)
{
	uint64_t value = 0;
	if (text->size < 3 || text->size > 12 || text->bytes[0] != '[' ||
	    text->bytes[text->size - 1] != ']')
		return false;
	for (size_t i = 1; i + 1 < text->size; i++) {
		if (text->bytes[i] < '0' || text->bytes[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text->bytes[i] - '0');
	}
	*ret = value;
	return value <= UINT32_MAX;
}

/* ".field", "[3]", "[3].field", " (dependent handle)": see graph_places.link. */
static enum hd_status put_named_edge(struct snapshot_writing *snapshot, uint32_t from, uint32_t to,
				     uint64_t number)
{
	const struct graph_places *places = &snapshot->graph->places;
	struct text *text = &snapshot->scratch;
	uint64_t position = position_of(snapshot, to);
	text->size = 0;
	places->link(places->arg, from, to, text);
	if (text->failed)
		return fail_nomem(snapshot->err);
	size_t skip = text->size > 1 && (*text->bytes == '.' || *text->bytes == ' ');
	bool is_internal = text->size && *text->bytes == ' ';
	if (!text->size || parse_element(text, &number)) {
		put_edge(snapshot, EDGE_ELEMENT, number, position);
		return HD_OK;
	}
	uint32_t name = 0;
	TRY(add_string(snapshot, text->bytes + skip, text->size - skip, &name));
	put_edge(snapshot, is_internal ? EDGE_INTERNAL : EDGE_PROPERTY, name, position);
	return HD_OK;
}

static enum hd_status put_edges_of(struct snapshot_writing *snapshot, uint32_t node)
{
	const struct csr *forward = &snapshot->graph->forward;
	uint64_t begin = csr_begin(forward, node), end = csr_begin(forward, node + 1);
	snapshot->stream.units += end - begin;
	if (snapshot->has_names && end - begin <= NAMED_DEGREE_MAX) {
		for (uint64_t i = begin; i < end; i++)
			TRY(put_named_edge(snapshot, node, forward->targets[i], i - begin));
		return HD_OK;
	}
	for (uint64_t i = begin; i < end; i++) {
		put_edge(snapshot, EDGE_ELEMENT, i - begin,
			 position_of(snapshot, forward->targets[i]));
	}
	return HD_OK;
}

static enum hd_status put_object_edges(struct snapshot_writing *snapshot)
{
	for (uint32_t node = 0; node < snapshot->graph->node_count; node++) {
		if (is_node_written(snapshot, node))
			TRY(put_edges_of(snapshot, node));
		TRY(snapshot->stream.status);
	}
	return HD_OK;
}

static void put_strings(struct snapshot_writing *snapshot)
{
	struct stream *stream = &snapshot->stream;
	stream_puts(stream, "\"strings\":[");
	for (uint32_t i = 0; i < snapshot->strings.places_count; i++) {
		size_t size;
		const char *bytes = string_table_at(&snapshot->strings, i, &size);
		stream_puts(stream, i ? ",\n" : "");
		stream_json_string(stream, bytes, size);
	}
	stream_puts(stream, "]}\n");
}

static enum hd_status put_heapsnapshot(struct snapshot_writing *snapshot)
{
	struct stream *stream = &snapshot->stream;
	stream_puts(stream, meta);
	stream_number(stream, (uint64_t)snapshot->synthetic.count + snapshot->written);
	stream_puts(stream, ",\"edge_count\":");
	stream_number(stream, snapshot->edge_count);
	stream_puts(stream, ",\"trace_function_count\":0},\n\"nodes\":[");
	put_nodes(snapshot);
	stream_puts(stream, "],\n\"edges\":[");
	TRY(put_synthetic_edges(snapshot));
	TRY(put_object_edges(snapshot));
	stream_puts(stream,
		    "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n"
		    "\"locations\":[],\n");
	put_strings(snapshot);
	return stream->status;
}

static enum hd_status prepare_heapsnapshot(struct snapshot_writing *snapshot,
					   const struct write_options *options, struct job *job)
{
	const struct hd_graph *graph = snapshot->graph;
	TRY(unreached_init(&snapshot->unreached, graph, options ? options->live : NULL, job,
			   snapshot->err));
	TRY(count_written(snapshot, options && options->live_only));
	count_written_edges(snapshot);
	TRY(add_fixed_names(snapshot));
	TRY(add_type_looks(snapshot));
	heapsnapshot_ids_init(&snapshot->ids, graph);
	snapshot->has_names = graph->places.link && graph->forward.edge_count <= NAMED_EDGES_MAX;
	job_begin(job, "Writing objects", graph->node_count + graph->forward.edge_count);
	return HD_OK;
}

enum hd_status heapsnapshot_write(const struct hd_graph *graph, const struct write_options *options,
				  struct job *job, format_write_fn write, void *arg,
				  struct hd_error *err)
{
	struct snapshot_writing snapshot = { .graph = graph, .err = err };
	enum hd_status status = stream_begin(&snapshot.stream, job, write, arg, err);
	if (status == HD_OK)
		status = prepare_heapsnapshot(&snapshot, options, job);
	if (status == HD_OK)
		status = put_heapsnapshot(&snapshot);
	status = stream_end(&snapshot.stream, status);
	unreached_deinit(&snapshot.unreached);
	string_table_deinit(&snapshot.strings);
	pages_free(snapshot.looks, graph->type_count, sizeof(*snapshot.looks));
	if (snapshot.ranks) {
		pages_free(snapshot.ranks, bitmap_words(graph->node_count),
			   sizeof(*snapshot.ranks));
	}
	text_deinit(&snapshot.scratch);
	return status;
}
