/* SPDX-License-Identifier: MIT */
/* Threads that were woken, and have not run since. */
#include "arch/x86_64/frame_registers.h"
#include "hangs/verdicts.h"
#include "hangs/wait_parts.h"
#include "runtime/thread_state.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

#define COMPLETE     0x01000000u /* Task: TASK_STATE_RAN_TO_COMPLETION */
#define EVENT_SET    0x80000000u /* ManualResetEventSlim: SignalledState_BitMask */
#define FIRST_NUMBER 8u

static struct fake_tasks tasks;
static uint64_t event_type, countdown_type;
static struct waits *waits;

/* A class with one number. */
static uint64_t make_type(const char *name, const char *field)
{
	const struct fake_field fields[] = { { .name = field, .element = ELEMENT_I4 },
					     { .name = NULL } };
	return fake_class(tasks.types, &(struct fake_class){ .space = "System.Threading",
							     .name = name,
							     .fields = fields,
							     .type = { .base_size = 24 } });
}

static void set_up(void)
{
	tasks = fake_tasks_create();
	event_type = make_type("ManualResetEventSlim", "m_combinedState");
	countdown_type = make_type("CountdownEvent", "_currentCount");
	for (unsigned int i = 0; i < 2; i++)
		(void)fake_thread(tasks.fake);
}

static void tear_down(void)
{
	waits_destroy(waits);
	fake_tasks_destroy(&tasks);
}

static void read_waits(void)
{
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(waits->count, 2);
}

/* Is a wait of that kind for the object over, when its first number is that one? */
static bool is_over(enum wait_kind kind, uint64_t address, uint32_t number)
{
	struct stack_root root = { .value = address };
	struct thread_wait wait = { .kind = kind,
				    .stack = { .roots = &root, .roots_count = 1 },
				    .wait_end = 1 };
	fake_poke_u32(&tasks.fake->memory, address + FIRST_NUMBER, number);
	/* Another time than the last one: nothing of it is remembered. */
	members_destroy(waits->members);
	ASSERT_UINT_FATAL(members_create(waits->heap, &waits->members, NULL), HD_OK);
	CU_ASSERT_FATAL(member_object(waits->members, address, &wait.object));
	bool is_over = wait_is_over(waits, &wait);
	/* Only the method that waits refers to it. */
	root.frame = 1;
	CU_ASSERT_FALSE(wait_is_over(waits, &wait));
	return is_over;
}

TEST(the_thing_itself_tells_that_a_wait_is_over)
{
	uint64_t task = fake_task(&tasks, tasks.task_type), semaphore = fake_semaphore(&tasks, 1);
	uint64_t event = fake_object(tasks.fake, event_type, 0);
	uint64_t countdown = fake_object(tasks.fake, countdown_type, 0);
	read_waits();
	CU_ASSERT_FALSE(is_over(WAIT_TASK, task, 0x02000c00));
	CU_ASSERT_TRUE(is_over(WAIT_TASK, task, COMPLETE));
	CU_ASSERT_FALSE(is_over(WAIT_SEMAPHORE, semaphore, 0));
	CU_ASSERT_TRUE(is_over(WAIT_SEMAPHORE, semaphore, 1));
	CU_ASSERT_FALSE(is_over(WAIT_EVENT, event, 1));
	CU_ASSERT_TRUE(is_over(WAIT_EVENT, event, EVENT_SET | 1));
	CU_ASSERT_FALSE(is_over(WAIT_COUNTDOWN, countdown, 1));
	CU_ASSERT_TRUE(is_over(WAIT_COUNTDOWN, countdown, 0));
	/* Another kind of wait, and objects that have no such field. */
	CU_ASSERT_FALSE(is_over(WAIT_BARRIER, countdown, 0));
	CU_ASSERT_FALSE(is_over(WAIT_COUNTDOWN, event, 0));
	CU_ASSERT_FALSE(is_over(WAIT_READ, event, 0));
	CU_ASSERT_FALSE(wait_is_over(waits, &(struct thread_wait){ .kind = WAIT_TASK }));
}

TEST(a_monitor_that_nobody_holds_can_be_entered)
{
	struct monitor monitor = { .block = { .is_held = true } };
	struct thread_wait wait = { .kind = WAIT_MONITOR, .entered = &monitor };
	read_waits();
	CU_ASSERT_FALSE(wait_is_over(waits, &wait));
	monitor.block.is_held = false;
	CU_ASSERT_TRUE(wait_is_over(waits, &wait));
	wait.entered = NULL;
	CU_ASSERT_FALSE(wait_is_over(waits, &wait));
}

TEST(who_can_go_on_waits_for_nobody)
{
	read_waits();
	for (unsigned int over = 0; over < 2; over++) {
		waits->rows[0].kind = WAIT_JOIN;
		waits->rows[0].stored_owner = waits->rows[1].thread;
		waits->rows[0].is_over = over;
		mem_free(waits->edges);
		waits->edges = NULL;
		ASSERT_UINT_FATAL(wait_find_edges(waits, NULL, NULL), HD_OK);
		ASSERT_UINT(waits->edges[0].to, over ? WAIT_NOBODY : 1);
	}
}

TEST(a_worker_that_can_go_on_is_not_blocked)
{
	static const struct runtime_thread worker = { .state = THREAD_STATE_POOL_WORKER };
	struct stack_frame frame = { .kind = STACK_MANAGED, .method_desc = 0x1000 };
	struct thread_wait rows[2];
	const struct waits some = { .rows = rows, .count = 2 };
	for (size_t i = 0; i < 2; i++) {
		rows[i] = (struct thread_wait){ .thread = &worker,
						.kind = WAIT_TASK,
						.stack = { .frames = &frame, .frames_count = 1 },
						.wait_end = WAIT_NO_FRAME };
	}
	read_waits();
	ASSERT_UINT(workers_alike(&some, &rows[0]), 2);
	rows[1].is_over = true;
	ASSERT_UINT(workers_alike(&some, &rows[0]), 1);
}

/* A futex without a limit of time; when a collection is about to begin, whose time is up waits in one, too. */
TEST(who_waits_for_a_collection_does_not_sleep_without_end)
{
	static const uint8_t system_call[] = { 0x0f, 0x05 };
	struct fake_memory *memory = &tasks.fake->memory;
	uint64_t code = fake_alloc(memory, 16), futex = fake_alloc(memory, 16);
	fake_poke(memory, code, system_call, sizeof(system_call));
	read_waits();
	struct runtime_thread thread = *waits->rows[0].thread;
	thread.os_id = 77;
	struct target_thread row = { .tid = 77 };
	const uint8_t *words = arch_x86_64.words_of_registers;
	row.registers[words[REG_RIP]] = row.registers[words[REG_RCX]] = code + 2;
	row.registers[words[REG_RDI]] = futex;
	row.registers[words[REG_RSI]] = 0x80;
	struct target *target = runtime_target(waits->heap->runtime);
	const struct target_threads before = target->threads;
	target->threads = (struct target_threads){ .rows = &row, .count = 1 };
	struct thread_wait wait = { .kind = WAIT_SLEEP, .thread = &thread };
	CU_ASSERT_TRUE(wait_sleeps_without_end(waits, &wait));
	thread.state |= THREAD_STATE_SUSPEND_PENDING;
	CU_ASSERT_FALSE(wait_sleeps_without_end(waits, &wait));
	target->threads = before;
}

SUITE(.name = "wait_over", .set_up = set_up, .tear_down = tear_down)
