/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/snapshot.h>

/*
 * Which snapshot the runtime's callbacks work for.  They come by any threads, also after the work has ended: a
 * snapshot is only destroyed when no callback has it.
 */

/** From now on callbacks get @p snapshot. */
void hearing_begin(struct hd_snapshot *snapshot);

/** No callback gets it any more; waits for those that have it. */
void hearing_end(void);

/** In a callback: the snapshot, to be given back by hearing_leave(); NULL: there is none, and nothing to give back. */
struct hd_snapshot *hearing_enter(void);
void hearing_leave(void);
