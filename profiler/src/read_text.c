/* SPDX-License-Identifier: MIT */
#include "read_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ssize_t read_whole(int fd, char *bytes, size_t capacity)
{
	size_t size = 0;
	while (size < capacity) {
		ssize_t got = read(fd, bytes + size, capacity - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		size += (size_t)got;
	}
	return (ssize_t)size;
}

bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	ssize_t got = read_whole(fd, text, size - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}
