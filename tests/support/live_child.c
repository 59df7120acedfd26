/* SPDX-License-Identifier: MIT */
#include "support/live_child.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Turns of half a millisecond: more than a minute. Only a hang takes so long. */
#define NAPS_MAX 200000u

static struct child_board *signalled;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signalled->signals, 1);
}

static void nap(long nanoseconds)
{
	struct timespec time = { .tv_nsec = nanoseconds };
	(void)nanosleep(&time, NULL);
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

struct preparation {
	unsigned int threads;
	void (*prepare)(void *arg);
	void *arg;
};

static void count_on(struct child_board *board, void *arg)
{
	const struct preparation *preparation = arg;
	signalled = board;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	(void)sigaction(CHILD_SIGNAL, &action, NULL);
	for (unsigned int i = 0; i < preparation->threads; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, rest, NULL) != 0)
			_exit(1);
	}
	if (preparation->prepare)
		preparation->prepare(preparation->arg);
	atomic_store(&board->is_ready, true);
	for (;;) {
		atomic_fetch_add(&board->ticks, 1);
		nap(100000);
	}
}

struct live_child child_fork(void (*run)(struct child_board *board, void *arg), void *arg)
{
	struct live_child child = { .pid = -1 };
	void *shared = mmap(NULL, sizeof(*child.board), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	child.board = shared;
	(void)fflush(stdout);
	child.pid = fork();
	if (child.pid < 0)
		abort();
	if (child.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(child.board, arg);
		_exit(0);
	}
	for (unsigned int i = 0; i < NAPS_MAX && !atomic_load(&child.board->is_ready); i++)
		nap(500000);
	if (!atomic_load(&child.board->is_ready))
		abort();
	return child;
}

struct live_child child_start(unsigned int threads, void (*prepare)(void *arg), void *arg)
{
	struct preparation preparation = { threads, prepare, arg };
	return child_fork(count_on, &preparation);
}

void child_end(struct live_child *child)
{
	if (child->pid > 0) {
		(void)kill(child->pid, SIGKILL);
		(void)waitpid(child->pid, NULL, 0);
	}
	(void)munmap(child->board, sizeof(*child->board));
	child->pid = -1;
}

/* Has it counted within so many half milliseconds? */
static bool counts_within(const struct live_child *child, unsigned int naps)
{
	uint64_t before = atomic_load(&child->board->ticks);
	for (unsigned int i = 0; i < naps; i++) {
		nap(500000);
		if (atomic_load(&child->board->ticks) != before)
			return true;
	}
	return false;
}

bool child_is_running(const struct live_child *child)
{
	return counts_within(child, NAPS_MAX);
}

bool child_stands_still(const struct live_child *child)
{
	return !counts_within(child, 400);
}

char child_state(pid_t pid)
{
	char path[64], line[128], state = '?';
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return '?';
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "State:\t", 7) == 0)
			state = line[7];
	}
	(void)fclose(file);
	return state;
}

bool child_pages_are_scanned(void)
{
	struct utsname name;
	int major = 0, minor = 0;
	if (uname(&name) != 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 7);
}

bool child_can_be_opened(void)
{
#ifdef __SANITIZE_ADDRESS__
	/* Its shadow is terabytes, mapped and empty. */
	return child_pages_are_scanned();
#else
	return true;
#endif
}
