/* SPDX-License-Identifier: MIT */
#include "nothing.h"

#include <fcntl.h>
#include <unistd.h>

/* /dev/null, or one end of a pipe; -1: no descriptor is left. */
static int open_nothing(int access)
{
	int ends[2], fd = open("/dev/null", access);
	if (fd >= 0)
		return fd;
	if (pipe(ends) != 0)
		return -1;
	int kept = access == O_RDONLY ? 0 : 1;
	(void)close(ends[1 - kept]);
	return ends[kept];
}

bool lead_to_nothing(int fd, int access)
{
	int nothing = open_nothing(access);
	if (nothing < 0 || nothing == fd)
		return nothing == fd;
	bool done = dup2(nothing, fd) == fd;
	(void)close(nothing);
	return done;
}
