/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"

/**
 * Start the one thread that takes snapshots, with all signals but SIGBUS blocked, and handle the signal that is asked for.
 * What comes while a snapshot is taken leads to one further snapshot.
 *
 * @return false when something is missing, which is said on standard error; then nothing is changed
 */
bool trigger_start(const struct settings *settings);

/** In a callback of the runtime: an exception was thrown.  The first OutOfMemoryException leads to a snapshot. */
void trigger_thrown(uintptr_t object);

/**
 * In a callback of the runtime: a handler is searched for.  The thread that has thrown the first OutOfMemoryException waits
 * here for the snapshot, at most 10 minutes: without a handler the program would end before.
 */
void trigger_searched(void);

/**
 * The program ends: give the signal back, take the last snapshot if one is asked for, and wait for it; without one
 * a snapshot that is being taken is given up.  Does nothing in a forked child.
 */
void trigger_finish(void);
