/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_STOPPER_H
#define HEAPDUMP_SRC_TARGET_STOPPER_H

#include "target/target.h"

/**
 * Holds a process: every thread stopped by ptrace, by a thread of ours that does nothing else,
 * since the kernel lets only that one release them.  When our process dies the other runs on.
 */
struct stopper;

/**
 * Stop all threads of @p pid.
 *
 * @param[out] ret To be given to stopper_release(); untouched on failure, and nothing is stopped.
 * @param[out] ret_threads with registers; owned by @p ret
 */
HD_NODISCARD enum hd_status stopper_start(int pid, struct job *job, struct stopper **ret,
					  const struct target_thread **ret_threads,
					  size_t *ret_count, struct hd_error *err);

/** Let the process go on as it was; @return how many seconds it stood still.  NULL is allowed. */
double stopper_release(struct stopper *stopper);

#endif
