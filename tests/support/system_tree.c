/* SPDX-License-Identifier: MIT */
/* A tree of files that stands for /proc and /sys. */
#include "support/system_tree.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/assert_more.h"

char system_root[32];

void system_make(void)
{
	(void)snprintf(system_root, sizeof(system_root), "/tmp/heapdump-system-XXXXXX");
	REQUIRE(mkdtemp(system_root));
}

static int remove_one(const char *path, const struct stat *stat_of, int kind, struct FTW *place)
{
	(void)stat_of;
	(void)kind;
	(void)place;
	return remove(path);
}

void system_remove(void)
{
	CU_ASSERT(nftw(system_root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

void system_put(const char *name, const char *content)
{
	char path[256];
	(void)snprintf(path, sizeof(path), "%s%s", system_root, name);
	for (char *slash = strchr(path + strlen(system_root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	REQUIRE(file);
	(void)fputs(content, file);
	(void)fclose(file);
}

void system_put_number(const char *group, const char *name, uint64_t bytes)
{
	char path[128], content[32];
	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group, name);
	(void)snprintf(content, sizeof(content), "%" PRIu64 "\n", bytes);
	system_put(path, content);
}
