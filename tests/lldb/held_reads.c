/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into LLDB: when the FIFO that HEAPDUMP_TEST_HOLD names exists, a read of a process's memory says so and
 * waits until somebody opens the FIFO for writing.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* lldb::SBProcess::ReadMemory(), which the plug-in calls. */
#define READ_MEMORY "_ZN4lldb9SBProcess10ReadMemoryEmPvmRNS_7SBErrorE"

#define SEEN __attribute__((visibility("default")))

SEEN size_t read_memory(void *process, uint64_t address, void *buf, size_t size,
			void *error) __asm__(READ_MEMORY);

size_t read_memory(void *process, uint64_t address, void *buf, size_t size, void *error)
{
	static size_t (*function)(void *, uint64_t, void *, size_t, void *);
	if (!function)
		*(void **)&function = dlsym(RTLD_NEXT, READ_MEMORY);
	const char *path = getenv("HEAPDUMP_TEST_HOLD");
	if (path && access(path, F_OK) == 0) {
		static const char line[] = "\r\n<HELD>\r\n";
		ssize_t unused = write(STDOUT_FILENO, line, sizeof(line) - 1);
		(void)unused;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			(void)close(fd);
	}
	return function(process, address, buf, size, error);
}
