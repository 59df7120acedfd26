/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_SIGNAL_HOLD_H
#define HEAPDUMP_SRC_UTIL_SIGNAL_HOLD_H

#include <stdbool.h>

/** What a signal of a write says. */
enum held_signal {
	HOLD_TOO_LARGE, /**< SIGXFSZ: there is a limit on the size of files (ulimit -f) */
	HOLD_NO_READER, /**< SIGPIPE */
};

/**
 * A signal that a write of this thread may raise, kept from the program: the write
 * fails with an errno as well, which is enough, and a host program must not die of it.
 */
struct signal_hold {
	enum held_signal signal;
	bool was_blocked, was_pending; /**< before */
};

/** Keep @p signal from this thread. */
void signal_hold_begin(struct signal_hold *hold, enum held_signal signal);

/** As it was before; the signal is forgotten if it came meanwhile.  Keeps errno. */
void signal_hold_end(const struct signal_hold *hold);

#endif
