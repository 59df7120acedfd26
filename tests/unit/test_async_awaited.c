/* SPDX-License-Identifier: MIT */
/* Finds what methods await whose state machines have no names for their fields. */
#include "analysis/async/async_box.h"
#include "analysis/async/async_wait.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define REFERENCE 8u

static struct fake_tasks tasks;
static struct members *members;
static struct async_graph graph;
static uint64_t box_type, list_type, action_type, next_type;

static uint64_t make_type(const char *space, const char *name, const struct fake_field *fields,
			  uint64_t parent)
{
	static const struct gc_series series = { .size = 8 - 32, .offset = REFERENCE };
	return fake_class(tasks.types, &(struct fake_class){ .space = space,
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = 32,
								       .parent = parent,
								       .series = &series,
								       .series_count = 1 } });
}

static void set_up(void)
{
	const struct fake_field delegate[] = {
		FAKE_REFERENCE("_target", 0),
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 8 },
		FAKE_END
	};
	const struct fake_field list[] = { FAKE_REFERENCE("_items", 0), FAKE_NUMBER("_size", 8),
					   FAKE_END };
	const struct fake_field next[] = { FAKE_REFERENCE("m_action", 0), FAKE_END };
	const struct fake_field none[] = { FAKE_END };
	tasks = fake_tasks_create();
	uint64_t parent = make_type("System", "Delegate", delegate, 0);
	const struct gc_series series = { .size = 8 - 32, .offset = REFERENCE };
	action_type =
		fake_class(tasks.types, &(struct fake_class){ .space = "System",
							      .name = "Action",
							      .fields = none,
							      .inherited = 2,
							      .type = { .base_size = 32,
									.parent = parent,
									.series = &series,
									.series_count = 1 } });
	list_type = make_type("System.Collections.Generic", "List<System.Object>", list, 0);
	next_type = make_type("System.Threading.Tasks",
			      "SynchronizationContextAwaitTaskContinuation", next, 0);
	box_type = fake_nameless_box_type(&tasks, "Shop+<Place>d__1",
					  "B+AsyncStateMachineBox<Shop+<Place>d__1>");
}

static void tear_down(void)
{
	async_graph_deinit(&graph);
	members_destroy(members);
	members = NULL;
	fake_tasks_destroy(&tasks);
}

static void make_graph(void)
{
	fake_types_attach(tasks.types);
	struct heap *heap = fake_heap(tasks.fake);
	ASSERT_UINT(members_create(heap, &members, NULL), HD_OK);
	ASSERT_UINT(async_graph_create(heap, members, false, NULL, &graph, NULL), HD_OK);
}

static const struct async_node *node_at(uint64_t address)
{
	uint32_t row = async_graph_find(&graph, address);
	CU_ASSERT_FATAL(row != ASYNC_NO_NODE);
	return &graph.rows[row];
}

static uint64_t make_task(uint64_t next)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	fake_poke_u64(&tasks.fake->memory, task + FAKE_TASK_NEXT, next);
	return task;
}

/* A method that refers to @p awaited; what it is at the moment is not known. */
static uint64_t make_box(uint64_t awaited)
{
	return fake_box(&tasks, box_type, 7, awaited);
}

static void check_awaited(uint64_t box, uint64_t task)
{
	const struct async_node *node = node_at(box);
	ASSERT_UINT(node->wait, AWAIT_SOURCE);
	ASSERT_UINT(node->object, task);
	CU_ASSERT_EQUAL(node->state, ASYNC_UNKNOWN);
	ASSERT_UINT(graph.unseen, 0);
}

TEST(a_method_awaits_the_task_after_which_it_goes_on)
{
	uint64_t task = make_task(0), box = make_box(task);
	fake_poke_u64(&tasks.fake->memory, task + FAKE_TASK_NEXT, box);
	make_graph();
	check_awaited(box, task);
	ASSERT_TEXT(async_node_name(&graph, node_at(box)), "Shop.Place");
}

TEST(a_method_awaits_another_one)
{
	uint64_t task = make_task(0), inner = make_box(task), outer = make_box(inner);
	fake_poke_u64(&tasks.fake->memory, task + FAKE_TASK_NEXT, inner);
	fake_poke_u64(&tasks.fake->memory, inner + FAKE_TASK_NEXT, outer);
	make_graph();
	ASSERT_UINT(node_at(outer)->next, async_graph_find(&graph, inner));
	ASSERT_UINT(node_at(outer)->depth, 2);
	check_awaited(inner, task);
}

TEST(a_task_that_it_only_has_is_not_what_it_awaits)
{
	uint64_t other = make_box(0), kept = make_task(other), box = make_box(kept);
	make_graph();
	ASSERT_UINT(node_at(other)->object, kept);
	ASSERT_UINT(node_at(box)->wait, AWAIT_UNKNOWN);
	ASSERT_TEXT(async_wait_name(node_at(box)->wait), "not known");
	ASSERT_UINT(graph.unseen, 1);
}

TEST(a_continuation_has_a_delegate_of_the_method)
{
	uint64_t action = fake_one(&tasks, action_type, 0);
	uint64_t task = make_task(fake_one(&tasks, next_type, action)), box = make_box(task);
	fake_poke_u64(&tasks.fake->memory, action + REFERENCE, box);
	make_graph();
	check_awaited(box, task);
}

TEST(several_methods_await_one_task)
{
	uint64_t array = fake_object(tasks.fake, tasks.fake->object_array_type, 3);
	uint64_t list = fake_one(&tasks, list_type, array), task = make_task(list);
	uint64_t first = make_box(task), second = make_box(task), third = make_box(task);
	fake_poke_u32(&tasks.fake->memory, list + 16, 2);
	fake_poke_u64(&tasks.fake->memory, array + 16, first);
	fake_poke_u64(&tasks.fake->memory, array + 24, second);
	fake_poke_u64(&tasks.fake->memory, array + 32, third); /* taken out again */
	make_graph();
	ASSERT_UINT(node_at(first)->object, task);
	ASSERT_UINT(node_at(second)->object, task);
	ASSERT_UINT(node_at(third)->wait, AWAIT_UNKNOWN);
	ASSERT_UINT(graph.unseen, 1);
}

TEST(a_source_of_value_tasks_refers_to_the_method)
{
	uint64_t source = fake_one(&tasks, tasks.owner_type, 0), box = make_box(source);
	fake_refer(&tasks, source, REFERENCE, box);
	fake_implement_source(&tasks, tasks.owner_type, "IValueTaskSource");
	make_graph();
	ASSERT_UINT(node_at(box)->wait, AWAIT_SOURCE_OF_VALUE);
	ASSERT_UINT(node_at(box)->object, source);
}

TEST(an_object_that_has_the_task_of_the_method_is_no_source)
{
	uint64_t owner = fake_one(&tasks, tasks.owner_type, 0), box = make_box(owner);
	fake_refer(&tasks, owner, REFERENCE, box);
	make_graph();
	ASSERT_UINT(node_at(box)->wait, AWAIT_UNKNOWN);
}

TEST(a_list_that_is_damaged_tells_nothing)
{
	uint64_t list = fake_one(&tasks, list_type, 0x1230), task = make_task(list);
	uint64_t box = make_box(task);
	fake_poke_u32(&tasks.fake->memory, list + 16, UINT32_MAX);
	make_graph();
	ASSERT_UINT(node_at(box)->wait, AWAIT_UNKNOWN);
}

SUITE(.name = "async_awaited", .set_up = set_up, .tear_down = tear_down)
