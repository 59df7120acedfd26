/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/**
 * Remember the name of this process's diagnostics socket, ${TMPDIR:-/tmp}/dotnet-diagnostic-PID-STARTTIME-socket, as
 * the runtime makes it.  To be called when the profiler is initialised.
 */
void own_socket_find(void);

/** Is the socket there now?  One that an earlier process with the same id has left is another one. */
bool own_socket_exists(void);
