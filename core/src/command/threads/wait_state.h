/* SPDX-License-Identifier: MIT */
/* Tells the state of the thing that a thread waits for. */
#pragma once

#include "hangs/wait_process.h"
#include "util/text.h"

/** Append "0 free", "3 of 5 left", "its owner is not known"; nothing when there is no more to say. */
void append_wait_state(struct text *text, const struct waits *waits,
		       const struct thread_wait *wait);

/** Append "process 712 of /usr/bin/yes"; without the file where that is not known. */
void append_process(struct text *text, const struct waits *waits,
		    const struct wait_process *process);

/** Append the handles of WaitAny and WaitAll: "System.Threading.Mutex 7f..., ..."; nothing: not known. */
void append_wait_handles(struct text *text, const struct waits *waits,
			 const struct thread_wait *wait);
