/* SPDX-License-Identifier: MIT */
#include "write_only.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool write_only(int fd, int *ret)
{
	char path[40];
	struct stat info;
	int flags = fcntl(fd, F_GETFL);
	*ret = -1;
	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || fstat(fd, &info) != 0)
		return true;
	/* A file that the user has opened for both contains nothing that we must not read. */
	if (!S_ISCHR(info.st_mode) && !S_ISFIFO(info.st_mode))
		return !S_ISSOCK(info.st_mode);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*ret = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (flags & (O_APPEND | O_NONBLOCK)));
	return *ret >= 0;
}
