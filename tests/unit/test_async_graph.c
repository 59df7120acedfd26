/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_chains.h"
#include "analysis/async/async_counts.h"
#include "analysis/async/async_wait.h"
#include "analysis/async/task_state.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/text.h"

/* The m_stateFlags of a suspended async method, as a core of .NET 10 has them. */
#define SUSPENDED 0x02000c00u
#define RAN       0x01000400u

static struct fake_tasks tasks;
static struct members *members;
static uint64_t place_type, ship_type, continuation_type;

static void set_up(void)
{
	const struct fake_field continuation[] = { { .name = "m_task", .element = ELEMENT_CLASS },
						   { .name = NULL } };
	tasks = fake_tasks_create();
	continuation_type = fake_class(tasks.types,
				       &(struct fake_class){ .space = "System.Threading.Tasks",
							     .name = "ContinueWithTaskContinuation",
							     .fields = continuation,
							     .type = { .base_size = 24 } });
	place_type = fake_box_type(&tasks, "Shop+<Place>d__1",
				   "B+AsyncStateMachineBox<Shop+<Place>d__1>");
	ship_type =
		fake_box_type(&tasks, "Shop+<Ship>d__2", "B+AsyncStateMachineBox<Shop+<Ship>d__2>");
}

static void tear_down(void)
{
	members_destroy(members);
	members = NULL;
	fake_tasks_destroy(&tasks);
}

static uint64_t make_box(uint64_t type, int32_t state, uint64_t awaited)
{
	return fake_box(&tasks, type, (uint32_t)state, awaited);
}

static uint64_t make_task(uint32_t flags)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	fake_poke_u32(&tasks.fake->memory, task + 8, flags);
	return task;
}

static struct async_graph make_graph(bool with_done)
{
	struct async_graph graph;
	fake_types_attach(tasks.types);
	struct heap *heap = fake_heap(tasks.fake);
	ASSERT_UINT(members_create(heap, &members, NULL), HD_OK);
	ASSERT_UINT(async_graph_create(heap, members, with_done, NULL, &graph, NULL), HD_OK);
	return graph;
}

static const struct async_node *node_at(const struct async_graph *graph, uint64_t address)
{
	uint32_t row = async_graph_find(graph, address);
	CU_ASSERT_FATAL(row != ASYNC_NO_NODE);
	return &graph->rows[row];
}

static struct async_chains make_chains(const struct async_graph *graph)
{
	struct async_chains chains;
	const struct async_wanted all = { 0 };
	ASSERT_UINT(async_chains_create(graph, &all, &chains, NULL), HD_OK);
	return chains;
}

TEST(a_chain_ends_at_what_the_innermost_method_waits_for)
{
	uint64_t source = make_task(0x02000400);
	uint64_t inner = make_box(place_type, 0, source), outer = make_box(ship_type, 3, inner);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 2);
	ASSERT_UINT(node_at(&graph, inner)->wait, AWAIT_SOURCE);
	ASSERT_UINT(node_at(&graph, inner)->object, source);
	CU_ASSERT_TRUE(async_node_is_awaited(node_at(&graph, inner)));
	ASSERT_UINT(node_at(&graph, outer)->next, async_graph_find(&graph, inner));
	CU_ASSERT_EQUAL(node_at(&graph, outer)->state, 3);
	ASSERT_UINT(node_at(&graph, outer)->end, async_graph_find(&graph, inner));
	ASSERT_UINT(node_at(&graph, outer)->depth, 2);
	ASSERT_UINT(node_at(&graph, inner)->end, async_graph_find(&graph, inner));
	ASSERT_UINT(node_at(&graph, inner)->depth, 1);
	struct async_chains chains = make_chains(&graph);
	ASSERT_UINT(chains.sorted_count, 1);
	ASSERT_UINT(chains.rows[chains.sorted[0]].depth, 2);
	ASSERT_UINT(chains.rows[chains.sorted[0]].count, 1);
	async_chains_deinit(&chains);
	async_graph_deinit(&graph);
}

/* ValueTask.AsTask(): a task that only passes on what the source of the ValueTask says. */
static uint64_t make_as_task(const char *name, uint64_t source)
{
	const struct fake_field fields[] = { { .name = "_source", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	const struct fake_class class = { .space = "System.Threading.Tasks",
					  .name = name,
					  .fields = fields,
					  .type = { .base_size = 24 } };
	uint64_t ret = fake_object(tasks.fake, fake_class(tasks.types, &class), 0);
	fake_poke_u64(&tasks.fake->memory, ret + 8, source);
	return ret;
}

TEST(a_task_made_of_a_value_task_waits_for_its_source)
{
	uint64_t source = fake_object(tasks.fake, continuation_type, 0);
	uint64_t plain = make_as_task("ValueTask+ValueTaskSourceAsTask", source);
	uint64_t typed = make_as_task("ValueTask<System.Boolean>+ValueTaskSourceAsTask", source);
	uint64_t first = make_box(place_type, 0, plain), second = make_box(place_type, 0, typed);
	fake_implement_source(&tasks, continuation_type, "IValueTaskSource<System.Boolean>");
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(node_at(&graph, first)->wait, AWAIT_SOURCE_OF_VALUE);
	ASSERT_UINT(node_at(&graph, first)->object, source);
	ASSERT_UINT(node_at(&graph, second)->wait, AWAIT_SOURCE_OF_VALUE);
	ASSERT_UINT(node_at(&graph, second)->object, source);
	async_graph_deinit(&graph);
}

TEST(an_awaiter_is_no_source_of_value_tasks)
{
	const uint64_t type = tasks.owner_type;
	uint64_t awaits = make_box(place_type, 0, fake_one(&tasks, type, 0));
	fake_implement_source(&tasks, type, "IValueTaskSourceOfMine");
	struct async_graph graph = make_graph(false);
	const struct async_node *node = node_at(&graph, awaits);
	struct text text = { 0 };
	ASSERT_UINT(node->wait, AWAIT_AWAITER);
	ASSERT_TEXT(async_wait_name(node->wait), "awaiter");
	async_wait_append(&text, &graph, node);
	ASSERT_TEXT(text.bytes, "Shop.Gate");
	text_deinit(&text);
	async_graph_deinit(&graph);
}

TEST(equal_chains_are_one)
{
	uint64_t one = make_task(0x02000400), other = make_task(0x02000400);
	for (unsigned int i = 0; i < 3; i++)
		(void)make_box(ship_type, 0, make_box(place_type, 0, i ? one : other));
	(void)make_box(ship_type, 1, make_box(place_type, 0, one)); /* at another await */
	struct async_graph graph = make_graph(false);
	struct async_chains chains = make_chains(&graph);
	ASSERT_UINT(chains.roots, 4);
	ASSERT_UINT(chains.sorted_count, 2);
	ASSERT_UINT(chains.rows[chains.sorted[0]].count, 3);
	ASSERT_UINT(chains.rows[chains.sorted[0]].objects, 2);
	ASSERT_UINT(chains.rows[chains.sorted[1]].count, 1);
	struct async_counts counts;
	ASSERT_UINT(async_counts_create(&graph, &counts, NULL), HD_OK);
	ASSERT_UINT(counts.rows_count, 3);
	ASSERT_UINT(counts.rows[0].count, 4);
	ASSERT_UINT(counts.rows[0].bytes, 4 * 64);
	async_counts_deinit(&counts);
	async_chains_deinit(&chains);
	async_graph_deinit(&graph);
}

TEST(the_state_tells_who_runs_and_who_is_done)
{
	uint64_t runs = make_box(place_type, -1, 0), done = make_box(place_type, -2, 0);
	uint64_t rests = make_box(place_type, -4, 0);
	uint64_t ready = make_box(place_type, 0, make_task(RAN));
	uint64_t yields = make_box(place_type, 0, 0), wild = make_box(place_type, 0, 0x123450);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 5);
	ASSERT_UINT(node_at(&graph, runs)->wait, AWAIT_RUNS);
	ASSERT_UINT(node_at(&graph, rests)->wait, AWAIT_YIELD);
	ASSERT_UINT(node_at(&graph, ready)->wait, AWAIT_THREAD);
	ASSERT_UINT(node_at(&graph, yields)->wait, AWAIT_THREAD);
	ASSERT_UINT(node_at(&graph, wild)->wait, AWAIT_AWAITER);
	struct async_graph all;
	ASSERT_UINT(async_graph_create(graph.heap, members, true, NULL, &all, NULL), HD_OK);
	ASSERT_UINT(node_at(&all, done)->wait, AWAIT_DONE);
	async_graph_deinit(&all);
	async_graph_deinit(&graph);
}

/* The state of a task { } of F# is the number of its await from 1 on; 0: it runs, or was not begun. */
TEST(tasks_of_fsharp_are_methods_too)
{
	uint64_t type = fake_fsharp_box_type(&tasks, "Shop.Orders+place@11",
					     "B+AsyncStateMachineBox<Shop.Orders+place@11>");
	uint64_t source = make_task(0x02000400);
	uint64_t inner = make_box(type, 1, source), outer = make_box(type, 3, inner);
	uint64_t runs = make_box(type, 0, 0), mixed = make_box(place_type, 0, inner);
	uint64_t done = make_box(type, 2, source);
	fake_poke_u32(&tasks.fake->memory, done + 8, RAN);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(graph.rows_count, 4);
	ASSERT_UINT(node_at(&graph, inner)->wait, AWAIT_SOURCE);
	ASSERT_UINT(node_at(&graph, inner)->object, source);
	CU_ASSERT_EQUAL(node_at(&graph, inner)->state, 0);
	CU_ASSERT_EQUAL(node_at(&graph, outer)->state, 2);
	ASSERT_UINT(node_at(&graph, outer)->next, async_graph_find(&graph, inner));
	ASSERT_UINT(node_at(&graph, mixed)->next, async_graph_find(&graph, inner));
	ASSERT_UINT(node_at(&graph, runs)->wait, AWAIT_RUNS);
	async_graph_deinit(&graph);
}

TEST(methods_that_await_each_other_are_a_circle)
{
	uint64_t self = make_box(place_type, 0, 0), one = make_box(place_type, 0, 0);
	uint64_t outer = make_box(ship_type, 0, one), two = make_box(ship_type, 0, one);
	fake_poke_u64(&tasks.fake->memory, self + 32, self);
	fake_poke_u64(&tasks.fake->memory, one + 32, two);
	struct async_graph graph = make_graph(false);
	struct async_chains chains = make_chains(&graph);
	unsigned int circles = 0;
	for (size_t i = 0; i < graph.rows_count; i++) {
		circles += graph.rows[i].wait == AWAIT_CYCLE;
		CU_ASSERT_EQUAL(graph.rows[graph.rows[i].end].next, ASYNC_NO_NODE);
		CU_ASSERT(graph.rows[i].depth >= 1);
	}
	ASSERT_UINT(circles, 2);
	ASSERT_UINT(node_at(&graph, self)->wait, AWAIT_CYCLE);
	ASSERT_UINT(node_at(&graph, self)->object, self);
	CU_ASSERT_FALSE(async_node_is_awaited(node_at(&graph, outer)));
	CU_ASSERT(chains.roots >= 2);
	async_chains_deinit(&chains);
	async_graph_deinit(&graph);
}

TEST(a_chain_may_be_very_long)
{
	const unsigned int depth = 40000;
	uint64_t box = make_box(place_type, 0, make_task(0x02000400));
	for (unsigned int i = 1; i < depth; i++)
		box = make_box(place_type, 0, box);
	struct async_graph graph = make_graph(false);
	struct async_chains chains = make_chains(&graph);
	ASSERT_UINT(chains.sorted_count, 1);
	ASSERT_UINT(chains.rows[chains.sorted[0]].depth, depth);
	async_chains_deinit(&chains);
	async_graph_deinit(&graph);
}

TEST(a_semaphore_is_found_by_its_list_of_waiters)
{
	uint64_t semaphore = fake_semaphore(&tasks, 1);
	uint64_t second = fake_semaphore_wait(&tasks, semaphore);
	(void)fake_semaphore_wait(&tasks, semaphore);
	uint64_t box = make_box(place_type, 0, second);
	struct async_graph graph = make_graph(false);
	ASSERT_UINT(node_at(&graph, box)->wait, AWAIT_SEMAPHORE);
	ASSERT_UINT(node_at(&graph, box)->object, semaphore);
	CU_ASSERT_FALSE(graph.links.is_broken);
	struct heap *heap = graph.heap;
	async_graph_deinit(&graph);
	fake_poke_u64(&tasks.fake->memory, second + 16, second); /* a circle without the first */
	ASSERT_UINT(async_graph_create(heap, members, false, NULL, &graph, NULL), HD_OK);
	CU_ASSERT_TRUE(graph.links.is_broken);
	ASSERT_UINT(node_at(&graph, box)->object, semaphore);
	async_graph_deinit(&graph);
}

/* Task.Status of the framework: these bits in this order (Task.cs). */
TEST(the_first_bit_decides_the_status_of_a_task)
{
	ASSERT_UINT(task_status_of(0), TASK_CREATED);
	ASSERT_UINT(task_status_of(0x02000400), TASK_WAITING_FOR_ACTIVATION);
	ASSERT_UINT(task_status_of(0x00010000), TASK_WAITING_TO_RUN);
	ASSERT_UINT(task_status_of(0x00030000), TASK_RUNNING);
	ASSERT_UINT(task_status_of(0x00830000), TASK_WAITING_FOR_CHILDREN);
	ASSERT_UINT(task_status_of(0x01830000), TASK_RAN_TO_COMPLETION);
	ASSERT_UINT(task_status_of(0x01430000), TASK_CANCELED);
	ASSERT_UINT(task_status_of(0x01630000), TASK_FAULTED);
	ASSERT_UINT(task_options_of(0x47), 0x27);
}

/* TaskContinuation.cs: a box goes on directly, or after the task that a continuation has. */
TEST(a_task_leads_to_the_method_that_goes_on_after_it)
{
	uint64_t box = make_box(place_type, 0, 0), direct = make_task(SUSPENDED),
		 first = make_task(SUSPENDED), second = make_task(SUSPENDED),
		 alone = make_task(SUSPENDED), circle = make_task(SUSPENDED),
		 wild = make_task(SUSPENDED),
		 between = fake_object(tasks.fake, continuation_type, 0);
	fake_poke_u64(&tasks.fake->memory, direct + 16, box);
	fake_poke_u64(&tasks.fake->memory, first + 16, between);
	fake_poke_u64(&tasks.fake->memory, between + 8, second);
	fake_poke_u64(&tasks.fake->memory, second + 16, box);
	fake_poke_u64(&tasks.fake->memory, circle + 16, circle);
	fake_poke_u64(&tasks.fake->memory, wild + 16, 0x123456);
	struct async_graph graph = make_graph(false);
	const struct {
		uint64_t task;
		bool leads;
	} rows[] = { { direct, true }, { first, true },   { second, true },
		     { alone, false }, { circle, false }, { wild, false } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct object object;
		CU_ASSERT(member_object(members, rows[i].task, &object));
		CU_ASSERT_EQUAL(async_task_leads_to_method(&graph, &object), rows[i].leads);
	}
	async_graph_deinit(&graph);
}

SUITE(.name = "async_graph", .set_up = set_up, .tear_down = tear_down)
