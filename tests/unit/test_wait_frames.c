/* SPDX-License-Identifier: MIT */
/* Reads the methods on a stack: what do they tell about a wait? */
#include "hangs/wait_parts.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

/* Type and method of each frame that a test may use; a method has one type of its own. */
static const char *const names[][3] = {
	{ "System.Threading", "WaitHandle", "WaitOne" },
	{ "System.Threading", "SemaphoreSlim", "WaitAsync" },
	{ "System.Threading", "Monitor", "Enter" },
	{ "System.Threading", "ExecutionContext", "RunInternal" },
	{ "System.Threading.Tasks", "Task<System.Boolean>", "InnerInvoke" },
	{ "System.Threading.Tasks", "Task", "ExecuteWithThreadLocal" },
	{ "System.Threading.Tasks", "Task", "Wait" },
	{ "System.Threading", "SpinLock", "ContinueTryEnter" },
	{ "System", "Lazy<System.Boolean>", "ViaFactory" },
	{ "System", "Lazy<System.Boolean>", "get_Value" },
	{ "Shop", "Order", "Place" },
	{ "InteropTools", "Order", "Place" },
};
enum {
	WAIT_ONE,
	WAIT_ASYNC,
	MONITOR_ENTER,
	RUN_INTERNAL,
	INNER_INVOKE,
	EXECUTE,
	TASK_WAIT,
	SPIN_LOCK,
	VIA_FACTORY,
	GET_VALUE,
	PLACE,
	INTEROP_PLACE,
	METHODS
};

#define FRAMES_MAX 8u

static struct fake_clr *fake;
static uint64_t methods[METHODS];
static struct stack_frame frames[FRAMES_MAX];
static struct runtime_thread thread;

static void set_up(void)
{
	struct metadata_maker maker;
	fake = fake_clr_create(NULL);
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	for (uint32_t i = 0; i < METHODS; i++) {
		uint32_t token = maker_type(&maker, names[i][0], names[i][1]);
		uint32_t rid = maker_method(&maker, names[i][2]);
		uint64_t type =
			fake_type(fake, &(struct fake_type){ .base_size = 24, .token = token });
		methods[i] = fake_method_desc(fake, type, rid);
	}
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
	thread = (struct runtime_thread){ 0 };
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

/* A thread with these frames, innermost first; METHODS ends them. */
static struct thread_wait classify(const unsigned int *stack)
{
	struct heap heap = { .runtime = fake_runtime(fake) };
	struct waits waits = { .heap = &heap };
	struct thread_wait wait = { .thread = &thread, .stack = { .frames = frames } };
	for (; *stack != METHODS; stack++) {
		frames[wait.stack.frames_count++] =
			(struct stack_frame){ .kind = STACK_MANAGED,
					      .method_desc = methods[*stack] };
		wait.stack.managed_count++;
	}
	wait_classify(&waits, &wait);
	return wait;
}

#define CLASSIFY(...) classify((const unsigned int[]){ __VA_ARGS__, METHODS })

TEST(a_task_that_runs_a_wait_of_the_framework_is_not_waited_for)
{
	struct thread_wait wait = CLASSIFY(WAIT_ONE, INNER_INVOKE, RUN_INTERNAL, EXECUTE);
	ASSERT_UINT(wait.kind, WAIT_HANDLE);
	ASSERT_UINT(wait.wait_end, 1);
	wait = CLASSIFY(WAIT_ONE, RUN_INTERNAL, TASK_WAIT);
	ASSERT_UINT(wait.kind, WAIT_HANDLE);
	ASSERT_UINT(wait.wait_end, 1);
	/* The task is run by the thread that waits for it. */
	wait = CLASSIFY(WAIT_ONE, INNER_INVOKE, RUN_INTERNAL, EXECUTE, TASK_WAIT, PLACE);
	ASSERT_UINT(wait.kind, WAIT_HANDLE);
	ASSERT_UINT(wait.user_frame, 5);
}

TEST(a_task_that_runs_code_of_the_framework_does_not_wait)
{
	struct thread_wait wait = CLASSIFY(INNER_INVOKE, RUN_INTERNAL, EXECUTE, TASK_WAIT);
	ASSERT_UINT(wait.kind, WAIT_NONE);
	ASSERT_UINT(wait.wait_end, WAIT_NO_FRAME);
}

TEST(who_makes_the_value_of_a_lazy_does_not_wait_for_it)
{
	struct thread_wait wait = CLASSIFY(WAIT_ONE, VIA_FACTORY, GET_VALUE, PLACE);
	ASSERT_UINT(wait.kind, WAIT_HANDLE);
	wait = CLASSIFY(MONITOR_ENTER, GET_VALUE, PLACE);
	ASSERT_UINT(wait.kind, WAIT_LAZY);
	ASSERT_UINT(wait.wait_end, 2);
}

TEST(a_method_that_only_begins_a_wait_does_not_wait)
{
	struct thread_wait wait = CLASSIFY(WAIT_ASYNC, PLACE);
	ASSERT_UINT(wait.kind, WAIT_NONE);
	/* The lock inside of a semaphore. */
	wait = CLASSIFY(MONITOR_ENTER, WAIT_ASYNC, PLACE);
	ASSERT_UINT(wait.kind, WAIT_MONITOR);
	ASSERT_UINT(wait.wait_end, 1);
}

TEST(a_thread_that_runs_net_code_does_not_block)
{
	thread.is_cooperative = true;
	struct thread_wait wait = CLASSIFY(MONITOR_ENTER, TASK_WAIT, PLACE);
	ASSERT_UINT(wait.kind, WAIT_NONE);
	ASSERT_UINT(wait.wait_end, WAIT_NO_FRAME);
	ASSERT_UINT(wait.user_frame, 2);
	wait = CLASSIFY(PLACE);
	ASSERT_UINT(wait.kind, WAIT_NONE);
	/* But for one that spins until it gets what it wants. */
	wait = CLASSIFY(SPIN_LOCK, PLACE);
	ASSERT_UINT(wait.kind, WAIT_SPIN_LOCK);
	ASSERT_UINT(wait.wait_end, 1);
	thread.is_cooperative = false;
	wait = CLASSIFY(MONITOR_ENTER, TASK_WAIT, PLACE);
	ASSERT_UINT(wait.kind, WAIT_TASK);
}

static bool stops_soon(const struct thread_wait *wait)
{
	struct heap heap = { .runtime = fake_runtime(fake) };
	const struct waits waits = { .heap = &heap };
	return wait_stops_soon(&waits, wait);
}

TEST(who_takes_a_lock_or_a_task_stops_soon_and_the_program_may_run_on)
{
	thread.is_cooperative = true;
	struct thread_wait wait = CLASSIFY(MONITOR_ENTER, PLACE);
	CU_ASSERT_TRUE(stops_soon(&wait));
	wait = CLASSIFY(RUN_INTERNAL, EXECUTE);
	CU_ASSERT_TRUE(stops_soon(&wait));
	wait.stack.is_partial = true;
	CU_ASSERT_FALSE(stops_soon(&wait));
	wait = CLASSIFY(PLACE);
	CU_ASSERT_FALSE(stops_soon(&wait));
	wait = CLASSIFY(GET_VALUE, PLACE);
	CU_ASSERT_FALSE(stops_soon(&wait));
}

TEST(a_namespace_that_begins_like_one_of_the_framework_is_the_programs)
{
	struct thread_wait wait = CLASSIFY(TASK_WAIT, INTEROP_PLACE);
	ASSERT_UINT(wait.kind, WAIT_TASK);
	ASSERT_UINT(wait.user_frame, 1);
	wait = CLASSIFY(INTEROP_PLACE);
	ASSERT_UINT(wait.kind, WAIT_NONE);
	ASSERT_UINT(wait.call, 0);
}

TEST(a_stack_that_cannot_be_walked_is_not_idle)
{
	struct waits waits = { 0 };
	struct thread_wait wait = { .thread = &thread };
	wait_classify(&waits, &wait);
	ASSERT_UINT(wait.kind, WAIT_IDLE);
	wait = (struct thread_wait){ .thread = &thread, .stack = { .is_partial = true } };
	wait_classify(&waits, &wait);
	ASSERT_UINT(wait.kind, WAIT_NONE);
	wait = (struct thread_wait){ .thread = &thread, .stack = { .is_missing = true } };
	wait_classify(&waits, &wait);
	ASSERT_UINT(wait.kind, WAIT_NONE);
}

TEST(only_a_root_of_a_frame_tells_which_frame_holds_an_object)
{
	struct stack_root roots[] = {
		{ .value = 0x1000, .frame = UINT32_MAX, .kind = STACK_ROOT_GC_FRAME },
		{ .value = 0x2000, .frame = UINT32_MAX, .kind = STACK_ROOT_EXCEPTION },
		{ .value = 0x2000, .frame = 2 },
		{ .value = 0x2000, .frame = 1 },
		{ .value = 0x3000, .frame = 3 },
		{ .value = 0x4000, .frame = 2, .flags = STACK_ROOT_CONSERVATIVE },
	};
	struct thread_wait wait = {
		.stack = { .frames = frames,
			   .frames_count = 3,
			   .roots = roots,
			   .roots_count = sizeof(roots) / sizeof(roots[0]) },
		.wait_end = 1,
	};
	CU_ASSERT(wait_frame_with(&wait, 0x1000) == WAIT_NO_FRAME);
	ASSERT_UINT(wait_frame_with(&wait, 0x2000), 1);
	CU_ASSERT(wait_frame_with(&wait, 0x3000) == WAIT_NO_FRAME);
	CU_ASSERT(wait_frame_with(&wait, 0x4000) == WAIT_NO_FRAME);
	CU_ASSERT(wait_frame_with(&wait, 0) == WAIT_NO_FRAME);
	wait.wait_end = 2;
	ASSERT_UINT(wait_frame_with(&wait, 0x2000), 2);
	wait.wait_end = WAIT_NO_FRAME;
	CU_ASSERT(wait_frame_with(&wait, 0x1000) == WAIT_NO_FRAME);
}

SUITE(.name = "wait_frames", .set_up = set_up, .tear_down = tear_down)
