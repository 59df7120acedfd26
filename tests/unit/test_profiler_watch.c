/* SPDX-License-Identifier: MIT */
/* When the profiler takes a snapshot because of memory: each time that a measure rises above its threshold. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "gc_watch.h"
#include "level.h"
#include "memory_use.h"
#include "runtime.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "watch.h"

#define MB UINT64_C(1048576)

/* The runtime's part: there is no session. */
static unsigned begun, ended;
static uint64_t last_begun, last_ended;
static bool none_begins;
/* The number of the collection that ends next. */
static uint32_t number = 1;

hresult runtime_start_session(const struct event_provider *provider, uint64_t *ret)
{
	(void)provider;
	if (none_begins)
		return COM_OK + 1;
	begun++;
	*ret = ++last_begun;
	return COM_OK;
}

hresult runtime_stop_session(uint64_t session)
{
	last_ended = session;
	ended++;
	return COM_OK;
}

/* A collection begins (1) or ends (2). */
static void tell(uint32_t id, uint32_t generation)
{
	uint8_t payload[18] = { 0 };
	memcpy(payload, &number, sizeof(number));
	memcpy(payload + 4, &generation, sizeof(generation));
	gc_watch_event(id, payload, sizeof(payload));
}

/*
 * The end of one of generation @p generation that leaves @p heap bytes, most of them in the pinned object heap, as so
 * many sessions tell it.
 */
static void end_in(unsigned sessions, uint32_t generation, uint64_t heap)
{
	uint8_t payload[102] = { 0 };
	const uint64_t old = MB, pinned = heap - MB;
	for (unsigned i = 0; i < sessions; i++)
		tell(2, generation);
	memcpy(payload + 32, &old, sizeof(old));
	memcpy(payload + 94, &pinned, sizeof(pinned));
	for (unsigned i = 0; i < sessions; i++)
		gc_watch_event(4, payload, sizeof(payload));
	number++;
}

static void end(uint32_t generation, uint64_t heap)
{
	end_in(1, generation, heap);
}

static void collect(uint32_t generation, uint64_t heap)
{
	tell(1, generation);
	end(generation, heap);
}

static void check_look(struct watch *watch, const char *expected)
{
	const char *reason = watch_look(watch);
	CU_ASSERT_FATAL(!reason == !expected);
	if (reason)
		CU_ASSERT_STRING_EQUAL(reason, expected);
}

TEST(a_level_rises_once_and_again_after_it_has_sunk)
{
	struct level level = { .threshold = 100 };
	CU_ASSERT(!level_has_risen(&level, 100, 0));
	CU_ASSERT(level_has_risen(&level, 101, 0));
	level_taken(&level, true, 0);
	CU_ASSERT(!level_has_risen(&level, 200, 1000000));
	/* Not well below. */
	CU_ASSERT(!level_has_risen(&level, 91, 0));
	CU_ASSERT(!level_has_risen(&level, 101, 0));
	CU_ASSERT(!level_has_risen(&level, 90, 0));
	CU_ASSERT(level_has_risen(&level, 101, 0));
}

TEST(what_failed_is_tried_again_later_each_time)
{
	struct level level = { .threshold = 100 };
	CU_ASSERT(level_has_risen(&level, 101, 0));
	level_taken(&level, false, 1000);
	CU_ASSERT(!level_has_risen(&level, 101, 5999));
	CU_ASSERT(level_has_risen(&level, 101, 6000));
	level_taken(&level, false, 6000);
	CU_ASSERT(!level_has_risen(&level, 101, 15999));
	CU_ASSERT(level_has_risen(&level, 101, 16000));
	level_taken(&level, true, 16000);
	CU_ASSERT(!level_has_risen(&level, 101, 1000000));
}

/* Between two looks there may be many collections. */
TEST(a_heap_that_sinks_and_rises_between_two_looks_has_risen)
{
	const struct when when = { .heap_bytes = 100 * MB };
	struct watch watch;
	CU_ASSERT(gc_watch_begin(when.heap_bytes));
	watch_init(&watch, &when);
	collect(2, 50 * MB);
	check_look(&watch, NULL);
	collect(0, 150 * MB);
	check_look(&watch, "heap");
	watch_taken(&watch, true);
	collect(1, 160 * MB);
	check_look(&watch, NULL);
	collect(2, 5 * MB);
	collect(2, 150 * MB);
	check_look(&watch, "heap");
	watch_taken(&watch, true);
	check_look(&watch, NULL);
	/* And the other way round: it was too large, although it is not now. */
	collect(2, 5 * MB);
	check_look(&watch, NULL);
	collect(2, 150 * MB);
	collect(2, 5 * MB);
	check_look(&watch, "heap");
	watch_taken(&watch, true);
	check_look(&watch, NULL);
	collect(2, 150 * MB);
	check_look(&watch, "heap");
	gc_watch_pause();
}

TEST(full_collections_in_a_row_that_leave_more_are_growth)
{
	const struct when when = { .growth = 3 };
	struct watch watch;
	CU_ASSERT(gc_watch_begin(0));
	watch_init(&watch, &when);
	collect(2, 2 * MB);
	for (unsigned i = 1; i <= 2; i++) {
		collect(2, (500 + i) * MB);
		collect(0, 600 * MB);
		check_look(&watch, NULL);
	}
	collect(2, 503 * MB);
	check_look(&watch, "growth");
	check_look(&watch, NULL);
	gc_watch_pause();
}

TEST(growth_is_tried_again_when_there_was_no_snapshot)
{
	const struct when when = { .growth = 3 };
	struct watch watch;
	CU_ASSERT(gc_watch_begin(0));
	watch_init(&watch, &when);
	gc_watch_forget_growth();
	for (unsigned i = 0; i <= 3; i++)
		collect(2, (500 + i) * MB);
	check_look(&watch, "growth");
	watch_taken(&watch, false);
	check_look(&watch, NULL);
	CU_ASSERT(watch.growth.retry > 0);
	watch.growth.retry = 1;
	check_look(&watch, "growth");
	watch_taken(&watch, true);
	for (unsigned i = 4; i <= 5; i++) {
		collect(2, (500 + i) * MB);
		check_look(&watch, NULL);
	}
	collect(2, 506 * MB);
	check_look(&watch, "growth");
	gc_watch_pause();
}

/* While the session is renewed. */
TEST(a_collection_that_two_sessions_tell_counts_once)
{
	const struct when when = { .growth = 3 };
	struct watch watch;
	CU_ASSERT(gc_watch_begin(0));
	watch_init(&watch, &when);
	collect(2, 2 * MB);
	gc_watch_forget_growth();
	end_in(2, 2, 501 * MB);
	ASSERT_UINT(gc_watch_growth(), 1);
	collect(2, 502 * MB);
	check_look(&watch, NULL);
	end_in(2, 2, 503 * MB);
	check_look(&watch, "growth");
	gc_watch_pause();
}

/* Others begin and end meanwhile. */
TEST(full_collections_in_the_background_count)
{
	const struct when when = { .growth = 3 };
	struct watch watch;
	CU_ASSERT(gc_watch_begin(0));
	watch_init(&watch, &when);
	collect(2, 2 * MB);
	gc_watch_forget_growth();
	for (unsigned i = 1; i <= 3; i++) {
		check_look(&watch, NULL);
		tell(1, 2);
		collect(1, 600 * MB);
		collect(0, 700 * MB);
		end(2, (500 + i) * MB);
	}
	check_look(&watch, "growth");
	/* One that is under way does not make a full one of the next. */
	tell(1, 2);
	for (unsigned i = 1; i <= 3; i++)
		collect(1, (700 + i) * MB);
	check_look(&watch, NULL);
	gc_watch_pause();
}

TEST(the_session_is_renewed_after_a_collection_that_may_be_a_tool_s)
{
	uint8_t payload[18] = { 0 };
	CU_ASSERT(gc_watch_begin(0));
	collect(2, 2 * MB);
	begun = ended = 0;
	gc_watch_renew(1000);
	ASSERT_UINT(ended, 0);
	payload[8] = 1;
	gc_watch_event(1, payload, sizeof(payload));
	gc_watch_renew(1000);
	CU_ASSERT(begun == 1 && ended == 1);
	ASSERT_UINT(last_ended, last_begun - 1);
	gc_watch_renew(5000);
	ASSERT_UINT(begun, 1);
	/* A program that collects all the time does not make it a new one all the time. */
	gc_watch_event(1, payload, sizeof(payload));
	gc_watch_renew(5001);
	ASSERT_UINT(begun, 2);
	gc_watch_event(1, payload, sizeof(payload));
	gc_watch_renew(6000);
	ASSERT_UINT(begun, 2);
	gc_watch_renew(6001);
	ASSERT_UINT(begun, 3);
	/* The old one stays until a new one can begin. */
	gc_watch_event(1, payload, sizeof(payload));
	none_begins = true;
	gc_watch_renew(8000);
	none_begins = false;
	ASSERT_UINT(ended, 3);
	gc_watch_renew(10000);
	CU_ASSERT(begun == 4 && ended == 4);
	gc_watch_pause();
}

static void *be_a_tool(void *arg)
{
	(void)prctl(PR_SET_NAME, ".NET EventPipe");
	(void)sem_post((sem_t *)arg);
	(void)sem_wait((sem_t *)arg + 1);
	return NULL;
}

/* The thread that serves the socket, and one for a tool. */
TEST(the_session_stays_as_long_as_a_tool_has_one)
{
	uint8_t payload[18] = { [8] = 1 };
	pthread_t threads[2];
	sem_t sems[2]; /* it is there; it may end */
	CU_ASSERT(sem_init(&sems[0], 0, 0) == 0 && sem_init(&sems[1], 0, 0) == 0);
	for (size_t i = 0; i < 2; i++) {
		CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, be_a_tool, sems) == 0);
		(void)sem_wait(&sems[0]);
	}
	CU_ASSERT(gc_watch_begin(0));
	begun = ended = 0;
	gc_watch_event(1, payload, sizeof(payload));
	/* Each look comes later than the one before. */
	gc_watch_renew(1000000);
	gc_watch_renew(2000000);
	ASSERT_UINT(begun, 0);
	for (size_t i = 0; i < 2; i++)
		(void)sem_post(&sems[1]);
	for (size_t i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	gc_watch_renew(2003999);
	ASSERT_UINT(begun, 0);
	gc_watch_renew(2004000);
	CU_ASSERT(begun == 1 && ended == 1);
	gc_watch_pause();
}

static uint64_t available(void)
{
	char line[200];
	unsigned long long kilobytes = 0;
	FILE *file = fopen("/proc/meminfo", "re");
	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "MemAvailable: %llu", &kilobytes) != 1)
		;
	if (file)
		(void)fclose(file);
	return (uint64_t)kilobytes * 1024;
}

/* Others have some of the memory of the machine, too. */
TEST(what_is_left_is_no_more_than_the_machine_has)
{
	const uint64_t before = available(), left = memory_left(), after = available();
	CU_ASSERT(before > 0);
	/* It changes, by much when another process ends just then. */
	CU_ASSERT(left <= (before > after ? before : after) + 64 * MB);
}

/* Events that are too short are not taken. */
TEST(events_that_are_cut_are_no_collections)
{
	const uint8_t byte = 0;
	gc_watch_event(2, &byte, 1);
	tell(2, 0);
	gc_watch_event(4, &byte, 1);
	gc_watch_event(4, NULL, 0);
	ASSERT_UINT(gc_watch_heap(), 0);
}

SUITE(.name = "profiler_watch")
