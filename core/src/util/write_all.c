/* SPDX-License-Identifier: MIT */
#include "util/write_all.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "util/signal_hold.h"

#define WRITE_POLL_MS 50 /* how often to check whether the job was stopped */

/* Write once; returns errno, or 0 and how many bytes. */
static int write_once(int fd, const char *bytes, size_t size, size_t *ret)
{
	struct signal_hold too_large, no_reader;
	signal_hold_begin(&too_large, HOLD_TOO_LARGE);
	signal_hold_begin(&no_reader, HOLD_NO_READER);
	ssize_t wrote = write(fd, bytes, size);
	int code = wrote < 0 ? errno : 0;
	signal_hold_end(&no_reader);
	signal_hold_end(&too_large);
	*ret = wrote > 0 ? (size_t)wrote : 0;
	return wrote ? code : EIO;
}

int write_all(int fd, const char *bytes, size_t size, struct job *job)
{
	while (size) {
		size_t wrote;
		int code = write_once(fd, bytes, size, &wrote);
		bytes += wrote;
		size -= wrote;
		if (code && code != EAGAIN && code != EINTR)
			return code;
		struct pollfd at = { .fd = fd, .events = POLLOUT };
		if (code == EAGAIN)
			(void)poll(&at, 1, WRITE_POLL_MS);
		if (code && !job_step(job, 0, 0))
			return ECANCELED;
	}
	return 0;
}
