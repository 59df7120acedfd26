/* SPDX-License-Identifier: MIT */
#include "spared_signal.h"

#include <signal.h>
#include <stddef.h>

#include "when.h"

/* This outlives the library, which the runtime may unload: a handler would not. */
static void spare(int number)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction now;
	if (sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == SIG_DFL)
		(void)sigaction(number, &ignore, NULL);
}

void spare_signals(int number)
{
	spare(SIGRTMIN + SIGNAL_DEFAULT);
	if (number)
		spare(number);
}
