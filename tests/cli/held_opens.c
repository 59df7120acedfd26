/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into a program with the profiler: when the FIFO that HEAPDUMP_TEST_HOLD names exists, the thread
 * "heapdump" waits in openat() until somebody opens the FIFO for writing.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

SEEN int held_openat(int folder, const char *name, int flags, ...) __asm__("openat64");

int held_openat(int folder, const char *name, int flags, ...)
{
	static int (*function)(int, const char *, int, ...);
	if (!function)
		*(void **)&function = dlsym(RTLD_NEXT, "openat64");
	va_list list;
	va_start(list, flags);
	const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	char thread[16] = "";
	(void)prctl(PR_GET_NAME, thread);
	const char *path = getenv("HEAPDUMP_TEST_HOLD");
	if (path && strcmp(thread, "heapdump") == 0 && access(path, F_OK) == 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			(void)close(fd);
	}
	return function(folder, name, flags, mode);
}
