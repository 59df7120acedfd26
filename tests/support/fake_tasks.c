/* SPDX-License-Identifier: MIT */
#include "support/fake_tasks.h"

#include "clr/types/field.h"
#include "support/suite.h"

#define STRUCT_FLAGS 0x00040000u
/* Of a task that is not done: m_stateFlags as a core of .NET 10 has them. */
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

uint64_t fake_box_type(struct fake_tasks *tasks, const char *machine_name, const char *box_name)
{
	const struct fake_field machine[] = {
		{ .name = "<>1__state", .element = ELEMENT_I4 },
		{ .name = "<>u__1", .element = ELEMENT_CLASS, .offset = 8 },
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

struct fake_tasks fake_tasks_create(void)
{
	const struct fake_field task[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "m_action", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = "_timer", .element = ELEMENT_CLASS, .offset = 24 },
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
	struct fake_tasks tasks = { .fake = fake_clr_create(NULL) };
	tasks.types = fake_types_create(tasks.fake);
	tasks.task_type = make_holder(&tasks, "System.Threading.Tasks", "Task", task, 3);
	tasks.delay_type =
		make_holder(&tasks, "System.Threading.Tasks", "Task+DelayPromise", task, 3);
	tasks.semaphore_type =
		make_holder(&tasks, "System.Threading", "SemaphoreSlim", semaphore, 1);
	tasks.node_type =
		make_holder(&tasks, "System.Threading", "SemaphoreSlim+TaskNode", node, 1);
	tasks.source_type =
		make_holder(&tasks, "System.Threading.Tasks", "TaskCompletionSource", source, 1);
	tasks.owner_type = make_holder(&tasks, "Shop", "Gate", owner, 1);
	(void)fake_segment(tasks.fake, 0, GENERATION_0, 0x400000);
	return tasks;
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
