/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: FAIL_CALL (memory or dup2) fails once in each process that the program forks: the call of number FAIL_AT,
 * counted from the fork.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);                 /* NOLINT(bugprone-reserved-identifier) */
extern void *__libc_calloc(size_t count, size_t size);   /* NOLINT(bugprone-reserved-identifier) */
extern void *__libc_realloc(void *pointer, size_t size); /* NOLINT(bugprone-reserved-identifier) */

#define SEEN __attribute__((visibility("default")))

static pid_t first, counted;
static char what[16]; /* a copy, because the environment is overwritten */
static long fail_at, calls;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_AT"), *call = getenv("FAIL_CALL");
	(void)strncpy(what, call ? call : "", sizeof(what) - 1);
	fail_at = at ? strtol(at, NULL, 10) : 0;
	first = getpid();
}

static int fails(const char *call)
{
	if (!first || strcmp(call, what) != 0 || getpid() == first)
		return 0;
	if (counted != getpid())
		calls = 0;
	counted = getpid();
	return ++calls == fail_at;
}

SEEN void *malloc(size_t size)
{
	return fails("memory") ? NULL : __libc_malloc(size);
}

SEEN void *calloc(size_t count, size_t size)
{
	return fails("memory") ? NULL : __libc_calloc(count, size);
}

SEEN void *realloc(void *pointer, size_t size)
{
	return fails("memory") ? NULL : __libc_realloc(pointer, size);
}

SEEN int dup2(int from, int to)
{
	int (*real)(int, int);
	/* POSIX allows it, ISO C has no way to write it. */
	*(void **)&real = dlsym(RTLD_NEXT, "dup2");
	if (!fails("dup2"))
		return real(from, to);
	errno = EBUSY;
	return -1;
}
