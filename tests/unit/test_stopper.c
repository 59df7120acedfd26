/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/process/stopper.h"

#define MANY 1000u
/* Seconds: more than any test takes. */
#define LIMIT 1000

static struct target_thread *threads;
static struct stopper stopper;
static int client; /* the other end of stopper.control */

static void *map_zeros(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CU_ASSERT_FATAL(bytes != MAP_FAILED);
	return bytes;
}

static void stopper_begin(const struct live_child *child)
{
	int pair[2];
	CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	client = pair[1];
	threads = map_zeros(SERVER_THREADS_MAX * sizeof(*threads));
	stopper = (struct stopper){ .pid = child->pid, .control = pair[0], .limit = LIMIT };
	stopper.room = map_zeros(sizeof(*stopper.room));
}

static void stopper_finish(void)
{
	(void)stopper_release(&stopper);
	(void)munmap(threads, SERVER_THREADS_MAX * sizeof(*threads));
	(void)munmap(stopper.room, sizeof(*stopper.room));
	(void)close(stopper.control);
	(void)close(client);
}

static int by_tid(const void *a, const void *b)
{
	const struct target_thread *left = a, *right = b;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

TEST(each_of_many_threads_is_stopped_once_and_let_go)
{
	struct live_child child = child_start(MANY, NULL, NULL);
	stopper_begin(&child);
	for (unsigned int turn = 0; turn < 3; turn++) {
		size_t count = 0;
		ASSERT_UINT_FATAL(stopper_stop(&stopper, threads, &count), STOP_DONE);
		ASSERT_UINT(count, MANY + 1);
		CU_ASSERT(child_state(child.pid) == 't');
		qsort(threads, count, sizeof(*threads), by_tid);
		for (size_t i = 1; i < count; i++)
			CU_ASSERT(threads[i].tid > threads[i - 1].tid);
		CU_ASSERT(stopper_release(&stopper) > 0);
		CU_ASSERT(child_is_running(&child));
	}
	stopper_finish();
	child_end(&child);
}

/* It is noticed before the first thread is asked, and however many threads there are. */
TEST(a_client_that_has_gone_ends_the_stop)
{
	struct live_child child = child_start(MANY, NULL, NULL);
	stopper_begin(&child);
	size_t count = 0;
	(void)shutdown(client, SHUT_RDWR);
	ASSERT_UINT(stopper_stop(&stopper, threads, &count), STOP_CANCELLED);
	ASSERT_UINT(stopper.held_count, 0);
	CU_ASSERT(child_is_running(&child));
	stopper_finish();
	child_end(&child);
}

/* Its first thread is reported when all others have been asked about. */
TEST(a_process_that_is_killed_while_it_is_held_ends)
{
	struct live_child child = child_start(MANY, NULL, NULL);
	stopper_begin(&child);
	size_t count = 0, gone = 0;
	ASSERT_UINT_FATAL(stopper_stop(&stopper, threads, &count), STOP_DONE);
	(void)kill(child.pid, SIGKILL);
	for (unsigned int i = 0; i < 600000 && gone < MANY; i++) {
		stopper_reap(&stopper);
		gone = 0;
		for (size_t k = 0; k < stopper.held_count; k++)
			gone += stopper.room->held[k].is_gone;
		(void)usleep(100);
	}
	CU_ASSERT(gone >= MANY);
	stopper_finish();
	child_end(&child);
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void *begin_and_end(void *arg)
{
	for (;;) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			(void)pthread_join(thread, NULL);
	}
	return arg;
}

static void begin_threads(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < 4; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, begin_and_end, NULL) != 0)
			_exit(1);
	}
}

TEST(threads_that_come_and_go_are_all_stopped)
{
	struct live_child child = child_start(0, begin_threads, NULL);
	stopper_begin(&child);
	for (unsigned int turn = 0; turn < 50; turn++) {
		size_t count = 0;
		ASSERT_UINT_FATAL(stopper_stop(&stopper, threads, &count), STOP_DONE);
		CU_ASSERT(count >= 5);
		CU_ASSERT(child_state(child.pid) == 't');
		(void)stopper_release(&stopper);
	}
	CU_ASSERT(child_is_running(&child));
	stopper_finish();
	child_end(&child);
}

SUITE(.name = "stopper")
