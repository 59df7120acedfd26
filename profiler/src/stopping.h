/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/** Two things end a snapshot early: another thread, or the end of whoever waits for it. */
struct stopping {
	atomic_bool is_set;
	int peer; /**< the connection to whoever waits; -1: there is none */
};

/** Is the snapshot to end?  It asks the kernel once when there is a connection. */
bool stopping_is_asked(const struct stopping *stop);
