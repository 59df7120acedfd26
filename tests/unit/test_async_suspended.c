/* SPDX-License-Identifier: MIT */
/* Async methods that the runtime suspends itself, .NET 11 (doc/coreclr.md 21). */
#include "analysis/async/async_call.h"
#include "analysis/async/async_chains.h"
#include "analysis/async/async_counts.h"
#include "inspect/suspended.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

#define WAITING 0x02000400u
#define RAN     0x01000400u
/* Places of the compiler's records of awaits, which the target lacks. */
#define AWAIT_A 0x7e5500000010u
#define AWAIT_B 0x7e5500000020u
#define AWAIT_C 0x7e5500000030u

static struct fake_tasks tasks;
static struct members *members;
static uint64_t box_type;

static void set_up(void)
{
	tasks = fake_tasks_create_11();
	box_type = fake_box_type(&tasks, "Shop+<Place>d__1",
				 "B+AsyncStateMachineBox<Shop+<Place>d__1>");
}

static void tear_down(void)
{
	members_destroy(members);
	members = NULL;
	fake_tasks_destroy(&tasks);
}

static void poke(uint64_t address, uint64_t value)
{
	fake_poke_u64(&tasks.fake->memory, address, value);
}

static uint64_t make_source(void)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	fake_poke_u32(&tasks.fake->memory, task + 8, WAITING);
	return task;
}

static struct async_graph make_graph(bool with_done)
{
	struct async_graph graph;
	fake_types_attach(tasks.types);
	struct heap *heap = fake_heap(tasks.fake);
	ASSERT_UINT_FATAL(members_create(heap, &members, NULL), HD_OK);
	ASSERT_UINT_FATAL(async_graph_create(heap, members, with_done, NULL, &graph, NULL), HD_OK);
	return graph;
}

static const struct async_node *node_at(const struct async_graph *graph, uint64_t address)
{
	uint32_t row = async_graph_find(graph, address);
	CU_ASSERT_FATAL(row != ASYNC_NO_NODE);
	return &graph->rows[row];
}

static uint64_t chains_of(const struct async_graph *graph)
{
	struct async_chains chains;
	const struct async_wanted all = { 0 };
	ASSERT_UINT_FATAL(async_chains_create(graph, &all, &chains, NULL), HD_OK);
	uint64_t count = chains.sorted_count;
	async_chains_deinit(&chains);
	return count;
}

TEST(the_methods_of_a_suspended_call_are_a_chain)
{
	uint64_t source = make_source(), outer = fake_suspended(&tasks, AWAIT_C, 2, 0);
	uint64_t middle = fake_suspended(&tasks, AWAIT_B, 1, outer);
	uint64_t inner = fake_suspended(&tasks, AWAIT_A, 0, middle);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, source, inner);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 3);
	const struct async_node *node = node_at(&graph, inner);
	ASSERT_UINT(node->wait, AWAIT_SOURCE);
	ASSERT_UINT(node->object, source);
	ASSERT_UINT(node->task, call);
	ASSERT_UINT(node_at(&graph, middle)->next, async_graph_find(&graph, inner));
	/* Others know the outermost method by the task. */
	ASSERT_UINT(async_graph_find(&graph, outer), ASYNC_NO_NODE);
	node = node_at(&graph, call);
	ASSERT_UINT(node->holder, outer);
	ASSERT_UINT(node->depth, 3);
	CU_ASSERT_EQUAL(node->state, 2);
	CU_ASSERT_TRUE(node->is_runtime);
	CU_ASSERT_FALSE(async_node_is_awaited(node));
	CU_ASSERT_FALSE(graph.is_cut);
	/* The target lacks what tells their names: that is said. */
	ASSERT_UINT(graph.unknown, 3);
	ASSERT_TEXT(async_node_name(&graph, node), "<unknown async method>");
	CU_ASSERT(findings_has(runtime_findings(graph.heap->runtime), FINDING_ASYNC_METHODS));
	async_graph_deinit(&graph);
}

TEST(chains_go_on_over_both_kinds_of_methods)
{
	uint64_t source = make_source();
	uint64_t box = fake_box(&tasks, box_type, 0, source);
	uint64_t inner = fake_suspended(&tasks, AWAIT_A, 0, 0);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, box, inner);
	uint64_t outer_box = fake_box(&tasks, box_type, 1, call);
	uint64_t outer = fake_suspended(&tasks, AWAIT_B, 0, 0);
	uint64_t last = fake_call_of(&tasks, tasks.task_head_type, outer_box, outer);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 4);
	ASSERT_UINT(node_at(&graph, last)->depth, 4);
	ASSERT_UINT(node_at(&graph, last)->end, async_graph_find(&graph, box));
	ASSERT_UINT(node_at(&graph, outer_box)->next, async_graph_find(&graph, call));
	ASSERT_UINT(chains_of(&graph), 1);
	ASSERT_TEXT(async_node_name(&graph, node_at(&graph, box)), "Shop.Place");
	async_graph_deinit(&graph);
}

TEST(methods_are_told_apart_by_their_awaits_and_not_by_the_shape_of_what_they_save)
{
	uint64_t source = make_source();
	(void)fake_call_of(&tasks, tasks.task_head_type, source,
			   fake_suspended(&tasks, AWAIT_A, 0, 0));
	(void)fake_call_of(&tasks, tasks.task_head_type, source,
			   fake_suspended(&tasks, AWAIT_A, 0, 0));
	(void)fake_call_of(&tasks, tasks.task_head_type, source,
			   fake_suspended(&tasks, AWAIT_B, 0, 0));
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 3);
	ASSERT_UINT(chains_of(&graph), 2);
	struct async_counts counts;
	ASSERT_UINT(async_counts_create(&graph, &counts, NULL), HD_OK);
	ASSERT_UINT(counts.rows_count, 2);
	ASSERT_UINT(counts.rows[0].count, 2);
	async_counts_deinit(&counts);
	async_graph_deinit(&graph);
}

TEST(a_call_may_await_a_source_or_an_awaiter_of_the_program)
{
	uint64_t source = fake_one(&tasks, tasks.source_type, 0);
	uint64_t first = fake_suspended(&tasks, AWAIT_A, 0, 0);
	fake_implement_source(&tasks, tasks.source_type, "IValueTaskSource");
	(void)fake_call_of(&tasks, tasks.source_head_type, source, first);
	/* An awaiter has the action of the call's task, and is kept by the method. */
	uint64_t method = fake_suspended(&tasks, AWAIT_B, 0, 0), action = make_source();
	uint64_t call = fake_task(&tasks, tasks.call_type);
	uint64_t awaiter = fake_one(&tasks, tasks.owner_type, action);
	poke(call + FAKE_CALL_HEAD, method);
	poke(call + FAKE_CALL_ACTION, action);
	poke(method + FAKE_SUSPENDED_SAVED + 8, awaiter);
	/* Task.Yield: nobody has it but the queue of the thread pool. */
	uint64_t yields = fake_task(&tasks, tasks.call_type);
	poke(yields + FAKE_CALL_HEAD, fake_suspended(&tasks, AWAIT_C, 0, 0));
	poke(yields + FAKE_CALL_ACTION, action);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 3);
	ASSERT_UINT(node_at(&graph, call)->wait, AWAIT_AWAITER);
	ASSERT_UINT(node_at(&graph, call)->object, awaiter);
	ASSERT_UINT(node_at(&graph, yields)->wait, AWAIT_THREAD);
	for (size_t i = 0; i < graph.rows_count; i++) {
		if (graph.rows[i].holder != first)
			continue;
		ASSERT_UINT(graph.rows[i].object, source);
		ASSERT_UINT(graph.rows[i].wait, AWAIT_SOURCE_OF_VALUE);
	}
	async_graph_deinit(&graph);
}

TEST(a_call_that_runs_has_no_method_and_one_that_has_ended_is_left_out)
{
	uint64_t runs = fake_task(&tasks, tasks.call_type);
	uint64_t ended = fake_task(&tasks, tasks.call_type);
	uint64_t waits = fake_call_of(&tasks, tasks.task_head_type, ended,
				      fake_suspended(&tasks, AWAIT_A, 0, 0));
	fake_poke_u32(&tasks.fake->memory, ended + 8, RAN);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 2);
	ASSERT_UINT(node_at(&graph, runs)->wait, AWAIT_RUNS);
	CU_ASSERT_EQUAL(node_at(&graph, runs)->state, -1);
	ASSERT_UINT(node_at(&graph, waits)->wait, AWAIT_THREAD);
	ASSERT_TEXT(async_node_name(&graph, node_at(&graph, runs)),
		    "System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask<System.Int32>");
	struct async_graph all;
	ASSERT_UINT(async_graph_create(graph.heap, members, true, NULL, &all, NULL), HD_OK);
	ASSERT_UINT(all.rows_count, 3);
	ASSERT_UINT(node_at(&all, ended)->wait, AWAIT_DONE);
	async_graph_deinit(&all);
	async_graph_deinit(&graph);
}

TEST(the_task_of_a_call_that_runs_is_told_by_its_method_once_that_is_known)
{
	struct object task = { .address = fake_task(&tasks, tasks.call_type) };
	struct async_graph graph = make_graph(false);
	struct async_node *node = &graph.rows[async_graph_find(&graph, task.address)];
	struct text text = { 0 };
	task.type = node->type;
	ASSERT_UINT(node->wait, AWAIT_RUNS);
	CU_ASSERT_FALSE(async_graph_call_append(&text, &graph, &task));
	/* The stack of its thread tells the method. */
	node->method = async_methods_add(
		&graph.methods, (struct async_method_key){ .method_desc = 0x7e5500001000 });
	graph.methods.rows[node->method].name = mem_strndup("Shop.Place", 10);
	CU_ASSERT_FALSE(async_call_append(&text, graph.heap, members, &task));
	CU_ASSERT_TRUE(async_graph_call_append(&text, &graph, &task));
	ASSERT_TEXT(text.bytes, "Shop.Place");
	text_deinit(&text);
	async_graph_deinit(&graph);
}

TEST(a_circle_of_continuations_ends)
{
	uint64_t source = make_source(), first = fake_suspended(&tasks, AWAIT_A, 0, 0);
	uint64_t second = fake_suspended(&tasks, AWAIT_B, 0, first);
	poke(first + FAKE_SUSPENDED_NEXT, second);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, source, first);
	uint64_t self = fake_suspended(&tasks, AWAIT_C, 0, 0);
	poke(self + FAKE_SUSPENDED_NEXT, self);
	(void)fake_call_of(&tasks, tasks.task_head_type, source, self);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 3);
	ASSERT_UINT(node_at(&graph, call)->depth, 2);
	CU_ASSERT_TRUE(graph.is_cut);
	CU_ASSERT(findings_has(runtime_findings(graph.heap->runtime), FINDING_ASYNC_LIST));
	async_graph_deinit(&graph);
}

/* Else a few bytes of a heap could ask for any amount of work: each call follows the same list. */
TEST(a_method_that_many_calls_lead_to_belongs_to_the_first)
{
	uint64_t source = make_source(), outer = fake_suspended(&tasks, AWAIT_B, 0, 0);
	uint64_t inner = fake_suspended(&tasks, AWAIT_A, 0, outer);
	uint64_t first = fake_call_of(&tasks, tasks.task_head_type, source, inner);
	uint64_t other = fake_suspended(&tasks, AWAIT_C, 0, outer);
	uint64_t second = fake_call_of(&tasks, tasks.task_head_type, source, other);
	uint64_t third = fake_call_of(&tasks, tasks.task_head_type, source, inner);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 3);
	ASSERT_UINT(node_at(&graph, first)->depth, 2);
	ASSERT_UINT(node_at(&graph, second)->holder, other);
	ASSERT_UINT(async_graph_find(&graph, third), ASYNC_NO_NODE);
	CU_ASSERT_TRUE(graph.is_cut);
	async_graph_deinit(&graph);
}

TEST(what_leads_nowhere_is_said)
{
	const uint64_t wild[] = { 0x123450, tasks.task_type };
	for (size_t i = 0; i < 2; i++) {
		uint64_t call = fake_task(&tasks, tasks.call_type);
		poke(call + FAKE_CALL_HEAD, wild[i]);
	}
	uint64_t not_one = fake_task(&tasks, tasks.call_type), source = make_source();
	poke(not_one + FAKE_CALL_HEAD, source);
	uint64_t no_method = fake_call_of(&tasks, tasks.task_head_type, source, 0);
	uint64_t outer = fake_suspended(&tasks, AWAIT_A, 0, 0x123450);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, source, outer);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 5);
	CU_ASSERT_TRUE(graph.is_cut);
	ASSERT_UINT(node_at(&graph, no_method)->object, source);
	ASSERT_UINT(node_at(&graph, call)->holder, outer);
	async_graph_deinit(&graph);
}

TEST(a_call_may_have_very_many_methods)
{
	const unsigned int depth = 40000;
	uint64_t method = 0;
	for (unsigned int i = 0; i < depth; i++)
		method = fake_suspended(&tasks, AWAIT_A, 0, method);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, make_source(), method);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(node_at(&graph, call)->depth, depth);
	ASSERT_UINT(chains_of(&graph), 1);
	async_graph_deinit(&graph);
}

TEST(a_method_goes_on_in_the_context_that_it_or_its_head_has)
{
	uint64_t context = fake_one(&tasks, tasks.owner_type, 0), source = make_source();
	uint64_t saves = fake_suspended(&tasks, AWAIT_A, 0, 0);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, source, saves);
	fake_poke_u32(&tasks.fake->memory, saves + FAKE_SUSPENDED_FLAGS, 2 | 2u << 6);
	poke(saves + FAKE_SUSPENDED_SAVED + 8, context);
	uint64_t plain = fake_suspended(&tasks, AWAIT_B, 0, 0);
	uint64_t by_head = fake_call_of(&tasks, tasks.task_head_type, source, plain);
	uint64_t head;
	CU_ASSERT(memory_u64(&tasks.fake->memory.memory, by_head + FAKE_CALL_HEAD, &head));
	poke(head + FAKE_HEAD_CONTEXT, context);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(async_node_context(&graph, node_at(&graph, call)), context);
	ASSERT_UINT(async_node_context(&graph, node_at(&graph, by_head)), context);
	async_graph_deinit(&graph);
}

TEST(what_is_saved_without_names_are_references)
{
	uint64_t source = make_source(), method = fake_suspended(&tasks, AWAIT_A, 0, 0);
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, source, method), base;
	struct field_list list;
	poke(method + FAKE_SUSPENDED_SAVED + 8, source);
	poke(method + FAKE_SUSPENDED_SAVED + 24, 0x123450); /* not an object */
	struct async_graph graph = make_graph(false);
	ASSERT_UINT_FATAL(async_node_fields(&graph, node_at(&graph, call), &list, &base, NULL),
			  HD_OK);
	ASSERT_UINT(base, method + 8);
	ASSERT_UINT_FATAL(list.count, 2);
	ASSERT_TEXT(list.rows[0].name, "<saved>");
	ASSERT_TEXT(list.rows[0].type_name, "System.Threading.Tasks.Task");
	ASSERT_UINT(list.rows[0].offset, FAKE_SUSPENDED_SAVED);
	ASSERT_TEXT(list.rows[1].type_name, "");
	field_list_deinit(&list);
	async_graph_deinit(&graph);
}

/* A framework whose names nobody has seen: "0 async methods" would be believed. */
TEST(suspended_methods_without_any_call_are_said)
{
	(void)fake_suspended(&tasks, AWAIT_A, 0, 0);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 0);
	CU_ASSERT_TRUE(graph.is_cut);
	CU_ASSERT(findings_has(runtime_findings(graph.heap->runtime), FINDING_ASYNC_LIST));
	async_graph_deinit(&graph);
}

/* Without them, a release that nobody has seen would seem to have no async methods. */
TEST(a_runtime_whose_continuations_are_not_known_says_so)
{
	uint64_t call = fake_call_of(&tasks, tasks.task_head_type, make_source(),
				     fake_suspended(&tasks, AWAIT_A, 0, 0));
	tasks.fake->layout.origins[L_CONTINUATION_NEXT] = ORIGIN_NONE;
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 1);
	CU_ASSERT_EQUAL(node_at(&graph, call)->state, 0);
	CU_ASSERT_TRUE(graph.is_cut);
	struct object object;
	struct text text = { 0 };
	CU_ASSERT(member_object(members, call, &object));
	CU_ASSERT_FALSE(async_call_append(&text, graph.heap, members, &object));
	text_deinit(&text);
	async_graph_deinit(&graph);
}

SUITE(.name = "async_suspended", .set_up = set_up, .tear_down = tear_down)
