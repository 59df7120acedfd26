/* SPDX-License-Identifier: MIT */
#include "write_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE ((size_t)500)

/*
 * A descriptor for the pipe that standard error is, which never waits: its own may wait, and others may fill the pipe
 * between a question and the write.  -1: it is not a pipe, or not ours to open.
 */
static int open_pipe(void)
{
	struct stat status;
	if (fstat(STDERR_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode))
		return -1;
	return open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static ssize_t write_at_once(const char *line, size_t size)
{
	ssize_t written = send(STDERR_FILENO, line, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (written >= 0 || errno != ENOTSOCK)
		return written;
	int pipe = open_pipe();
	if (pipe >= 0) {
		written = write(pipe, line, size);
		const int error = errno;
		(void)close(pipe);
		errno = error;
		return written;
	}
	struct pollfd at = { .fd = STDERR_FILENO, .events = POLLOUT };
	if (poll(&at, 1, 0) == 1 && (at.revents & POLLOUT))
		written = write(STDERR_FILENO, line, size);
	return written;
}

/* Write without a SIGPIPE that the program would see. */
static void write_quietly(const char *line, size_t size)
{
	sigset_t pipe, before, pending;
	const struct timespec now = { 0 };
	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	if (sigpending(&pending) != 0 || pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0)
		return;
	/* One that was pending already is the program's. */
	if (write_at_once(line, size) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&pipe, NULL, &now);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void write_line(const char *format, ...)
{
	static const char prefix[] = "heapdump: ";
	char raw[LINE_SIZE], line[sizeof(prefix) + 6 * LINE_SIZE + 2];
	const int saved = errno;
	va_list args;
	va_start(args, format);
	(void)vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	size_t size = sizeof(prefix) - 1;
	memcpy(line, prefix, size);
	size += hd_escape(raw, strlen(raw), line + size, 6 * LINE_SIZE + 1);
	line[size++] = '\n';
	write_quietly(line, size);
	errno = saved;
}
