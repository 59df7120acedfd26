/* SPDX-License-Identifier: MIT */
#include <signal.h>

#include <heapdump/command.h>

/* The one process-wide state of the library: a signal handler can have no other. */
static volatile sig_atomic_t hits;
static int depth;
static struct sigaction saved;

static void on_interrupt(int signal)
{
	(void)signal;
	hits = hits + 1;
}

void hd_interrupt_begin(void)
{
	if (depth++)
		return;
	hits = 0;
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGINT, &action, &saved);
}

int hd_interrupt_end(void)
{
	int count = hits;
	if (depth && !--depth)
		(void)sigaction(SIGINT, &saved, NULL);
	return count;
}

int hd_interrupted(void)
{
	return depth && hits;
}
