/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_THREAD_H
#define HEAPDUMP_SRC_CLR_THREAD_H

#include "clr/clr.h"

/** Threads that are read of a ThreadStore, at most. */
#define CLR_THREADS_MAX 1000000u

/**
 * Read the threads of clr->thread_store.  A list that is broken ends there, with a finding.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status thread_list_read(struct clr *clr, struct hd_error *err);

/**
 * Give the threads the OS ids by which the target knows them.  In a container a thread has another id than
 * around it: a process tells both; in a core a thread is known by the stack that its stack pointer is on
 * (a finding, "thread-ids").  Nothing changes where ids and stacks agree.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status thread_ids_match(struct clr *clr, struct hd_error *err);

/**
 * Does a ThreadStore's list of threads stand at @p address?
 *
 * @param must_match One of its first threads must be a thread of the process, by its OS id (not so
 * for a process of a container that is looked at from outside).
 */
bool thread_store_is(const struct clr *clr, uint64_t address, bool must_match);

#endif
