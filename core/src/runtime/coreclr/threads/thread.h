/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** Most threads that are read from a ThreadStore. */
#define CORECLR_THREADS_MAX 1000000u

/**
 * Read the threads of runtime->thread_store.  Where the list is broken, reading ends, with a finding.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status thread_list_read(struct runtime *runtime, struct hd_error *err);

/**
 * Give the threads the OS ids by which the target knows them.  In a container, a thread has another
 * id than outside.  A process tells both ids; in a core, a thread is identified by the stack that
 * its stack pointer is on (a finding, "thread-ids").  If ids and stacks agree, nothing changes.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status thread_ids_match(struct runtime *runtime, struct hd_error *err);

/**
 * Is there a ThreadStore's list of threads at @p address?
 *
 * @param must_match One of its first threads must be a thread of the process, by its OS id (this
 * does not hold for a process in a container that is read from outside).
 */
bool thread_store_is(const struct runtime *runtime, uint64_t address, bool must_match);
