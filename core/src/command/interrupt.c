/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>

#include <heapdump/command.h>

/* The one process-wide state of the library: a signal handler can have no other. */
static volatile sig_atomic_t hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static int depth;
static struct sigaction saved;

static void on_command_interrupt(int signal)
{
	(void)signal;
	hits = hits + 1;
}

void hd_interrupt_begin(void)
{
	(void)pthread_mutex_lock(&lock);
	if (depth++ == 0) {
		hits = 0;
		struct sigaction action = { .sa_handler = on_command_interrupt,
					    .sa_flags = SA_RESTART };
		(void)sigemptyset(&action.sa_mask);
		(void)sigaction(SIGINT, &action, &saved);
	}
	(void)pthread_mutex_unlock(&lock);
}

int hd_interrupt_end(void)
{
	(void)pthread_mutex_lock(&lock);
	int count = hits;
	if (depth && --depth == 0) {
		(void)sigaction(SIGINT, &saved, NULL);
		hits = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	return count;
}

int hd_interrupted(void)
{
	return hits != 0;
}
