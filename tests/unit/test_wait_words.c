/* SPDX-License-Identifier: MIT */
/* Threads whose monitor only the words of their native frames tell. */
#include "arch/x86_64/register_table.h"
#include "hangs/wait_parts.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

#define THREADS 3u

/* SyncBlock: the lock's state with one that waits, and the OS id of who has it (doc/coreclr.md 7.4). */
#define LOCK_STATE  0u
#define LOCK_OS_ID  16u
#define ONE_WAITS   (1u << 6 | 1)
#define MANAGED_SP  0x7e0000001000u
#define THREAD_HAS  0u
#define THREAD_WAIT 2u

static struct fake_clr *fake;
static uint64_t enter, other, initializer, object, type;
static struct thread_wait rows[THREADS];
static uint32_t by_thread[THREADS];
static struct stack_frame frames[THREADS];
static struct waits waits;

static void set_up(void)
{
	struct metadata_maker maker;
	fake = fake_clr_create(NULL);
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	uint32_t token = maker_type(&maker, "System.Threading", "Monitor");
	uint32_t rid = maker_method(&maker, "ReliableEnter");
	enter = fake_method_desc(
		fake, fake_type(fake, &(struct fake_type){ .base_size = 24, .token = token }), rid);
	token = maker_type(&maker, "Shop", "Native");
	rid = maker_method(&maker, "Read");
	uint32_t second = maker_method(&maker, ".cctor");
	type = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = token });
	other = fake_method_desc(fake, type, rid);
	initializer = fake_method_desc(fake, type, second);
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	object = fake_object(fake, fake->object_type, 0);
	for (unsigned int i = 0; i < THREADS; i++)
		(void)fake_thread(fake);
}

/* All threads are in native code, with the object in a register; the first one has its monitor. */
static void make_waits(void)
{
	uint64_t block = 0;
	uint32_t index = fake_sync_block(fake, object);
	CU_ASSERT(memory_u64(&fake->memory.memory, fake->sync_table + 16ull * index, &block));
	fake_poke_u32(&fake->memory, block + LOCK_STATE, ONE_WAITS);
	fake_poke_u64(&fake->memory, block + LOCK_OS_ID, fake->threads[THREAD_HAS].os_id);
	struct heap *heap = fake_heap(fake);
	struct target_thread *threads = mem_calloc(THREADS, sizeof(*threads));
	uint32_t *order = mem_calloc(THREADS, sizeof(*order));
	CU_ASSERT_FATAL(threads && order);
	waits = (struct waits){
		.heap = heap, .rows = rows, .count = THREADS, .by_thread = by_thread
	};
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].tid = (int32_t)fake->threads[i].os_id;
		threads[i].registers[REGISTER_RSP] = MANAGED_SP;
		threads[i].registers[REGISTER_RBX] = object;
		frames[i] = (struct stack_frame){ .kind = STACK_MANAGED,
						  .sp = MANAGED_SP,
						  .method_desc = other };
		rows[i] = (struct thread_wait){
			.thread = runtime_thread_at(heap->runtime, i),
			.kind = WAIT_CALL,
			.stack = { .frames = &frames[i], .frames_count = 1, .managed_count = 1 },
		};
		by_thread[i] = order[i] = i;
	}
	/* Threads of a fake runtime are not sorted. */
	heap->runtime->threads.os_order = order;
	fake->target.threads.rows = threads;
	fake->target.threads.count = THREADS;
	ASSERT_UINT_FATAL(members_create(heap, &waits.members, NULL), HD_OK);
	ASSERT_UINT_FATAL(monitors_read(heap->runtime, waits.members, NULL, &waits.monitors, NULL),
			  HD_OK);
	CU_ASSERT_PTR_EQUAL(waits.monitors.rows[0].block.owner, rows[0].thread);
}

static void tear_down(void)
{
	monitors_deinit(&waits.monitors);
	members_destroy(waits.members);
	fake_clr_destroy(fake);
}

TEST(who_enters_a_monitor_is_told_by_its_words)
{
	make_waits();
	/* In .NET 8, a helper of the runtime may have a method or none. */
	rows[1].call = rows[THREAD_WAIT].call = other;
	for (unsigned int i = 0; i < 2; i++) {
		struct thread_wait *wait = &rows[THREAD_WAIT];
		wait->kind = WAIT_CALL;
		wait->call = i ? enter : 0;
		wait->entered = NULL;
		wait->stored_owner = NULL;
		waits.monitors.rows[0].found = 0;
		waits.not_matched = 0;
		ASSERT_UINT_FATAL(wait_find_by_words(&waits, NULL, NULL), HD_OK);
		ASSERT_UINT(wait->kind, WAIT_MONITOR);
		CU_ASSERT_PTR_EQUAL(wait->entered, &waits.monitors.rows[0]);
		CU_ASSERT_PTR_EQUAL(wait->stored_owner, rows[THREAD_HAS].thread);
		ASSERT_UINT(waits.not_matched, 0);
	}
}

TEST(who_is_in_another_function_does_not_enter_a_monitor)
{
	make_waits();
	rows[1].call = rows[THREAD_WAIT].call = other;
	ASSERT_UINT_FATAL(wait_find_by_words(&waits, NULL, NULL), HD_OK);
	for (unsigned int i = 0; i < THREADS; i++)
		ASSERT_UINT(rows[i].kind, WAIT_CALL);
	ASSERT_UINT(waits.not_matched, 1);
}

/* The last thread has the type in a register, which the first one initialises. */
static struct thread_wait *make_initializer(const char *frame, uint64_t call)
{
	struct thread_wait *wait = &rows[THREAD_WAIT];
	static struct stack_frame own[2];
	frames[THREAD_HAS].method_desc = initializer;
	fake->target.threads.rows[THREAD_WAIT].registers[REGISTER_RBX] = type;
	own[0] = (struct stack_frame){ .kind = STACK_EXPLICIT, .name = frame, .method_desc = call };
	own[1] = frames[THREAD_WAIT];
	wait->stack.frames = own;
	wait->stack.frames_count = 2;
	wait->call = call;
	return wait;
}

TEST(who_waits_for_an_initializer_is_told_by_its_words)
{
	make_waits();
	/* In the call of a method, before which the type is initialised; and in a helper of the JIT. */
	for (unsigned int i = 0; i < 2; i++) {
		const struct thread_wait *wait = make_initializer(
			i ? "HelperMethodFrame" : "PrestubMethodFrame", i ? 0 : other);
		rows[THREAD_WAIT].kind = WAIT_CALL;
		rows[THREAD_WAIT].stored_owner = NULL;
		ASSERT_UINT_FATAL(wait_find_by_words(&waits, NULL, NULL), HD_OK);
		ASSERT_UINT(wait->kind, WAIT_INITIALIZER);
		CU_ASSERT_PTR_EQUAL(wait->stored_owner, rows[THREAD_HAS].thread);
		ASSERT_UINT(wait->initializer->method_table, type);
	}
}

TEST(who_is_in_a_function_of_the_program_waits_for_no_initializer)
{
	make_waits();
	const struct thread_wait *wait = make_initializer("InlinedCallFrame", other);
	ASSERT_UINT_FATAL(wait_find_by_words(&waits, NULL, NULL), HD_OK);
	ASSERT_UINT(wait->kind, WAIT_CALL);
	CU_ASSERT_PTR_NULL(wait->stored_owner);
}

SUITE(.name = "wait_words", .set_up = set_up, .tear_down = tear_down)
