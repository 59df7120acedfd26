/* SPDX-License-Identifier: MIT */
/* Stacks that are merged into trees. */
#include "analysis/async/async_graph.h"
#include "analysis/threads/stack_tree.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

#define FRAMES 100u

static struct stack_tree tree;
static struct stack_frame frames[FRAMES];

/* A stack of methods, the innermost first; 0 ends the list.  Each is at an address of its own. */
static struct thread_stack make_stack(const uint64_t *methods)
{
	struct thread_stack stack = { .frames = frames };
	for (; methods[stack.frames_count]; stack.frames_count++) {
		uint64_t method = methods[stack.frames_count];
		frames[stack.frames_count] = (struct stack_frame){ .kind = STACK_MANAGED,
								   .method_desc = method,
								   .ip = method * 100 };
	}
	return stack;
}

static enum hd_status add(const uint64_t *methods, uint32_t id)
{
	struct thread_stack stack = make_stack(methods);
	return stack_tree_add(&tree, &stack, id, NULL, NULL);
}

static void begin(void)
{
	tree = (struct stack_tree){ 0 };
}

/* The node of a method, below @p parent. */
static const struct stack_tree_node *find(uint32_t parent, uint64_t method)
{
	for (size_t i = 0; i < tree.rows_count; i++) {
		if (tree.rows[i].parent == parent && tree.rows[i].step.method == method)
			return &tree.rows[i];
	}
	CU_FAIL_FATAL("no such node");
	return NULL;
}

static uint32_t index_of(const struct stack_tree_node *node)
{
	return (uint32_t)(node - tree.rows);
}

TEST(outermost_frames_are_shared)
{
	begin();
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 7, 2, 1, 0 }, 10), HD_OK);
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 8, 2, 1, 0 }, 11), HD_OK);
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 8, 2, 1, 0 }, 12), HD_OK);
	/* The same innermost method, called by another. */
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 8, 3, 0 }, 13), HD_OK);
	ASSERT_UINT(tree.roots, 2);
	ASSERT_UINT(tree.paths_count, 4);
	ASSERT_UINT(tree.rows_count, 6);
	const struct stack_tree_node *outer = find(STACK_TREE_NONE, 1);
	ASSERT_UINT(outer->count, 3);
	ASSERT_UINT(outer->children, 1);
	ASSERT_UINT(outer->depth, 0);
	const struct stack_tree_node *middle = find(index_of(outer), 2);
	ASSERT_UINT(middle->count, 3);
	ASSERT_UINT(middle->children, 2);
	const struct stack_tree_node *inner = find(index_of(middle), 8);
	ASSERT_UINT(inner->count, 2);
	ASSERT_UINT(inner->depth, 2);
	ASSERT_UINT(tree.paths[inner->first_path].id, 11);
	ASSERT_UINT(tree.paths[tree.paths[inner->first_path].next].id, 12);
	ASSERT_UINT(tree.paths[inner->last_path].next, STACK_TREE_NONE);
	stack_tree_deinit(&tree);
}

TEST(a_stack_may_end_where_another_goes_on)
{
	begin();
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 2, 1, 0 }, 0), HD_OK);
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 1, 0 }, 1), HD_OK);
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 0 }, 2), HD_OK);
	const struct stack_tree_node *outer = find(STACK_TREE_NONE, 1);
	ASSERT_UINT(outer->count, 2);
	ASSERT_UINT(tree.paths[outer->first_path].id, 1);
	/* The stack without frames is not there. */
	ASSERT_UINT(tree.paths_count, 2);
	stack_tree_deinit(&tree);
}

TEST(handlers_and_unwound_frames_are_others)
{
	begin();
	struct thread_stack stack = make_stack((const uint64_t[]){ 1, 0 });
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 0, NULL, NULL), HD_OK);
	frames[0].is_funclet = true;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 1, NULL, NULL), HD_OK);
	frames[0].is_funclet = false;
	frames[0].is_dead = true;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 2, NULL, NULL), HD_OK);
	ASSERT_UINT(tree.roots, 3);
	/* A Frame of the runtime is not a method. */
	frames[0].kind = STACK_EXPLICIT;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 3, NULL, NULL), HD_OK);
	ASSERT_UINT(tree.paths_count, 3);
	stack_tree_deinit(&tree);
}

/* Addresses that differ by less than 10 are on one line. */
static bool is_same_line(void *arg, uint64_t method, uint64_t a, uint64_t b)
{
	(void)arg;
	(void)method;
	return a / 10 == b / 10;
}

TEST(a_place_stays_while_all_are_on_one_line)
{
	begin();
	tree.lines.is_same = is_same_line;
	struct thread_stack stack = make_stack((const uint64_t[]){ 1, 0 });
	frames[0].ip = 101;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 0, NULL, NULL), HD_OK);
	frames[0].ip = 105;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 1, NULL, NULL), HD_OK);
	ASSERT_UINT(tree.rows[0].place, 100);
	frames[0].ip = 115;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 2, NULL, NULL), HD_OK);
	ASSERT_UINT(tree.rows[0].place, 0);
	frames[0].ip = 101;
	CU_ASSERT_EQUAL(stack_tree_add(&tree, &stack, 3, NULL, NULL), HD_OK);
	ASSERT_UINT(tree.rows[0].place, 0);
	ASSERT_UINT(tree.rows_count, 1);
	stack_tree_deinit(&tree);
}

TEST(a_recursion_is_one_step_however_deep)
{
	uint64_t methods[FRAMES] = { 9 };
	begin();
	/* 9, then 2 and 3 in turn, then 1. */
	for (size_t depth = 40; depth <= 60; depth += 20) {
		for (size_t i = 1; i <= depth; i++)
			methods[i] = 2 + i % 2;
		methods[depth + 1] = 1;
		methods[depth + 2] = 0;
		CU_ASSERT_EQUAL(add(methods, (uint32_t)depth), HD_OK);
	}
	ASSERT_UINT(tree.roots, 1);
	/* 1, the outermost two, those between, the innermost two, 9. */
	ASSERT_UINT_FATAL(tree.rows_count, 7);
	const struct stack_tree_node *folded = &tree.rows[3];
	ASSERT_UINT(folded->step.kind, STEP_REPEATED);
	ASSERT_UINT(folded->count, 2);
	ASSERT_UINT(folded->fewest, 36);
	ASSERT_UINT(folded->most, 56);
	ASSERT_UINT_FATAL(folded->step.period, 2);
	ASSERT_UINT(tree.methods[folded->methods], 3);
	ASSERT_UINT(tree.methods[folded->methods + 1], 2);
	ASSERT_UINT(tree.methods_count, 2);
	stack_tree_deinit(&tree);
}

TEST(children_are_sorted_by_their_paths)
{
	begin();
	for (uint32_t i = 0; i < 6; i++) {
		const uint64_t methods[] = { i < 1 ? 5u : i < 3 ? 6u : 7u, 1, 0 };
		CU_ASSERT_EQUAL(add(methods, 5 - i), HD_OK);
	}
	CU_ASSERT_EQUAL(add((const uint64_t[]){ 2, 0 }, 6), HD_OK);
	struct stack_tree_order order;
	CU_ASSERT_EQUAL_FATAL(stack_tree_sort(&tree, &order, NULL), HD_OK);
	ASSERT_UINT(order.count, 5);
	ASSERT_UINT(order.root_begin, 3);
	ASSERT_UINT(tree.rows[order.rows[3]].step.method, 2);
	ASSERT_UINT(tree.rows[order.rows[4]].step.method, 1);
	uint32_t first = order.begin[order.rows[4]];
	ASSERT_UINT(tree.rows[order.rows[first]].step.method, 5);
	ASSERT_UINT(tree.rows[order.rows[first + 1]].step.method, 6);
	ASSERT_UINT(tree.rows[order.rows[first + 2]].step.method, 7);
	stack_tree_order_deinit(&order);
	stack_tree_deinit(&tree);
}

TEST(async_methods_are_merged_by_state_and_wait)
{
	static struct type machines[2];
	/* 0 and 1 await 2; 3 is at another await, and awaits 2, too. */
	struct async_node boxes[] = {
		{ .machine = &machines[0], .next = 2, .state = 1 },
		{ .machine = &machines[0], .next = 2, .state = 1 },
		{ .machine = &machines[1], .next = ASYNC_NO_NODE, .wait = AWAIT_DELAY },
		{ .machine = &machines[0], .next = 2, .state = 2 },
	};
	struct async_graph graph = { .rows = boxes, .rows_count = 4 };
	begin();
	CU_ASSERT_EQUAL(stack_tree_add_chain(&tree, &graph, 0, 0, NULL, NULL), HD_OK);
	CU_ASSERT_EQUAL(stack_tree_add_chain(&tree, &graph, 1, 1, NULL, NULL), HD_OK);
	CU_ASSERT_EQUAL(stack_tree_add_chain(&tree, &graph, 3, 3, NULL, NULL), HD_OK);
	ASSERT_UINT(tree.roots, 2);
	ASSERT_UINT_FATAL(tree.rows_count, 4);
	ASSERT_UINT(tree.rows[0].count, 2);
	ASSERT_UINT(tree.rows[1].step.wait, AWAIT_DELAY);
	ASSERT_UINT(tree.rows[1].parent, 0);
	ASSERT_UINT(tree.paths[tree.rows[1].first_path].id, 0);
	ASSERT_UINT(tree.rows[2].count, 1);
	stack_tree_deinit(&tree);
}

TEST(memory_may_be_exhausted)
{
	struct job job = { .max_mem = 1024 };
	struct hd_error err = { 0 };
	uint64_t nth = 0;
	enum hd_status status = HD_ERR_NOMEM;
	while (status != HD_OK) {
		begin();
		alloc_fail_at(++nth);
		status = add((const uint64_t[]){ 3, 2, 1, 0 }, 0);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		if (status == HD_OK) {
			struct stack_tree_order order;
			alloc_fail_at(1);
			CU_ASSERT_EQUAL(stack_tree_sort(&tree, &order, NULL), HD_ERR_NOMEM);
			alloc_fail_at(0);
		}
		stack_tree_deinit(&tree);
	}
	CU_ASSERT(nth > 3);
	/* A tree that grows beyond what a job may take. */
	begin();
	uint64_t methods[2] = { 0 };
	for (status = HD_OK; status == HD_OK && methods[0] < 10000;) {
		methods[0]++;
		struct thread_stack stack = make_stack(methods);
		status = stack_tree_add(&tree, &stack, 0, &job, &err);
	}
	CU_ASSERT_EQUAL(status, HD_ERR_NOMEM);
	stack_tree_deinit(&tree);
}

SUITE(.name = "stack_tree")
