/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/** Why a write raises a signal. */
enum held_signal {
	HOLD_TOO_LARGE, /**< SIGXFSZ: there is a limit on the size of files (ulimit -f) */
	HOLD_NO_READER, /**< SIGPIPE */
};

/**
 * Suppresses a signal that a write of this thread may raise: the write also fails with an errno,
 * which is enough, and the signal must not end the host program.
 */
struct signal_hold {
	enum held_signal signal;
	bool was_blocked, was_pending; /**< before */
};

/** Suppress @p signal in this thread. */
void signal_hold_begin(struct signal_hold *hold, enum held_signal signal);

/** Restore the state before; if the signal came meanwhile, it is discarded.  Keeps errno. */
void signal_hold_end(const struct signal_hold *hold);
