/* SPDX-License-Identifier: MIT */
#pragma once

#include "collect/connection.h"

/*
 * Other traces of the same process.  Two heap snapshots at the same time spoil each other: each one
 * that begins makes the runtime walk the heap for all of them, and types that were sent to one are
 * not sent to the next (eventtrace_bulktype.cpp, ETW::TypeSystemLog).
 */

/**
 * Make sure that only one heapdump at a time collects from a process; waits for its turn.
 *
 * @param wait Called once, before waiting; may be NULL.
 * @param[out] ret To be closed at the end; -1: others cannot be kept away.
 * @retval HD_ERR_OS another heapdump still collects
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status others_exclude(const struct endpoint *endpoint,
					   const struct patience *patience, void (*wait)(void *arg),
					   void *arg, int *ret, struct hd_error *err);

/** How many EventPipe sessions are sending their streams now. */
unsigned int others_count(int pid);

/** Wait until there are none; false if there are still some. */
HD_NODISCARD enum hd_status others_await_end(int pid, const struct patience *patience, bool *ret,
					     struct hd_error *err);
