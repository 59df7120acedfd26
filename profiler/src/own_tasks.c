/* SPDX-License-Identifier: MIT */
#include "own_tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "read_text.h"

unsigned own_tasks_count(const char *name)
{
	unsigned count = 0;
	DIR *tasks = opendir("/proc/self/task");
	if (!tasks)
		return 0;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is our own */
	for (const struct dirent *task; (task = readdir(tasks));) {
		char path[64], text[32];
		(void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", task->d_name);
		if (task->d_name[0] != '.' && read_text(path, text, sizeof(text)))
			count += strncmp(text, name, strlen(name)) == 0;
	}
	(void)closedir(tasks);
	return count;
}
