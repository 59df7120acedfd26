/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_SIGNALS_H
#define HEAPDUMP_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Signals while a command runs, here or in a worker.  Ctrl-C stops the command: from a terminal it comes to both
 * processes, else it is passed on.  The third one ends a worker that does not listen, from its first moment.
 * SIGTERM and SIGHUP end the program once the command has ended, so that it leaves no temporary file and no
 * socket; a worker that does not end within seconds is ended.
 */

/** Signals that are taken. */
#define SIGNALS_TAKEN 4u

/** What was there before. */
struct taken_signals {
	struct sigaction old[SIGNALS_TAKEN];
};

/** Take the signals while @p pid works (0: no other process); none has come yet. */
void signals_take(struct taken_signals *old, pid_t pid);

/** Give them back; if one of them is to end the program, it does now. */
void signals_give_back(const struct taken_signals *old);

/** Pass on what comes, and what has come: the worker listens from now on. */
void signals_pass_on(void);

/** Has one come?  As hd_broker.create asks; @p unused is not read. */
int signals_came(void *unused);

/** Has Ctrl-C come so often that the worker was ended? */
bool signals_insisted(void);

#endif
