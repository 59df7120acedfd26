/* SPDX-License-Identifier: MIT */
/* Locks of threads that have ended. */
#include "hangs/wait_ended.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/fake_locks.h"
#include "support/suite.h"
#include "util/alloc.h"

#define THREADS 2u
#define ENDED   "which a thread has that has ended: nobody can leave it. (waits)"

static struct fake_locks locks;
static struct hd_session *session;

/* Two threads, each of which waits for an event; their stacks are not there. */
static void set_up(void)
{
	locks = fake_locks_create(THREADS);
	for (unsigned int i = 0; i < THREADS; i++) {
		uint64_t event = fake_event(&locks, FAKE_AUTO_RESET);
		fake_wait(&locks, i, false, (const uint64_t[]){ event, 0 });
	}
	session = NULL;
}

static void open_session(void)
{
	fake_types_export(locks.types);
	fake_export(locks.fake, &(struct fake_export){ 0 });
	ASSERT_UINT_FATAL(hd_session_create(&session, NULL), HD_OK);
	session->target = &locks.fake->target;
	session->path = mem_strndup("a.core", 6);
}

static void tear_down(void)
{
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&locks.fake->target.findings);
	fake_locks_destroy(&locks);
}

/* The answer has that part, and the command ends with that status. */
static void check(const char *line, int status, const char *part)
{
	struct answer answer = command_run(session, line);
	ASSERT_TEXT(answer.err.message, "");
	CU_ASSERT_EQUAL(answer.status, status);
	if (!strstr(answer_text(&answer), part))
		ASSERT_TEXT(answer_text(&answer), part);
	answer_deinit(&answer);
}

/* Both threads want the monitor that is held by the thread with the id @p holder. */
static void make_wanted(uint32_t holder)
{
	uint64_t event = fake_event(&locks, FAKE_AUTO_RESET);
	uint64_t lock = fake_lock(&locks, 1, THREADS, event);
	fake_poke_u32(&locks.fake->memory, lock + FAKE_LOCK_HOLDER, holder);
	(void)fake_locked(&locks, lock);
	for (unsigned int i = 0; i < THREADS; i++)
		fake_wait(&locks, i, false, (const uint64_t[]){ event, 0 });
	open_session();
}

TEST(a_monitor_of_a_thread_that_has_ended_hangs)
{
	make_wanted(77);
	check("hang", HD_EXIT_FINDINGS, "2 threads wait for the monitor of ");
	check("hang", HD_EXIT_FINDINGS, ENDED);
	check("hang --json", HD_EXIT_FINDINGS, "\"verdict\": \"orphaned-lock\", \"certain\": true");
	check("waits", HD_EXIT_OK, "its holder has ended");
}

TEST(a_monitor_of_a_thread_that_is_there_does_not)
{
	make_wanted(1);
	check("hang --json", HD_EXIT_FINDINGS, "\"verdicts\": []");
}

TEST(a_monitor_that_somebody_enters_at_this_moment_has_no_holder_that_has_ended)
{
	make_wanted(0);
	check("hang --json", HD_EXIT_FINDINGS, "\"verdicts\": []");
}

SUITE(.name = "wait_ended", .set_up = set_up, .tear_down = tear_down)
