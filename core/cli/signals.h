/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Signals while a command runs, here or in a worker.  Ctrl-C stops the command: a terminal sends
 * the signal to both processes; a signal from elsewhere is passed on.  The third Ctrl-C ends a
 * worker that does not react, even if it has only just started.  SIGTERM and SIGHUP end the program
 * once the command has ended, so that it leaves no temporary file and no socket; a worker that does
 * not end within seconds is ended.
 */

/** Signals that are handled. */
#define SIGNALS_TAKEN 4u

/** The handlers that were set before. */
struct taken_signals {
	struct sigaction old[SIGNALS_TAKEN];
};

/** Handle the signals while @p pid works (0: no other process); none counts as received yet. */
void signals_take(struct taken_signals *old, pid_t pid);

/** Restore the former handlers; if a signal came that ends the program, the program ends now. */
void signals_give_back(const struct taken_signals *old);

/** From now on the worker listens: pass on the signals that have come and those that will come. */
void signals_pass_on(void);

/** Has a signal come?  For the argument "cancelled" of hd_broker.create; @p unused is not read. */
int signals_came(void *unused);

/** Was Ctrl-C pressed so often that the worker was ended? */
bool signals_insisted(void);
