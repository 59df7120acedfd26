/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/** The id in the innermost namespace, from the text of a status file; 0: it has only one id. */
uint64_t inner_pid_parse(const char *status);

/**
 * Check that the process at the other end of @p fd, a connected Unix socket, is the one in the
 * diagnostics socket's name, and that it made that socket.  The kernel tells which process listens,
 * and under which name, so that no link and no mount can lead elsewhere.
 *
 * @param name The last part of the path that was connected to: dotnet-diagnostic-PID-STARTTIME-socket, or
 * heapdump-inside-PID-socket, with the id that the process has in its own namespace.
 * @param owner The owner of the socket's file.  @return 0; EREMCHG: it is another process; or
 * errno: it could not be found out.
 */
int peer_check(int fd, const char *name, uid_t owner);
