/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

#define LARGE ((size_t)48 << 20)

TEST(no_runtime_is_no_failure)
{
	if (!child_can_be_opened())
		return;
	struct live_child child = child_start(1, NULL, NULL);
	struct target *target = NULL;
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(session_attach(child.pid, NULL, NULL, &target, &runtime, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	CU_ASSERT_PTR_NULL(runtime);
	ASSERT_UINT(target->process.stops, 1);
	CU_ASSERT(target->process.stopped_seconds > 0);
	CU_ASSERT(child_is_running(&child));
	target_destroy(target);
	child_end(&child);
}

TEST(no_process_is_one)
{
	struct target *target = NULL;
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(session_attach(4194305, NULL, NULL, &target, &runtime, &err), HD_ERR_OS);
	CU_ASSERT_PTR_NULL(target);
}

TEST(a_failed_allocation_lets_it_run)
{
	if (!child_can_be_opened())
		return;
	struct live_child child = child_start(1, NULL, NULL);
	uint64_t nth = 1;
	bool failed = true;
	for (; failed && nth < CHILD_FAULTS_MAX; nth += CHILD_FAULT_STEP) {
		struct target *target = NULL;
		struct runtime *runtime = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status =
			session_attach(child.pid, NULL, NULL, &target, &runtime, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status != HD_ERR_ARGUMENT));
		ASSERT_UINT(err.status, status);
		runtime_destroy(runtime);
		target_destroy(target);
	}
	CU_ASSERT(nth > 20 && nth < CHILD_FAULTS_MAX);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

/* A thread that waits in the kernel for the end of vfork() does not stop. */
static void *wait_in_the_kernel(void *arg)
{
	/* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork) */
	if (vfork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return arg;
}

static void use_memory_and_wait(void *arg)
{
	pthread_t thread;
	/* A process of some size is looked at once before it is copied. */
	memset(arg, 1, LARGE);
	if (pthread_create(&thread, NULL, wait_in_the_kernel, NULL) != 0)
		_exit(1);
}

static int at_once(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_stop_that_does_not_end_can_be_interrupted)
{
	void *bytes = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(bytes != MAP_FAILED);
	if (!child_can_be_opened())
		return;
	struct live_child child = child_start(0, use_memory_and_wait, bytes);
	struct job job = { .cancelled = at_once };
	struct target *target = NULL;
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(session_attach(child.pid, NULL, &job, &target, &runtime, &err),
		    HD_ERR_CANCELLED);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
	(void)munmap(bytes, LARGE);
}

SUITE(.name = "attach")
