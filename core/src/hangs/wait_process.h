/* SPDX-License-Identifier: MIT */
/* The process that a thread waits for in Process.WaitForExit. */
#pragma once

#include "hangs/waits.h"

struct wait_process {
	int64_t pid;
	uint64_t file; /**< the string with the file that it was started from; 0: not known */
	/** Its output, or its errors, go into a pipe that this program has, and nobody has begun to read. */
	bool is_unread;
};

/** False: the thread does not wait for a process, or that is not known. */
bool wait_process_read(const struct waits *waits, const struct thread_wait *wait,
		       struct wait_process *ret);
