/* SPDX-License-Identifier: MIT */
#include "util/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Bytes of a status file: the line that is needed comes after a list of groups. */
#define STATUS_SIZE 16384u

uint64_t inner_pid_parse(const char *status)
{
	const char *line = strstr(status, "\nNSpid:");
	if (!line)
		return 0;
	line += 7;
	uint64_t last = 0;
	unsigned int count = 0;
	size_t blanks = strspn(line, " \t");
	while (line[blanks] >= '0' && line[blanks] <= '9') {
		char *end;
		last = strtoull(line + blanks, &end, 10);
		count++;
		line = end;
		blanks = strspn(line, " \t");
	}
	return count > 1 ? last : 0;
}

/* The id that a process has in its own namespace; 0 and errno. */
static uint64_t own_pid(pid_t pid)
{
	char path[40], text[STATUS_SIZE];
	size_t size = 0;
	ssize_t got = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	do {
		got = read(fd, text + size, sizeof(text) - 1 - size);
		size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	int code = errno;
	(void)close(fd);
	errno = code;
	text[size] = '\0';
	uint64_t inner = inner_pid_parse(text);
	return got < 0 ? 0 : inner ? inner : (uint64_t)pid;
}

/* The id in the name of a diagnostics socket, or of our own in a process; 0: it has another form. */
static uint64_t pid_of_name(const char *name)
{
	static const char *const prefixes[] = { "dotnet-diagnostic-", "heapdump-inside-" };
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t size = strlen(prefixes[i]);
		if (strncmp(name, prefixes[i], size) != 0)
			continue;
		const char *digits = name + size;
		size_t count = strspn(digits, "0123456789");
		return count && digits[count] == '-' ? strtoull(digits, NULL, 10) : 0;
	}
	return 0;
}

/* Does it listen at a name that it has bound itself, and that ends with @p name? */
static bool listens_at(int fd, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNSPEC };
	char path[sizeof(address.sun_path) + 1] = "";
	socklen_t size = sizeof(address);
	if (getpeername(fd, (struct sockaddr *)&address, &size) != 0 ||
	    address.sun_family != AF_UNIX)
		return false;
	/* A name that fills it has no NUL. */
	memcpy(path, address.sun_path, sizeof(address.sun_path));
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* Does the process not exist for us, or not any more? */
static bool is_out_of_sight(int code)
{
	return code == ENOENT || code == ESRCH || code == EACCES || code == EPERM;
}

int peer_check(int fd, const char *name, uid_t owner)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	uint64_t wanted = pid_of_name(name);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return errno;
	if (!wanted || peer.pid <= 0 || (peer.uid != owner && peer.uid != 0) ||
	    !listens_at(fd, name))
		return EREMCHG;
	uint64_t pid = own_pid(peer.pid);
	if (!pid && !is_out_of_sight(errno))
		return errno;
	return pid == wanted ? 0 : EREMCHG;
}
