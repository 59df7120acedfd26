/* SPDX-License-Identifier: MIT */
#include "graph/dominators.h"

#include <string.h>

#include "graph/heap_graph.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

/*
 * Nodes are renamed to their preorder number in a depth-first search: 1, 2, ... in the order of the
 * first visit; 0 is the virtual root, and in number[] a node never reached.
 *
 * Bytes per node.  Searching and semidominators: number 4, vertex 4, parent 4, semi 4, scratch 8,
 * which makes 24; searching has a bit more, as a bitmap of the nodes reached fits into a cache, and
 * number[] does not.  Dominators: the same.  Retained: vertex 4, semi 4 (holding dominators by then)
 * and the 12 or 16 of the result, for which number[] and parent[] are used again: 24 at most.  Pages
 * for what no root reaches are never touched, except in number[] and the result.
 */

/* How far ahead memory is prefetched for successors and predecessors. */
#define ROW_AHEAD 8u
/*
 * How many nodes ahead memory is prefetched in passes in preorder, for each level of indirection.
 */
#define PREORDER_AHEAD 8u

/* The data that one number needs for a while; three phases share the memory. */
union scratch {
	struct {
		uint32_t node;
		uint32_t next; /* the edge of its row to go on with: its target was not visited at
			        * that time */
	} frame; /* search: the stack, from element 0; without nodes that are finished */
	struct {
		uint32_t ancestor; /* the parent, or what path compression made of it */
		uint32_t label;    /* lowest semidominator from here up to just below the
				    * ancestor */
	} link; /* semidominators: numbers done, which are all above the current one */
	struct {
		uint32_t jump; /* some dominator */
		uint32_t depth;
	} skip; /* dominators: numbers done, which are all below the current one */
};

struct work {
	const struct hd_graph *graph;
	const struct csr *reverse;
	struct job *job;
	uint64_t since, left; /* units done since job_step(); units of the stage not shown yet */
	uint64_t *seen;       /* search: the nodes that have a number */
	uint32_t *number;     /* by node; all others by number */
	uint32_t *vertex;
	uint32_t *parent;
	uint32_t *semi; /* turns into the immediate dominator */
	union scratch *scratch;
	uint32_t node_count;
	uint32_t reached; /* the highest number */
};

static void stage_begin(struct work *work, uint64_t units)
{
	work->since = 0;
	work->left = units;
}

/* Count @p units; false when the work must end. */
static bool stage_step(struct work *work, uint64_t units)
{
	work->since += units;
	if (work->since < JOB_STRIDE)
		return true;
	uint64_t since = work->since;
	work->since = 0;
	work->left -= since;
	return job_step(work->job, 0, since);
}

static bool stage_end(struct work *work)
{
	return job_step(work->job, 0, work->left);
}

static uint32_t *array_alloc(const struct work *work)
{
	return pages_alloc((size_t)work->node_count + 1, sizeof(uint32_t));
}

static void array_free(const struct work *work, uint32_t **array)
{
	pages_free(*array, (size_t)work->node_count + 1, sizeof(uint32_t));
	*array = NULL;
}

static void scratch_free(struct work *work)
{
	pages_free(work->scratch, (size_t)work->node_count + 1, sizeof(*work->scratch));
	work->scratch = NULL;
}

static void seen_free(struct work *work)
{
	bitmap_free(work->seen, work->node_count);
	work->seen = NULL;
}

static void work_deinit(struct work *work)
{
	seen_free(work);
	array_free(work, &work->number);
	array_free(work, &work->vertex);
	array_free(work, &work->parent);
	array_free(work, &work->semi);
	scratch_free(work);
}

static bool work_alloc(struct work *work)
{
	work->seen = bitmap_alloc(work->node_count);
	work->number = array_alloc(work);
	work->vertex = array_alloc(work);
	work->parent = array_alloc(work);
	work->semi = array_alloc(work);
	work->scratch = pages_alloc((size_t)work->node_count + 1, sizeof(*work->scratch));
	return work->seen && work->number && work->vertex && work->parent && work->semi &&
	       work->scratch;
}

static void visit_node(struct work *work, uint32_t node, uint32_t parent)
{
	uint32_t number = ++work->reached;
	(void)bitmap_add(work->seen, node);
	work->number[node] = number;
	work->vertex[number] = node;
	work->parent[number] = parent;
}

/*
 * First edge of a row, beginning at @p at, whose target was not visited; @p degree when there is
 * none.
 */
static uint32_t next_unvisited(const struct work *work, const uint32_t *row, uint32_t at,
			       uint32_t degree)
{
	for (; at < degree; at++) {
		if (!bitmap_has(work->seen, row[at]))
			break;
	}
	return at;
}

/* Prefetch where the rows of a row's first targets are. */
static void prefetch_row(const struct work *work, const uint32_t *row, uint32_t degree)
{
	for (uint32_t i = 0; i < degree && i < ROW_AHEAD; i++)
		__builtin_prefetch(&work->graph->forward.offsets[row[i]]);
}

/* Prefetch what frames a little below the top of the stack will need. */
static void prefetch_frames(const struct work *work, uint32_t depth)
{
	const struct csr *forward = &work->graph->forward;
	if (depth < 8)
		return;
	uint32_t far = work->scratch[depth - 8].frame.node;
	__builtin_prefetch(&forward->offsets[far]);
	__builtin_prefetch(&work->number[far]);
	const union scratch *near = &work->scratch[depth - 4];
	__builtin_prefetch(
		&forward->targets[csr_begin(forward, near->frame.node) + near->frame.next]);
}

/*
 * Visit everything that is reachable from @p node and was not visited.  A node is on the stack only
 * while it has another edge to an unvisited node, so a long list needs no stack; no node is there
 * twice, so node_count frames are enough.
 */
static bool search_from(struct work *work, uint32_t node)
{
	const struct csr *forward = &work->graph->forward;
	uint32_t depth = 0, at = 0;
	visit_node(work, node, 0);
	for (;;) {
		const uint32_t *row = forward->targets + csr_begin(forward, node);
		uint32_t degree = (uint32_t)csr_degree(forward, node);
		if (at == 0) {
			prefetch_row(work, row, degree);
			if (!stage_step(work, (uint64_t)degree + 1))
				return false;
		}
		at = next_unvisited(work, row, at, degree);
		if (at < degree) {
			uint32_t child = row[at];
			uint32_t next = next_unvisited(work, row, at + 1, degree);
			if (next < degree) {
				work->scratch[depth].frame.node = node;
				work->scratch[depth++].frame.next = next;
			}
			visit_node(work, child, work->number[node]);
			node = child;
			at = 0;
			continue;
		}
		if (!depth)
			return true;
		prefetch_frames(work, depth);
		node = work->scratch[--depth].frame.node;
		at = work->scratch[depth].frame.next;
	}
}

/*
 * Number everything reachable.  A rooted node that was reached from another one still becomes a
 * child of the virtual root: that is its semidominator, so no lower one is ever searched for above
 * it.
 */
static bool number_nodes(struct work *work)
{
	const struct hd_graph *graph = work->graph;
	stage_begin(work, work->node_count + graph->forward.edge_count);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		uint32_t node = graph->roots[i].node;
		if (root_is_weak(&graph->roots[i]))
			continue;
		if (bitmap_has(work->seen, node)) {
			work->parent[work->number[node]] = 0;
			continue;
		}
		if (!search_from(work, node))
			return false;
	}
	return stage_end(work);
}

/*
 * Lowest semidominator on the way from @p from up to just below its first ancestor that is not
 * above @p limit; all nodes on the way get that ancestor.  The way back is kept in the ancestors
 * themselves, so that it needs no stack.
 */
static uint32_t evaluate(union scratch *scratch, uint32_t from, uint32_t limit)
{
	uint32_t top = from, below = 0, up;
	while ((up = scratch[top].link.ancestor) > limit) {
		scratch[top].link.ancestor = below;
		below = top;
		top = up;
	}
	uint32_t label = scratch[top].link.label;
	while (below) {
		uint32_t next = scratch[below].link.ancestor;
		if (scratch[below].link.label < label)
			label = scratch[below].link.label;
		scratch[below].link.label = label;
		scratch[below].link.ancestor = up;
		below = next;
	}
	return label;
}

/* Prefetch what find_semi() will need at numbers before @p number, each level one step later. */
static void prefetch_predecessors(const struct work *work, uint32_t number)
{
	const struct csr *reverse = work->reverse;
	if (number <= 4 * PREORDER_AHEAD)
		return;
	__builtin_prefetch(&reverse->offsets[work->vertex[number - 4 * PREORDER_AHEAD]]);
	uint32_t node = work->vertex[number - 3 * PREORDER_AHEAD];
	__builtin_prefetch(&reverse->targets[csr_begin(reverse, node)]);
	node = work->vertex[number - 2 * PREORDER_AHEAD];
	uint64_t begin = csr_begin(reverse, node), end = csr_begin(reverse, node + 1);
	for (uint64_t i = begin; i < end && i < begin + 4; i++)
		__builtin_prefetch(&work->number[reverse->targets[i]]);
	node = work->vertex[number - PREORDER_AHEAD];
	begin = csr_begin(reverse, node);
	end = csr_begin(reverse, node + 1);
	for (uint64_t i = begin; i < end && i < begin + 4; i++)
		__builtin_prefetch(&work->scratch[work->number[reverse->targets[i]]]);
}

/* Semidominator of @p number, those above it being known. */
static uint32_t find_semi(const struct work *work, uint32_t number, uint64_t begin, uint64_t end)
{
	uint32_t semi = work->parent[number];
	const uint32_t *sources = work->reverse->targets;
	for (uint64_t i = begin; i < end && semi; i++) {
		if (end - i > ROW_AHEAD)
			__builtin_prefetch(&work->number[sources[i + ROW_AHEAD]]);
		uint32_t source = work->number[sources[i]];
		if (!source)
			continue;
		if (source > number)
			source = evaluate(work->scratch, source, number);
		if (source < semi)
			semi = source;
	}
	return semi;
}

static bool find_semis(struct work *work)
{
	const struct csr *reverse = work->reverse;
	stage_begin(work, work->node_count + reverse->edge_count);
	for (uint32_t number = work->reached; number > 0; number--) {
		prefetch_predecessors(work, number);
		uint32_t node = work->vertex[number];
		uint64_t begin = csr_begin(reverse, node), end = csr_begin(reverse, node + 1);
		uint32_t semi = find_semi(work, number, begin, end);
		work->semi[number] = semi;
		work->scratch[number].link.ancestor = work->parent[number];
		work->scratch[number].link.label = semi;
		if (!stage_step(work, end - begin + 1))
			return false;
	}
	return stage_end(work);
}

/*
 * The immediate dominator is the nearest dominator of the parent that is not above the
 * semidominator.  Walking up one by one, as in semi-NCA, takes quadratic time on a list to whose
 * items something near its head also refers; so each node also knows a dominator far above (Myers,
 * "An applicative random-access stack", 1983), which makes a walk logarithmic.
 */
static bool find_idoms(struct work *work)
{
	uint32_t *idom = work->semi;
	union scratch *scratch = work->scratch;
	stage_begin(work, work->node_count);
	scratch[0].skip.jump = 0;
	scratch[0].skip.depth = 0;
	for (uint32_t number = 1; number <= work->reached; number++) {
		uint32_t at = work->parent[number], semi = work->semi[number];
		while (at > semi)
			at = scratch[at].skip.jump > semi ? scratch[at].skip.jump : idom[at];
		idom[number] = at;
		uint32_t jump = scratch[at].skip.jump, far = scratch[jump].skip.jump;
		uint32_t depth = scratch[at].skip.depth, middle = scratch[jump].skip.depth;
		bool level = depth - middle == middle - scratch[far].skip.depth;
		scratch[number].skip.jump = level ? far : at;
		scratch[number].skip.depth = depth + 1;
		if (!stage_step(work, 1))
			return false;
	}
	return stage_end(work);
}

/* Can no sum of sizes be as large as 4 GB? */
static bool has_small_sizes(const struct hd_graph *graph)
{
	uint64_t sum = 0;
	if (!graph->sizes || graph->large.count)
		return false;
	for (uint32_t node = 0; node < graph->object_count; node++)
		sum += graph->sizes[node];
	return sum <= UINT32_MAX;
}

static void add_size(struct dominators *dominators, uint32_t node, uint64_t size)
{
	if (dominators->small_sizes) {
		dominators->small_sizes[node] += (uint32_t)size;
	} else {
		dominators->large_sizes[node] += size;
	}
}

static void prefetch_size(const struct dominators *dominators, uint32_t node)
{
	if (dominators->small_sizes) {
		__builtin_prefetch(&dominators->small_sizes[node], 1);
	} else {
		__builtin_prefetch(&dominators->large_sizes[node], 1);
	}
}

/*
 * Add each node's to its dominator's, which has a lower number: it is complete when its turn comes.
 */
static bool add_retained(struct work *work, struct dominators *ret)
{
	const struct hd_graph *graph = work->graph;
	stage_begin(work, work->node_count);
	for (uint32_t number = work->reached; number > 0; number--) {
		if (number > 2 * PREORDER_AHEAD) {
			uint32_t soon = work->vertex[number - 2 * PREORDER_AHEAD];
			__builtin_prefetch(&graph->sizes[soon]);
			__builtin_prefetch(&ret->idom[soon], 1);
			prefetch_size(ret, soon);
			__builtin_prefetch(&ret->retained_count[soon], 1);
		}
		uint32_t node = work->vertex[number];
		add_size(ret, node, graph_size(graph, node));
		ret->retained_count[node] += !graph_is_missing(graph, node);
		if (work->semi[number]) {
			uint32_t dominator = work->vertex[work->semi[number]];
			ret->idom[node] = dominator;
			add_size(ret, dominator, dominators_size(ret, node));
			ret->retained_count[dominator] += ret->retained_count[node];
		}
		if (!stage_step(work, 1))
			return false;
	}
	return stage_end(work);
}

/*
 * Where the results go: to arrays of the work that is done, as far as they suit, since pages that
 * are there already cost less than new ones.  All have an element more than there are nodes.
 */
static bool dominators_alloc(struct work *work, struct dominators *dominators)
{
	size_t count = (size_t)work->node_count + 1;
	*dominators = (struct dominators){ .node_count = work->node_count,
					   .idom = work->number,
					   .retained_count = work->parent };
	work->number = work->parent = NULL;
	memset(dominators->idom, 0xff, count * sizeof(*dominators->idom));
	memset(dominators->retained_count, 0, count * sizeof(*dominators->retained_count));
	if (has_small_sizes(work->graph)) {
		dominators->small_sizes = pages_alloc(count, sizeof(*dominators->small_sizes));
	} else {
		dominators->large_sizes = pages_alloc(count, sizeof(*dominators->large_sizes));
	}
	return dominators->small_sizes || dominators->large_sizes;
}

/* Compute everything; the caller frees what is allocated on the way, in both cases. */
static enum hd_status compute(struct work *work, struct dominators *ret, struct hd_error *err)
{
	TRY_MEMORY(work_alloc(work), err);
	if (!number_nodes(work))
		return fail_cancelled(err);
	seen_free(work);
	if (!find_semis(work))
		return fail_cancelled(err);
	if (!find_idoms(work))
		return fail_cancelled(err);
	scratch_free(work);
	TRY_MEMORY(dominators_alloc(work, ret), err);
	return add_retained(work, ret) ? HD_OK : fail_cancelled(err);
}

enum hd_status dominators_init(struct hd_graph *graph, struct job *job, struct dominators *ret,
			       struct hd_error *err)
{
	struct work work = { .graph = graph, .job = job, .node_count = graph->node_count };
	const struct csr *forward;
	TRY(graph_forward(graph, job, &forward, err));
	TRY(graph_reverse(graph, job, &work.reverse, err));
	job_begin(job, "Computing dominators",
		  4 * (uint64_t)graph->node_count + 2 * forward->edge_count);
	struct dominators made = { 0 };
	enum hd_status status = compute(&work, &made, err);
	work_deinit(&work);
	if (status != HD_OK) {
		dominators_deinit(&made);
		return status;
	}
	*ret = made;
	return HD_OK;
}

void dominators_deinit(struct dominators *dominators)
{
	size_t count = (size_t)dominators->node_count + 1;
	pages_free(dominators->idom, count, sizeof(*dominators->idom));
	pages_free(dominators->small_sizes, count, sizeof(*dominators->small_sizes));
	pages_free(dominators->large_sizes, count, sizeof(*dominators->large_sizes));
	pages_free(dominators->retained_count, count, sizeof(*dominators->retained_count));
	*dominators = (struct dominators){ 0 };
}
