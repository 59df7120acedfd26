/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_types.h"

/*
 * Async methods, tasks and semaphores on a fake heap, with the fields of the framework that tell who
 * waits for what.
 *
 *	struct fake_tasks tasks = fake_tasks_create();
 *	uint64_t type = fake_box_type(&tasks, "Shop+<Enter>d__1", "B+AsyncStateMachineBox<Shop+<Enter>d__1>");
 *	uint64_t gate = fake_semaphore(&tasks, 1);
 *	(void)fake_box(&tasks, type, 0, fake_semaphore_wait(&tasks, gate));
 *	... fake_types_attach(tasks.types), fake_heap(tasks.fake) ...
 *	fake_tasks_destroy(&tasks);
 */
struct fake_tasks {
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t task_type, delay_type;     /**< Task; Task+DelayPromise */
	uint64_t semaphore_type, node_type; /**< SemaphoreSlim, and SemaphoreSlim+TaskNode */
	uint64_t source_type, owner_type;   /**< of one reference, at +8: _task; Shop.Gate.gate */
	/* of .NET 11: RuntimeAsyncTask, the two heads of calls, and a shape of what methods save */
	uint64_t call_type, task_head_type, source_head_type, suspended_type;
};

/** With a segment of generation 0. */
struct fake_tasks fake_tasks_create(void);
/** The same on .NET 11. */
struct fake_tasks fake_tasks_create_11(void);
void fake_tasks_destroy(struct fake_tasks *tasks);

/** The box of an async method. */
uint64_t fake_box_type(struct fake_tasks *tasks, const char *machine_name, const char *box_name);
/** The same of a task { } of F#. */
uint64_t fake_fsharp_box_type(struct fake_tasks *tasks, const char *machine_name,
			      const char *box_name);

/** The same where the fields of the state machine have no names, as in a program with NativeAOT. */
uint64_t fake_nameless_box_type(struct fake_tasks *tasks, const char *machine_name,
				const char *box_name);

/* Where a box has references of its own. */
#define FAKE_BOX_THIS  40u
#define FAKE_BOX_LOCAL 48u

/** A suspended method of @p type, at the await with the number @p state. */
uint64_t fake_box(struct fake_tasks *tasks, uint64_t type, uint32_t state, uint64_t awaited);

/** A task of @p type that is not done. */
uint64_t fake_task(struct fake_tasks *tasks, uint64_t type);

/** Where a task, and a box, has what goes on after it; Task.Delay its timer; and a task its state. */
#define FAKE_TASK_NEXT  16u
#define FAKE_TASK_TIMER 32u
#define FAKE_TASK_STATE 40u

/** An object of @p type with one reference at +8. */
uint64_t fake_one(struct fake_tasks *tasks, uint64_t type, uint64_t value);

/** A class whose first @p references fields are references, and then numbers. */
uint64_t fake_class_of(struct fake_tasks *tasks, const char *space, const char *name,
		       const struct fake_field *fields, uint64_t references);
/** Its fields; offsets are without the MethodTable. */
#define FAKE_REFERENCE(field_name, at)                                     \
	{                                                                  \
		.name = field_name, .element = ELEMENT_CLASS, .offset = at \
	}
#define FAKE_NUMBER(field_name, at)                                     \
	{                                                               \
		.name = field_name, .element = ELEMENT_I4, .offset = at \
	}
#define FAKE_FLAG(field_name, at)                                            \
	{                                                                    \
		.name = field_name, .element = ELEMENT_BOOLEAN, .offset = at \
	}
#define FAKE_END             \
	{                    \
		.name = NULL \
	}

/** Set, and get, the reference at an offset of an object. */
void fake_refer(struct fake_tasks *tasks, uint64_t object, uint64_t offset, uint64_t to);
uint64_t fake_follow(struct fake_tasks *tasks, uint64_t object, uint64_t offset);

/** A semaphore that is not free; @p highest is its highest count. */
uint64_t fake_semaphore(struct fake_tasks *tasks, uint32_t highest);
/** "new SemaphoreSlim(1)": no highest count. */
#define FAKE_NO_LIMIT 0x7fffffffu
/** Where it has the count of those that can still enter. */
#define FAKE_SEMAPHORE_FREE 8u
/** Let objects of @p type be sources of ValueTasks: "IValueTaskSource", "IValueTaskSource<System.Int32>". */
void fake_implement_source(struct fake_tasks *tasks, uint64_t type, const char *interface);
/**
 * Make the task that an async method awaits that waits for the semaphore: a new one in its list.
 */
uint64_t fake_semaphore_wait(struct fake_tasks *tasks, uint64_t semaphore);

/*
 * Async methods that .NET 11 suspends itself: the task of a call leads to a head, and that to the innermost
 * method.
 */
#define FAKE_CALL_HEAD       32u /**< where the task of a call has its head */
#define FAKE_CALL_ACTION     24u /**< and its action */
#define FAKE_SUSPENDED_NEXT  8u
#define FAKE_SUSPENDED_FLAGS 24u
#define FAKE_SUSPENDED_STATE 28u
#define FAKE_SUSPENDED_SAVED 32u /**< two references, a word, a reference */
#define FAKE_HEAD_CONTEXT    48u

/**
 * A suspended method.
 *
 * @param await Tells methods apart: the address of what the compiler says of the await.
 * @param next The method that awaits it, or 0.
 */
uint64_t fake_suspended(struct fake_tasks *tasks, uint64_t await, uint32_t state, uint64_t next);
/** The task of a call whose innermost method is @p first and awaits @p awaited, of @p head_type. */
uint64_t fake_call_of(struct fake_tasks *tasks, uint64_t head_type, uint64_t awaited,
		      uint64_t first);
