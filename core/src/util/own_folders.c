/* SPDX-License-Identifier: MIT */
#include "util/own_folders.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Any object of this library. */
static const char own_place = 0;

static char found[OWN_FOLDERS_MAX][PATH_MAX];
static int found_count;

static void find_own_folders(void)
{
	Dl_info info;
	ssize_t length = readlink("/proc/self/exe", found[0], PATH_MAX - 1);
	found_count = length > 0;
	found[0][found_count ? length : 0] = '\0';
	if (dladdr(&own_place, &info) && info.dli_fname &&
	    realpath(info.dli_fname, found[found_count]))
		found_count++;
	for (int i = 0; i < found_count; i++) {
		char *slash = strrchr(found[i], '/');
		if (slash)
			*slash = '\0';
	}
}

int own_folders(const char *ret[OWN_FOLDERS_MAX])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, find_own_folders);
	for (int i = 0; i < found_count; i++)
		ret[i] = found[i];
	return found_count;
}
