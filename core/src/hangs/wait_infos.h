/* SPDX-License-Identifier: MIT */
/* Since .NET 11: whom the framework says that each thread waits for, without its stack (doc/coreclr.md 12.15). */
#pragma once

#include "hangs/waits.h"

/** Read wait->info; of each thread, before its frames are looked at. */
void wait_info_of_thread(const struct waits *waits, struct thread_wait *wait);

/**
 * Find the threads that enter a monitor, wait in Monitor.Wait, or for the end of a thread: set pulse,
 * entered, owner and object, and the kind where the frames do not tell another one.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in threads, monitors, and those that wait for them, but for sorting.
 */
HD_NODISCARD enum hd_status wait_infos_match(struct waits *waits, struct hd_error *err);

/** The WaitHandle, of those on the heap, that has the WaitableObject at @p waitable; false: not known. */
bool wait_info_handle(const struct waits *waits, uint64_t waitable, struct object *ret);
