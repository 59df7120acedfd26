/* SPDX-License-Identifier: MIT */
/* Async methods that want to go on in a context, and the thread that runs it. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_contexts.h"
#include "hangs/wait_tasks.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define THREADS 3u
/* Any place of the native Thread may have the handle. */
#define THREAD_HANDLE 304u

/* Offsets of fields in objects: Thread; the continuation (TaskContinuation.cs); Delegate; List<object>. */
#define THREAD_CONTEXT  8u
#define THREAD_NATIVE   16u
#define NEXT_ACTION     8u
#define NEXT_CONTEXT    16u
#define DELEGATE_TARGET 8u
#define LIST_ITEMS      8u

static struct fake_tasks tasks;
static uint64_t box_type, context_type, any_context_type, thread_type, action_type, next_type,
	list_type;
static uint64_t thread_objects[THREADS];
static struct waits waits;
static struct thread_wait rows[THREADS];
static struct async_graph graph;
static struct wait_contexts contexts;

/* A class of so many references. */
static uint64_t make_type(const char *space, const char *name, const struct fake_field *fields,
			  uint64_t parent)
{
	uint32_t count = 0;
	while (fields[count].name)
		count++;
	const struct gc_series series = { .size = -16, .offset = 8 };
	return fake_class(tasks.types, &(struct fake_class){ .space = space,
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = 16 + 8 * count,
								       .parent = parent,
								       .series = &series,
								       .series_count = 1 } });
}

static void make_types(void)
{
	const struct fake_field one[] = { { .name = "queue", .element = ELEMENT_CLASS },
					  { .name = NULL } };
	const struct fake_field thread[] = {
		{ .name = "_synchronizationContext", .element = ELEMENT_CLASS },
		{ .name = "_DONT_USE_InternalThread", .element = ELEMENT_I, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field next[] = {
		{ .name = "m_action", .element = ELEMENT_CLASS },
		{ .name = "m_syncContext", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field delegate[] = {
		{ .name = "_target", .element = ELEMENT_CLASS },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field list[] = { { .name = "_items", .element = ELEMENT_CLASS },
					   { .name = NULL } };
	const struct fake_field none[] = { { .name = NULL } };
	context_type = make_type("Shop", "WindowContext", one, 0);
	any_context_type = make_type("System.Threading", "SynchronizationContext", one, 0);
	thread_type = make_type("System.Threading", "Thread", thread, 0);
	next_type = make_type("System.Threading.Tasks",
			      "SynchronizationContextAwaitTaskContinuation", next, 0);
	list_type = make_type("System.Collections.Generic", "List<System.Object>", list, 0);
	uint64_t parent = make_type("System", "Delegate", delegate, 0);
	action_type = fake_class(
		tasks.types, &(struct fake_class){ .space = "System",
						   .name = "Action",
						   .fields = none,
						   .inherited = 2,
						   .type = { .base_size = 32, .parent = parent } });
	box_type =
		fake_box_type(&tasks, "Shop+<Show>d__1", "B+AsyncStateMachineBox<Shop+<Show>d__1>");
}

static void poke(uint64_t address, uint64_t value)
{
	fake_poke_u64(&tasks.fake->memory, address, value);
}

static void set_up(void)
{
	tasks = fake_tasks_create();
	make_types();
	for (unsigned int i = 0; i < THREADS; i++) {
		uint64_t native = fake_thread(tasks.fake)->address;
		uint64_t handle = fake_alloc(&tasks.fake->memory, 8);
		thread_objects[i] = fake_object(tasks.fake, thread_type, 0);
		poke(native + THREAD_HANDLE, handle);
		poke(handle, thread_objects[i]);
		poke(thread_objects[i] + THREAD_NATIVE, native);
	}
}

static void tear_down(void)
{
	wait_contexts_deinit(&contexts);
	async_graph_deinit(&graph);
	members_destroy(waits.members);
	fake_tasks_destroy(&tasks);
}

/* A context that is the current one of the threads whose bits are set. */
static uint64_t make_context(uint64_t type, unsigned int threads, uint64_t queue)
{
	uint64_t context = fake_one(&tasks, type, queue);
	for (unsigned int i = 0; i < THREADS; i++) {
		if (threads >> i & 1)
			poke(thread_objects[i] + THREAD_CONTEXT, context);
	}
	return context;
}

static uint64_t make_action(uint64_t box)
{
	uint64_t action = fake_object(tasks.fake, action_type, 0);
	poke(action + DELEGATE_TARGET, box);
	return action;
}

/* Make the continuation that goes on with @p box in @p context. */
static uint64_t make_next(uint64_t box, uint64_t context)
{
	uint64_t next = fake_object(tasks.fake, next_type, 0);
	poke(next + NEXT_ACTION, make_action(box));
	poke(next + NEXT_CONTEXT, context);
	return next;
}

static void find_contexts(void)
{
	fake_types_attach(tasks.types);
	struct heap *heap = fake_heap(tasks.fake);
	waits = (struct waits){ .heap = heap, .rows = rows, .count = THREADS, .async = &graph };
	ASSERT_UINT_FATAL(members_create(heap, &waits.members, NULL), HD_OK);
	for (uint32_t i = 0; i < THREADS; i++)
		rows[i] = (struct thread_wait){ .thread = runtime_thread_at(heap->runtime, i) };
	ASSERT_UINT_FATAL(async_graph_create(heap, waits.members, false, NULL, &graph, NULL),
			  HD_OK);
	const struct wait_tasks run = { .waits = &waits };
	ASSERT_UINT_FATAL(wait_contexts_find(&run, NULL, &contexts, NULL), HD_OK);
}

/* The thread that the box at @p address needs. */
static uint32_t needed_by(uint64_t address)
{
	uint32_t row = async_graph_find(&graph, address);
	CU_ASSERT_FATAL(row != ASYNC_NO_NODE);
	bool is_scheduler;
	return wait_context_of(&contexts, &waits, &graph.rows[row], &is_scheduler);
}

TEST(what_was_posted_needs_the_thread_of_the_context)
{
	uint64_t posted = fake_box(&tasks, box_type, 0, 0);
	uint64_t other = fake_box(&tasks, box_type, 0, 0);
	(void)make_context(context_type, 1u << 1, make_action(posted));
	find_contexts();
	ASSERT_UINT(needed_by(posted), 1);
	ASSERT_UINT(needed_by(other), WAIT_NOBODY);
}

TEST(what_the_contexts_of_two_threads_lead_to_needs_none_of_them)
{
	uint64_t posted = fake_box(&tasks, box_type, 0, 0), action = make_action(posted);
	uint64_t own = fake_box(&tasks, box_type, 0, 0);
	(void)make_context(context_type, 1u << 0, action);
	(void)make_context(context_type, 1u << 2, action);
	(void)make_context(context_type, 1u << 1, make_action(own));
	find_contexts();
	ASSERT_UINT(needed_by(posted), WAIT_NOBODY);
	ASSERT_UINT(needed_by(own), 1);
}

TEST(what_is_posted_twice_to_one_context_needs_its_thread)
{
	uint64_t posted = fake_box(&tasks, box_type, 0, 0);
	const uint64_t actions[] = { make_action(posted), make_action(posted) };
	uint64_t array = fake_object(tasks.fake, tasks.fake->object_array_type, 2);
	for (unsigned int i = 0; i < 2; i++)
		poke(array + 16 + 8ull * i, actions[i]);
	(void)make_context(context_type, 1u << 2, array);
	find_contexts();
	ASSERT_UINT(needed_by(posted), 2);
}

TEST(a_context_of_several_threads_has_none)
{
	uint64_t posted = fake_box(&tasks, box_type, 0, 0);
	uint64_t task = fake_task(&tasks, tasks.task_type);
	uint64_t box = fake_box(&tasks, box_type, 0, task);
	uint64_t context = make_context(context_type, 1u << 0 | 1u << 2, make_action(posted));
	poke(task + FAKE_TASK_NEXT, make_next(box, context));
	find_contexts();
	ASSERT_UINT(needed_by(posted), WAIT_NOBODY);
	ASSERT_UINT(needed_by(box), WAIT_NOBODY);
}

TEST(the_class_of_the_framework_posts_to_the_pool)
{
	uint64_t posted = fake_box(&tasks, box_type, 0, 0);
	(void)make_context(any_context_type, 1u << 0, make_action(posted));
	find_contexts();
	ASSERT_UINT(needed_by(posted), WAIT_NOBODY);
}

TEST(what_is_awaited_tells_the_context_in_which_it_goes_on)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	uint64_t box = fake_box(&tasks, box_type, 0, task);
	uint64_t other_task = fake_task(&tasks, tasks.task_type);
	uint64_t other = fake_box(&tasks, box_type, 0, other_task);
	uint64_t context = make_context(context_type, 1u << 1, 0);
	poke(task + FAKE_TASK_NEXT, make_next(box, context));
	/* This one belongs to another method. */
	poke(other_task + FAKE_TASK_NEXT, make_next(box, context));
	find_contexts();
	ASSERT_UINT(needed_by(box), 1);
	ASSERT_UINT(needed_by(other), WAIT_NOBODY);
}

TEST(one_of_several_that_go_on_tells_it_too)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	uint64_t box = fake_box(&tasks, box_type, 0, task);
	uint64_t other = fake_box(&tasks, box_type, 0, task);
	uint64_t context = make_context(context_type, 1u << 1, 0);
	uint64_t array = fake_object(tasks.fake, tasks.fake->object_array_type, 3);
	poke(array + 16, other);
	poke(array + 32, make_next(box, context));
	poke(task + FAKE_TASK_NEXT, fake_one(&tasks, list_type, array));
	find_contexts();
	ASSERT_UINT(needed_by(box), 1);
	ASSERT_UINT(needed_by(other), WAIT_NOBODY);
}

TEST(what_is_damaged_needs_nobody)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	uint64_t box = fake_box(&tasks, box_type, 0, task);
	uint64_t cycle = make_context(context_type, 1u << 0, 0);
	poke(cycle + 8, cycle);
	poke(thread_objects[1] + THREAD_CONTEXT, 0x1237);
	poke(task + FAKE_TASK_NEXT, make_next(box, task + 4));
	find_contexts();
	ASSERT_UINT(needed_by(box), WAIT_NOBODY);
}

SUITE(.name = "wait_contexts", .set_up = set_up, .tear_down = tear_down)
