/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/live_child.h"

/**
 * A process with the diagnostics socket of a .NET runtime, where "collect" and "ps" look for it: it
 * sends the trace that the file @p trace holds, again and again, until fake_runtime_end().
 */
struct live_child fake_runtime_start(const char *trace);

/** End it and remove its socket. */
void fake_runtime_end(struct live_child *child);
