/* SPDX-License-Identifier: MIT */
#include "support/fake_tasks.h"

#include "runtime/coreclr/types/field.h"
#include "support/suite.h"

#define STRUCT_FLAGS 0x00040000u
/* The m_stateFlags of a task that is not done, as a core of .NET 10 has them. */
#define SUSPENDED 0x02000c00u

/* A class whose fields, but for the numbers in front of them, are references. */
static uint64_t make_holder(struct fake_tasks *tasks, const char *space, const char *name,
			    const struct fake_field *fields, uint64_t count)
{
	/* All have numbers in their first eight bytes, if any. */
	uint64_t first = fields[0].element == ELEMENT_CLASS ? 0 : 8;
	uint64_t base_size = 16 + first + 8 * count;
	const struct gc_series series = { .size = (int64_t)(8 * count) - (int64_t)base_size,
					  .offset = 8 + first };
	return fake_class(tasks->types,
			  &(struct fake_class){ .space = space,
						.name = name,
						.fields = fields,
						.type = { .base_size = (uint32_t)base_size,
							  .series = &series,
							  .series_count = 1 } });
}

/* @p state, awaiter: names of fields, as the compiler of a language gives them. */
static uint64_t make_box_type(struct fake_tasks *tasks, const char *machine_name,
			      const char *box_name, const char *state, const char *awaiter)
{
	const struct fake_field machine[] = {
		{ .name = state, .element = ELEMENT_I4 },
		{ .name = awaiter, .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "<>4__this", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "taken", .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = NULL }
	};
	uint64_t machine_type = fake_class(
		tasks->types,
		&(struct fake_class){ .name = machine_name,
				      .fields = machine,
				      .type = { .base_size = 48, .flags = STRUCT_FLAGS } });
	const struct fake_field box[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "StateMachine",
		  .element = ELEMENT_VALUE,
		  .type = machine_type,
		  .offset = 16 },
		{ .name = NULL }
	};
	const struct gc_series series = { .size = 24 - 64, .offset = 32 };
	return fake_class(tasks->types, &(struct fake_class){ .name = box_name,
							      .fields = box,
							      .type = { .base_size = 64,
									.series = &series,
									.series_count = 1 } });
}

uint64_t fake_box_type(struct fake_tasks *tasks, const char *machine_name, const char *box_name)
{
	return make_box_type(tasks, machine_name, box_name, "<>1__state", "<>u__1");
}

uint64_t fake_fsharp_box_type(struct fake_tasks *tasks, const char *machine_name,
			      const char *box_name)
{
	return make_box_type(tasks, machine_name, box_name, "ResumptionPoint", "awaiter0");
}

uint64_t fake_nameless_box_type(struct fake_tasks *tasks, const char *machine_name,
				const char *box_name)
{
	return make_box_type(tasks, machine_name, box_name, "field at 0", "field at 8");
}

/* Continuation and what derives from it: two heads, and the shapes that the JIT makes. */
static void make_suspended_types(struct fake_tasks *tasks)
{
	static const char space[] = "System.Runtime.CompilerServices";
	static const struct fake_field base[] = {
		{ .name = "Next", .element = ELEMENT_CLASS },
		{ .name = "ResumeInfo", .element = ELEMENT_POINTER, .offset = 8 },
		{ .name = "Flags", .element = ELEMENT_I4, .offset = 16 },
		{ .name = "State", .element = ELEMENT_I4, .offset = 20 },
		{ .name = NULL }
	};
	static const struct fake_field heads[][3] = {
		{ { .name = "Task", .element = ELEMENT_CLASS, .offset = 24 },
		  { .name = "ContinuationContext", .element = ELEMENT_CLASS, .offset = 40 },
		  { .name = NULL } },
		{ { .name = "Source", .element = ELEMENT_CLASS, .offset = 24 }, { .name = NULL } },
	};
	static const char *const names[] = { "RuntimeAsyncTaskContinuation",
					     "AsyncHelpers+ValueTaskSourceContinuation" };
	const struct gc_series next = { .size = 8 - 40, .offset = 8 };
	const struct gc_series all[] = { { .size = 8 - 64, .offset = 8 },
					 { .size = 24 - 64, .offset = 32 } };
	uint64_t types[2],
		parent = fake_class(
			tasks->types,
			&(struct fake_class){
				.space = space,
				.name = "Continuation",
				.fields = base,
				.type = { .base_size = 40, .series = &next, .series_count = 1 } });
	for (size_t i = 0; i < 2; i++) {
		const struct fake_class head = { .space = space,
						 .name = names[i],
						 .fields = heads[i],
						 .inherited = 4,
						 .type = { .base_size = 64,
							   .parent = parent,
							   .series = all,
							   .series_count = 2 } };
		types[i] = fake_class(tasks->types, &head);
	}
	tasks->task_head_type = types[0];
	tasks->source_head_type = types[1];
	uint64_t first = fake_continuation_type(tasks->fake, parent, 0, 40);
	tasks->suspended_type = fake_continuation_type(tasks->fake, parent, first, 72);
}

static struct fake_tasks create_tasks(unsigned int release)
{
	const struct fake_field task[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "m_action", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "_timer", .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = "m_stateObject", .element = ELEMENT_CLASS, .offset = 32 },
		{ .name = NULL }
	};
	const struct fake_field semaphore[] = {
		{ .name = "m_currentCount", .element = ELEMENT_I4 },
		{ .name = "m_maxCount", .element = ELEMENT_I4, .offset = 4 },
		{ .name = "m_asyncHead", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field node[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "Next", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field source[] = { { .name = "_task", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	const struct fake_field owner[] = { { .name = "gate", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	const struct fake_field call[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "m_action", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "m_stateObject", .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = NULL }
	};
	struct fake_tasks tasks = { .fake = fake_clr_create(
					    &(struct fake_options){ .release = release }) };
	tasks.types = fake_types_create(tasks.fake);
	tasks.task_type = make_holder(&tasks, "System.Threading.Tasks", "Task", task, 4);
	tasks.delay_type =
		make_holder(&tasks, "System.Threading.Tasks", "Task+DelayPromise", task, 4);
	tasks.semaphore_type =
		make_holder(&tasks, "System.Threading", "SemaphoreSlim", semaphore, 1);
	tasks.node_type =
		make_holder(&tasks, "System.Threading", "SemaphoreSlim+TaskNode", node, 1);
	tasks.source_type =
		make_holder(&tasks, "System.Threading.Tasks", "TaskCompletionSource", source, 1);
	tasks.owner_type = make_holder(&tasks, "Shop", "Gate", owner, 1);
	if (release >= 11) {
		tasks.call_type =
			make_holder(&tasks, "System.Runtime.CompilerServices",
				    "AsyncHelpers+RuntimeAsyncTask<System.Int32>", call, 3);
		make_suspended_types(&tasks);
	}
	(void)fake_segment(tasks.fake, 0, GENERATION_0, 0x400000);
	return tasks;
}

struct fake_tasks fake_tasks_create(void)
{
	return create_tasks(10);
}

struct fake_tasks fake_tasks_create_11(void)
{
	return create_tasks(11);
}

void fake_tasks_destroy(struct fake_tasks *tasks)
{
	fake_types_destroy(tasks->types);
	fake_clr_destroy(tasks->fake);
}

uint64_t fake_task(struct fake_tasks *tasks, uint64_t type)
{
	uint64_t task = fake_object(tasks->fake, type, 0);
	fake_poke_u32(&tasks->fake->memory, task + 8, SUSPENDED);
	return task;
}

uint64_t fake_box(struct fake_tasks *tasks, uint64_t type, uint32_t state, uint64_t awaited)
{
	uint64_t box = fake_task(tasks, type);
	fake_poke_u32(&tasks->fake->memory, box + 24, state);
	fake_poke_u64(&tasks->fake->memory, box + 32, awaited);
	return box;
}

uint64_t fake_one(struct fake_tasks *tasks, uint64_t type, uint64_t value)
{
	uint64_t object = fake_object(tasks->fake, type, 0);
	fake_poke_u64(&tasks->fake->memory, object + 8, value);
	return object;
}

uint64_t fake_class_of(struct fake_tasks *tasks, const char *space, const char *name,
		       const struct fake_field *fields, uint64_t references)
{
	uint64_t base_size = 16 + 8 * references + 8;
	const struct gc_series series = { .size = (int64_t)(8 * references) - (int64_t)base_size,
					  .offset = 8 };
	return fake_class(tasks->types,
			  &(struct fake_class){ .space = space,
						.name = name,
						.fields = fields,
						.type = { .base_size = (uint32_t)base_size,
							  .series = &series,
							  .series_count = 1 } });
}

void fake_refer(struct fake_tasks *tasks, uint64_t object, uint64_t offset, uint64_t to)
{
	fake_poke_u64(&tasks->fake->memory, object + offset, to);
}

uint64_t fake_follow(struct fake_tasks *tasks, uint64_t object, uint64_t offset)
{
	uint64_t to = 0;
	CU_ASSERT_FATAL(memory_u64(&tasks->fake->memory.memory, object + offset, &to));
	return to;
}

uint64_t fake_semaphore(struct fake_tasks *tasks, uint32_t highest)
{
	uint64_t semaphore = fake_object(tasks->fake, tasks->semaphore_type, 0);
	fake_poke_u32(&tasks->fake->memory, semaphore + 12, highest);
	return semaphore;
}

uint64_t fake_semaphore_wait(struct fake_tasks *tasks, uint64_t semaphore)
{
	uint64_t node = fake_task(tasks, tasks->node_type), next = 0;
	CU_ASSERT(memory_u64(&tasks->fake->memory.memory, semaphore + 16, &next));
	fake_poke_u64(&tasks->fake->memory, node + 16, next);
	fake_poke_u64(&tasks->fake->memory, semaphore + 16, node);
	return node;
}

uint64_t fake_suspended(struct fake_tasks *tasks, uint64_t await, uint32_t state, uint64_t next)
{
	struct fake_memory *memory = &tasks->fake->memory;
	uint64_t method = fake_object(tasks->fake, tasks->suspended_type, 0);
	fake_poke_u64(memory, method + FAKE_SUSPENDED_NEXT, next);
	fake_poke_u64(memory, method + 16, await);
	fake_poke_u32(memory, method + FAKE_SUSPENDED_STATE, state);
	return method;
}

uint64_t fake_call_of(struct fake_tasks *tasks, uint64_t head_type, uint64_t awaited,
		      uint64_t first)
{
	struct fake_memory *memory = &tasks->fake->memory;
	uint64_t call = fake_task(tasks, tasks->call_type);
	uint64_t head = fake_object(tasks->fake, head_type, 0);
	fake_poke_u64(memory, head + FAKE_SUSPENDED_NEXT, first);
	fake_poke_u64(memory, head + 32, awaited);
	fake_poke_u64(memory, head + 40, call);
	fake_poke_u64(memory, call + FAKE_CALL_HEAD, head);
	return call;
}

void fake_implement_source(struct fake_tasks *tasks, uint64_t type, const char *interface)
{
	struct fake_memory *memory = &tasks->fake->memory;
	const struct fake_class class = { .space = "System.Threading.Tasks.Sources",
					  .name = interface,
					  .type = { .base_size = 24 } };
	const uint16_t count = 1;
	uint64_t map = fake_alloc(memory, 8);
	fake_poke_u64(memory, map, fake_class(tasks->types, &class));
	fake_poke_u64(memory, fake_at(tasks->fake, type, L_MT_INTERFACES), map);
	fake_poke(memory, fake_at(tasks->fake, type, L_MT_NUM_INTERFACES), &count, sizeof(count));
}
