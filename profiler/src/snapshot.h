/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/snapshot.h>

#include "settings.h"
#include "stopping.h"

/**
 * Take a snapshot of this process's own heap, in the way that the settings say.  Says in one
 * line on standard error what went wrong.  The file appears when it is complete, or not at all.
 *
 * @param[in] reason What %r stands for.
 * @param[in] stop Ends the work early; then nothing is said.
 * @return false when there is none, and it could be tried again
 */
bool snapshot_take(const struct settings *settings, const char *reason, struct stopping *stop);

/**
 * Take it by what the runtime tells this profiler.
 *
 * @param[in] settings Whether it is live, held, and has a page.
 * @param[in] way WAY_EVENTS or WAY_WALK.
 * @param[out] ret What is known about it when there is a file.
 * @return HD_EXIT_OK; HD_EXIT_FINDINGS: parts are missing; or another exit status of a command: there is no file
 */
int snapshot_take_by_callbacks(const struct settings *settings, enum way way, const char *path,
			       struct stopping *stop, struct hd_snapshot_state *ret,
			       struct hd_error *err);
