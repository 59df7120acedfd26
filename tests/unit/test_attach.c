/* SPDX-License-Identifier: MIT */
#include "clr/clr.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

TEST(no_runtime_is_no_failure)
{
	if (!child_can_be_opened())
		return;
	struct live_child child = child_start(1, NULL, NULL);
	struct target *target = NULL;
	struct clr *clr = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(session_attach(child.pid, NULL, NULL, &target, &clr, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	CU_ASSERT_PTR_NULL(clr);
	ASSERT_UINT(target->process.stops, 1);
	CU_ASSERT(target->process.stopped_seconds > 0);
	CU_ASSERT(child_is_running(&child));
	target_destroy(target);
	child_end(&child);
}

TEST(no_process_is_one)
{
	struct target *target = NULL;
	struct clr *clr = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(session_attach(4194305, NULL, NULL, &target, &clr, &err), HD_ERR_OS);
	CU_ASSERT_PTR_NULL(target);
}

TEST(a_failed_allocation_lets_it_run)
{
	if (!child_can_be_opened())
		return;
	struct live_child child = child_start(1, NULL, NULL);
	uint64_t nth = 1;
	bool failed = true;
	for (; failed && nth < 2000; nth += CHILD_FAULT_STEP) {
		struct target *target = NULL;
		struct clr *clr = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = session_attach(child.pid, NULL, NULL, &target, &clr, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status != HD_ERR_ARGUMENT));
		ASSERT_UINT(err.status, status);
		clr_destroy(clr);
		target_destroy(target);
	}
	CU_ASSERT(nth > 20 && nth < 2000);
	CU_ASSERT(child_is_running(&child));
	child_end(&child);
}

SUITE(.name = "attach")
