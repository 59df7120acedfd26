/* SPDX-License-Identifier: MIT */
#include "own_socket.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_text.h"

#define FIELDS_BEFORE_START 20 /* in /proc/self/stat, from the name's end to the start time */

static char socket_path[PATH_MAX];

/* When the process began, as the kernel says it; 0: not known. */
static unsigned long long start_time(void)
{
	char text[1024];
	if (!read_text("/proc/self/stat", text, sizeof(text)))
		return 0;
	/* The name may hold anything, ") " too. */
	const char *at = strrchr(text, ')');
	for (int i = 0; at && i < FIELDS_BEFORE_START; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

void own_socket_find(void)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): when a program starts, this is its only thread that could change it */
	const char *folder = getenv("TMPDIR");
	int length =
		snprintf(socket_path, sizeof(socket_path), "%s/dotnet-diagnostic-%d-%llu-socket",
			 folder && *folder ? folder : "/tmp", (int)getpid(), start_time());
	if (length < 0 || (size_t)length >= sizeof(socket_path))
		socket_path[0] = '\0';
}

bool own_socket_exists(void)
{
	struct stat status;
	return *socket_path && lstat(socket_path, &status) == 0 && S_ISSOCK(status.st_mode);
}
