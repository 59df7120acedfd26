/* SPDX-License-Identifier: MIT */
/* Nobody is told that nothing hangs, where what tells it cannot be read. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_gaps.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/fake_locks.h"
#include "support/suite.h"
#include "util/alloc.h"

#define THREADS  2u
#define NOTHING  "No cause was found: "
#define VERDICT  "No verdict, because not all threads and locks can be read:\n"
#define COMPLETE "\"complete\": true"

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

static void check_gap(const char *gap)
{
	check("hang", HD_EXIT_FINDINGS, VERDICT);
	check("hang", HD_EXIT_FINDINGS, gap);
	check("hang --json", HD_EXIT_FINDINGS, "\"complete\": false");
	check("hang --json", HD_EXIT_FINDINGS, gap);
	check("waits", HD_EXIT_FINDINGS, gap);
	check("waits --json", HD_EXIT_FINDINGS, gap);
}

TEST(where_all_is_read_those_that_wait_are_told)
{
	(void)fake_locked(&locks, fake_lock(&locks, 1, 0, 0));
	open_session();
	check("hang", HD_EXIT_FINDINGS, NOTHING "2 of 2 threads wait (WaitHandle");
	check("hang --json", HD_EXIT_FINDINGS, COMPLETE);
	check("hang --json", HD_EXIT_FINDINGS, "\"gaps\": []");
	check("waits", HD_EXIT_OK, "WaitHandle");
	check("syncblk --json", HD_EXIT_OK, "\"gaps\": []");
}

TEST(a_lock_that_cannot_be_read_is_no_verdict)
{
	(void)fake_locked(&locks, 0x1230);
	(void)fake_locked(&locks, fake_lock(&locks, 1, 0, 0));
	open_session();
	check_gap("1 sync block has a monitor that cannot be read.");
	check("syncblk", HD_EXIT_FINDINGS, "1 sync block has a monitor that cannot be read.");
}

TEST(a_record_that_cannot_be_read_is_no_verdict)
{
	(void)fake_locked(&locks, fake_lock(&locks, 1, 0, 0));
	for (unsigned int i = 0; i < THREADS; i++)
		fake_poke_u32(&locks.fake->memory, locks.infos[i] + FAKE_INFO_COUNT, 77);
	open_session();
	check_gap("2 threads have records of their waits that cannot be read.");
}

TEST(a_stack_that_cannot_be_walked_is_no_verdict)
{
	/* Not a wait that the framework knows; and what else it does, only the stack would tell. */
	fake_poke(&locks.fake->memory, locks.infos[1] + FAKE_INFO_STATE, "\2", 1);
	open_session();
	check_gap("1 thread has a stack that cannot be walked to its end.");
}

/* A deadlock of two, of whom one must be pulsed first, and a third that joins the first one. */
static void make_hang(void)
{
	uint64_t events[2],
		join = fake_peek_u64(&locks.fake->memory, locks.threads[0] + FAKE_THREAD_JOIN);
	for (unsigned int i = 0; i < 2; i++)
		events[i] = fake_event(&locks, FAKE_AUTO_RESET);
	uint64_t condition = fake_condition(
		&locks, events[0], (const uint64_t[]){ fake_event(&locks, FAKE_AUTO_RESET), 0 });
	(void)fake_locked(&locks, fake_lock(&locks, 1, 1, events[1]));
	(void)fake_locked(&locks, fake_lock(&locks, 2, 1, condition));
	for (unsigned int i = 0; i < 2; i++)
		fake_wait(&locks, i, false, (const uint64_t[]){ events[i], 0 });
	fake_wait(&locks, 2, false, (const uint64_t[]){ join, 0 });
}

TEST(a_release_with_other_names_is_not_told_that_nothing_hangs)
{
	static const char *const names[] = {
		"",
		"_owningThreadId",
		"_state",
		"_recursionCount",
		"_waitEventOrCondition",
		"_waitEvent",
		"_waitersHead",
		"ev",
		"next",
		"_waitInfo",
		"_waitSignalState",
		"_waitedCount",
		"_isWaitForAll",
		"_waitedObjects",
		"_joinEvent",
		"_waitHandle",
		"handle",
		"_type",
		"_signalCount",
		"_maximumSignalCount",
		"_ownershipInfo",
	};
	fake_locks_destroy(&locks);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		locks = fake_locks_without(3, names[i]);
		make_hang();
		open_session();
		check("hang", HD_EXIT_FINDINGS, i ? "cannot be read" : "Deadlock: 2 threads");
		check("hang --json", HD_EXIT_FINDINGS, i ? "\"complete\": false" : COMPLETE);
		check("hang", HD_EXIT_FINDINGS, i ? "of the framework ha" : "Deadlock");
		struct answer answer = command_run(session, "hang");
		CU_ASSERT_PTR_NULL(strstr(answer_text(&answer), NOTHING));
		answer_deinit(&answer);
		tear_down();
	}
	set_up();
	open_session();
}

TEST(a_table_that_was_not_found_is_no_verdict)
{
	open_session();
	check_gap("The table of sync blocks was not found: who has a monitor is not known.");
}

TEST(an_event_of_no_lock_is_no_verdict)
{
	struct waits *waits;
	struct wait_gaps gaps;
	fake_types_attach(locks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(locks.fake), NULL, &waits, NULL), HD_OK);
	open_session();
	waits->rows[0].kind = WAIT_MONITOR;
	waits->rows[1].kind = WAIT_NONE;
	waits->rows[1].is_nameless = true;
	wait_gaps_find(waits, &gaps);
	CU_ASSERT(gaps.is_any);
	ASSERT_UINT(gaps.counts[GAP_LOCKS], 1);
	ASSERT_UINT(gaps.counts[GAP_NAMES], 1);
	/* Before 11 nothing but the words of the stack tells it, and a thread may only spin. */
	waits->rows[0].info.state = WAIT_INFO_NONE;
	/* Who runs .NET code does not wait. */
	struct runtime_thread running = { .is_cooperative = true };
	waits->rows[1].thread = &running;
	wait_gaps_find(waits, &gaps);
	CU_ASSERT(!gaps.is_any);
	/* A call whose method is not known may wait for anything. */
	waits->async->unknown = 2;
	waits->async->is_cut = true;
	wait_gaps_find(waits, &gaps);
	CU_ASSERT(gaps.is_any);
	ASSERT_UINT(gaps.counts[GAP_ASYNC], 3);
	waits->async->unknown = 0;
	waits->async->is_cut = false;
	waits->count = 0;
	waits->monitors.is_missing = true;
	wait_gaps_find(waits, &gaps);
	ASSERT_UINT(gaps.counts[GAP_NO_THREADS], 1);
	ASSERT_UINT(gaps.counts[GAP_NO_MONITORS], 1);
	waits_destroy(waits);
}

SUITE(.name = "wait_gaps", .set_up = set_up, .tear_down = tear_down)
