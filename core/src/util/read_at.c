/* SPDX-License-Identifier: MIT */
#include "util/read_at.h"

#include <errno.h>
#include <unistd.h>

ssize_t read_at(int fd, void *buf, size_t size, off_t offset)
{
	size_t done = 0;
	while (done < size) {
		ssize_t got = pread(fd, (char *)buf + done, size - done, offset + (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
