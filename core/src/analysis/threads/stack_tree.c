/* SPDX-License-Identifier: MIT */
#include "analysis/threads/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "util/alloc.h"
#include "util/job.h"

void stack_tree_deinit(struct stack_tree *tree)
{
	pages_free(tree->rows, tree->rows_capacity, sizeof(*tree->rows));
	pages_free(tree->methods, tree->methods_capacity, sizeof(*tree->methods));
	pages_free(tree->paths, tree->paths_capacity, sizeof(*tree->paths));
	hash_index_deinit(&tree->index);
	*tree = (struct stack_tree){ 0 };
}

static bool is_same_step(const struct stack_step *a, const struct stack_step *b)
{
	return a->kind == b->kind && a->is_funclet == b->is_funclet && a->is_dead == b->is_dead &&
	       a->wait == b->wait && a->root == b->root && a->period == b->period &&
	       a->state == b->state && a->method == b->method && a->async_method == b->async_method;
}

static bool is_same_node(const void *arg, uint32_t index)
{
	const struct stack_tree *tree = arg;
	const struct stack_tree_node *node = &tree->rows[index], *next = &tree->next;
	return node->parent == next->parent && is_same_step(&node->step, &next->step) &&
	       (!node->step.period ||
		memcmp(&tree->methods[node->methods], &tree->methods[next->methods],
		       node->step.period * sizeof(*tree->methods)) == 0);
}

static uint64_t hash_node(const struct stack_tree *tree)
{
	const struct stack_tree_node *node = &tree->next;
	const struct stack_step *step = &node->step;
	uint64_t hash = hash_mix(node->parent, step->async_method);
	hash = hash_mix(hash, (uint64_t)(uint32_t)step->state << 32 | (uint64_t)step->wait << 16 |
				      (uint64_t)step->root << 8 | (uint64_t)step->kind << 4 |
				      (uint64_t)step->is_funclet << 1 | step->is_dead);
	hash = hash_mix(hash, step->method);
	for (uint32_t i = 0; i < step->period; i++)
		hash = hash_mix(hash, tree->methods[node->methods + i]);
	return hash;
}

/* Memory for one more node. */
static enum hd_status reserve_node(struct stack_tree *tree, const struct job *job,
				   struct hd_error *err)
{
	if (tree->rows_count == tree->rows_capacity) {
		/* The nodes and the index, each of which may be twice as large as needed. */
		TRY(job_check_memory(job,
				     (uint64_t)tree->rows_count * 2 *
					     (sizeof(*tree->rows) + 4 * sizeof(uint64_t)),
				     err));
	}
	if (tree->rows_count >= STACK_TREE_NONE || !PAGES_RESERVE(tree, rows))
		return fail_nomem(err);
	return HD_OK;
}

/* A stack has come to a node that is there: its line may be another one. */
static void meet_again(const struct stack_tree *tree, struct stack_tree_node *node)
{
	const struct stack_tree_node *next = &tree->next;
	if (node->place != next->place && node->place &&
	    !(next->place && tree->lines.is_same &&
	      tree->lines.is_same(tree->lines.arg, node->step.method, node->place, next->place)))
		node->place = 0;
	if (next->fewest < node->fewest)
		node->fewest = next->fewest;
	if (next->most > node->most)
		node->most = next->most;
}

/* Go from node *@p at to tree->next, which has its step; *@p at is that node then. */
static enum hd_status descend(struct stack_tree *tree, uint32_t *at, const struct job *job,
			      struct hd_error *err)
{
	struct stack_tree_node *next = &tree->next;
	next->parent = *at;
	next->depth = *at == STACK_TREE_NONE ? 0 : tree->rows[*at].depth + 1;
	next->first_path = next->last_path = STACK_TREE_NONE;
	TRY(reserve_node(tree, job, err));
	uint32_t index = hash_index_add(&tree->index, hash_node(tree), (uint32_t)tree->rows_count,
					is_same_node, tree);
	if (index == STACK_TREE_NONE)
		return fail_nomem(err);
	if (index < tree->rows_count) {
		meet_again(tree, &tree->rows[index]);
	} else {
		tree->rows[tree->rows_count++] = *next;
		tree->methods_count += next->step.period;
		if (*at == STACK_TREE_NONE) {
			tree->roots++;
		} else {
			tree->rows[*at].children++;
		}
	}
	tree->rows[index].count++;
	*at = index;
	return HD_OK;
}

/* A path ends at node @p at. */
static enum hd_status end_tree_path(struct stack_tree *tree, uint32_t at, uint32_t id,
				    struct hd_error *err)
{
	if (tree->paths_count >= STACK_TREE_NONE || !PAGES_RESERVE(tree, paths))
		return fail_nomem(err);
	uint32_t path = (uint32_t)tree->paths_count++;
	struct stack_tree_node *node = &tree->rows[at];
	tree->paths[path] =
		(struct stack_tree_path){ .node = at, .next = STACK_TREE_NONE, .id = id };
	if (node->first_path == STACK_TREE_NONE) {
		node->first_path = path;
	} else {
		tree->paths[node->last_path].next = path;
	}
	node->last_path = path;
	return HD_OK;
}

/* A part of a stack: one frame, or as many as repeat the @p period frames before them. */
struct stack_part {
	size_t begin, count, period;
};

struct stack_parts {
	struct stack_part *rows;
	size_t rows_count, rows_capacity;
};

static enum hd_status find_path_parts(struct stack_parts *parts, const struct thread_stack *stack,
				      struct hd_error *err)
{
	for (size_t i = 0; i < stack->frames_count;) {
		struct stack_part part = { .begin = i };
		part.count = frame_repeats(stack, i, &part.period);
		if (!part.count)
			part.count = 1;
		i += part.count;
		if (!part.period && stack->frames[part.begin].kind != STACK_MANAGED)
			continue;
		TRY_MEMORY(PAGES_RESERVE(parts, rows), err);
		parts->rows[parts->rows_count++] = part;
	}
	return HD_OK;
}

static void set_frame(struct stack_tree_node *node, const struct stack_frame *frame)
{
	node->step = (struct stack_step){ .kind = STEP_METHOD,
					  .is_funclet = frame->is_funclet,
					  .is_dead = frame->is_dead,
					  .method = frame->method_desc };
	/* A return address is after the call. */
	node->place = frame->ip - !frame->is_active;
}

/* Only the managed ones of the frames that repeat count; a period of 0: there are none. */
static enum hd_status set_repeated(struct stack_tree *tree, const struct thread_stack *stack,
				   const struct stack_part *part, struct hd_error *err)
{
	struct stack_tree_node *node = &tree->next;
	size_t begin = tree->methods_count, period = 0;
	node->step.kind = STEP_REPEATED;
	node->methods = (uint32_t)begin;
	for (size_t i = 0; i < part->period; i++) {
		const struct stack_frame *frame = &stack->frames[part->begin + i];
		if (frame->kind != STACK_MANAGED)
			continue;
		if (tree->methods_count >= UINT32_MAX || !PAGES_RESERVE(tree, methods)) {
			tree->methods_count = begin;
			return fail_nomem(err);
		}
		tree->methods[tree->methods_count++] = frame->method_desc;
		period++;
	}
	/* They stay only when the node is a new one. */
	tree->methods_count = begin;
	node->step.period = (uint8_t)period;
	node->fewest = node->most = (uint32_t)(part->count / part->period * period);
	return HD_OK;
}

static enum hd_status add_path_part(struct stack_tree *tree, const struct thread_stack *stack,
				    const struct stack_part *part, struct hd_error *err)
{
	tree->next = (struct stack_tree_node){ 0 };
	if (part->period)
		return set_repeated(tree, stack, part, err);
	set_frame(&tree->next, &stack->frames[part->begin]);
	return HD_OK;
}

enum hd_status stack_tree_add(struct stack_tree *tree, const struct thread_stack *stack,
			      uint32_t id, const struct job *job, struct hd_error *err)
{
	struct stack_parts parts = { 0 };
	uint32_t at = STACK_TREE_NONE;
	enum hd_status status = find_path_parts(&parts, stack, err);
	/* From the outermost. */
	for (size_t i = parts.rows_count; i > 0 && status == HD_OK; i--) {
		status = add_path_part(tree, stack, &parts.rows[i - 1], err);
		bool is_there = !parts.rows[i - 1].period || tree->next.step.period;
		if (status == HD_OK && is_there)
			status = descend(tree, &at, job, err);
	}
	pages_free(parts.rows, parts.rows_capacity, sizeof(*parts.rows));
	TRY(status);
	return at == STACK_TREE_NONE ? HD_OK : end_tree_path(tree, at, id, err);
}

enum hd_status stack_tree_add_chain(struct stack_tree *tree, const struct async_graph *graph,
				    uint32_t root, uint32_t id, const struct job *job,
				    struct hd_error *err)
{
	uint32_t at = STACK_TREE_NONE;
	uint32_t row = root;
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < STACK_TREE_ASYNC_MAX; i++) {
		const struct async_node *node = &graph->rows[row];
		tree->next = (struct stack_tree_node){ .step = { .kind = STEP_ASYNC,
								 .async_method = node->method,
								 .state = node->state,
								 .wait = (uint8_t)node->wait } };
		if (at == STACK_TREE_NONE)
			tree->next.step.root = (uint8_t)graph->rows[root].root;
		TRY(descend(tree, &at, job, err));
		row = node->next;
	}
	return at == STACK_TREE_NONE ? HD_OK : end_tree_path(tree, at, id, err);
}

static int compare_tree_rows(const void *left, const void *right, void *arg)
{
	const struct stack_tree_node *rows = arg;
	uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct stack_tree_node *a = &rows[i], *b = &rows[k];
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return i < k ? -1 : i > k;
}

void stack_tree_order_deinit(struct stack_tree_order *order)
{
	pages_free(order->rows, order->count, sizeof(*order->rows));
	pages_free(order->begin, order->count, sizeof(*order->begin));
	*order = (struct stack_tree_order){ 0 };
}

enum hd_status stack_tree_sort(const struct stack_tree *tree, struct stack_tree_order *ret,
			       struct hd_error *err)
{
	size_t count = tree->rows_count;
	struct stack_tree_order order = { .count = count,
					  .rows = pages_alloc(count, sizeof(*order.rows)),
					  .begin = pages_alloc(count, sizeof(*order.begin)) };
	if (!order.rows || !order.begin) {
		stack_tree_order_deinit(&order);
		return fail_nomem(err);
	}
	for (size_t i = 0; i < count; i++)
		order.rows[i] = (uint32_t)i;
	qsort_r(order.rows, count, sizeof(*order.rows), compare_tree_rows, tree->rows);
	/* The nodes of no parent sort last, for their parent is STACK_TREE_NONE. */
	order.root_begin = (uint32_t)(count - tree->roots);
	for (size_t i = order.root_begin; i > 0; i--)
		order.begin[tree->rows[order.rows[i - 1]].parent] = (uint32_t)(i - 1);
	*ret = order;
	return HD_OK;
}
