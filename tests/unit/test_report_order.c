/* SPDX-License-Identifier: MIT */
/* Rules of one turn know nothing of each other: the findings of real programs are the same in any order. */
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/report_scene.h"
#include "support/suite.h"

static void check_core(const char *path)
{
	char name[256];
	struct hd_error err = { 0 };
	struct hd_session *session = NULL;
	struct job job = { .workers = 1 };
	struct facts_of of = { .is_complete = true };
	struct report report;
	(void)snprintf(name, sizeof(name), HD_SOURCE_DIR "/corefiles/%s", path);
	ASSERT_UINT_FATAL(hd_session_create(&session, &err), HD_OK);
	ASSERT_UINT_FATAL(hd_session_open(session, name, 0, NULL, &err), HD_OK);
	/* The command makes all that a report needs. */
	struct answer answer = command_run(session, "report -top 1");
	CU_ASSERT_EQUAL(answer.status, 1);
	answer_deinit(&answer);
	ASSERT_UINT_FATAL(session_heap(session, &job, &of.heap, &err), HD_OK);
	ASSERT_UINT_FATAL(session_roots(session, false, &job, &of.roots, &err), HD_OK);
	ASSERT_UINT_FATAL(session_graph(session, false, &job, &of.graph, &err), HD_OK);
	ASSERT_UINT_FATAL(session_dominators(session, &job, &of.dominators, &err), HD_OK);
	ASSERT_UINT_FATAL(report_make(&report, &of, &job, &err), HD_OK);
	CU_ASSERT(report.findings_count > 1);
	check_any_order(&report, &of, &job);
	report_deinit(&report);
	hd_session_destroy(session);
}

TEST(the_findings_of_a_program_with_leaks_are_the_same_in_any_order)
{
	check_core("leak.core.zst");
}

TEST(the_findings_of_a_program_that_grows_are_the_same_in_any_order)
{
	check_core("growth.core.zst");
}

SUITE(.name = "report_order")
