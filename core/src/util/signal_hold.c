/* SPDX-License-Identifier: MIT */
#include "util/signal_hold.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static int signal_number_of(enum held_signal signal)
{
	return signal == HOLD_TOO_LARGE ? SIGXFSZ : SIGPIPE;
}

static bool is_pending(enum held_signal signal)
{
	sigset_t pending;
	(void)sigemptyset(&pending);
	(void)sigpending(&pending);
	return sigismember(&pending, signal_number_of(signal)) == 1;
}

void signal_hold_begin(struct signal_hold *hold, enum held_signal signal)
{
	sigset_t set, old;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal_number_of(signal));
	(void)sigemptyset(&old);
	*hold = (struct signal_hold){ .signal = signal, .was_pending = is_pending(signal) };
	(void)pthread_sigmask(SIG_BLOCK, &set, &old);
	hold->was_blocked = sigismember(&old, signal_number_of(signal)) == 1;
}

void signal_hold_end(const struct signal_hold *hold)
{
	int saved = errno;
	const struct timespec at_once = { 0 };
	sigset_t set;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal_number_of(hold->signal));
	if (!hold->was_pending && is_pending(hold->signal))
		(void)sigtimedwait(&set, NULL, &at_once);
	if (!hold->was_blocked)
		(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	errno = saved;
}
