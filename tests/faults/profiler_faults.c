/* SPDX-License-Identifier: MIT */
/*
 * Linked into a copy of the profiler: its own allocations fail, those of the program do not.  HEAPDUMP_FAIL_AT=N: the one
 * with number N, and with HEAPDUMP_FAIL_ALL=1 all that come then.  HEAPDUMP_FAIL_COUNT=PATH gets their number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* NOLINTBEGIN: the linker's names */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);

static atomic_ulong calls;
static unsigned long fail_at;
static int fails_all;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("HEAPDUMP_FAIL_AT");
	fail_at = at ? strtoul(at, NULL, 10) : 0;
	fails_all = getenv("HEAPDUMP_FAIL_ALL") != NULL;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	const char *path = getenv("HEAPDUMP_FAIL_COUNT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	int length = snprintf(text, sizeof(text), "%lu\n", atomic_load(&calls));
	ssize_t unused = write(fd, text, (size_t)length);
	(void)unused;
	(void)close(fd);
}

static int is_refused(void)
{
	unsigned long call = atomic_fetch_add(&calls, 1) + 1;
	if (!fail_at || (fails_all ? call < fail_at : call != fail_at))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_refused() ? NULL : __real_realloc(old, size);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return is_refused() ? MAP_FAILED
			    : __real_mmap(address, size, protection, flags, fd, offset);
}
/* NOLINTEND */
