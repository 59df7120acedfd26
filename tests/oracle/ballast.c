/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD of a .NET program: gives it BALLAST_MB megabytes of native memory that it never uses, mixed with
 * what it allocates itself.  A third is chunks of 64 kB, one after every other of its first allocations; a third
 * chunks of 4 MB, each a mapping of its own that the kernel merges with its neighbours; a third is there
 * before the program begins.  Every page is touched.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* The C library's own, below what stands before it here. */
extern void *__libc_malloc(size_t size);

#define SMALL ((size_t)64 << 10)
#define LARGE ((size_t)4 << 20)

static _Atomic int64_t small_left;
static int64_t large_left;
static _Atomic unsigned int calls;

/* Words that look like addresses, on every page. */
static void add(size_t size)
{
	uint64_t *words = __libc_malloc(size);
	for (size_t i = 0; words && i + 512 <= size / sizeof(*words); i += 256)
		words[i] = (uintptr_t)&words[i + 256];
}

static bool take_small(void)
{
	return atomic_load(&small_left) > 0 && atomic_fetch_sub(&small_left, (int64_t)SMALL) > 0;
}

void *malloc(size_t size);
void *malloc(size_t size)
{
	void *ptr = __libc_malloc(size);
	if (atomic_fetch_add(&calls, 1) % 2 == 0 && take_small())
		add(SMALL);
	return ptr;
}

/* The large ones while the program maps its own memory; then what it had too few allocations for. */
static void *add_large(void *arg)
{
	for (; large_left > 0; large_left -= (int64_t)LARGE) {
		add(LARGE);
		(void)usleep(1000);
	}
	while (take_small())
		add(SMALL);
	for (;;)
		(void)pause();
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;
	const char *text = getenv("BALLAST_MB");
	int64_t third = text ? (int64_t)atoll(text) * ((int64_t)1 << 20) / 3 : 0;
	for (int64_t done = 0; done < third; done += (int64_t)SMALL)
		add(SMALL);
	atomic_store(&small_left, third);
	large_left = third;
	if (third)
		(void)pthread_create(&thread, NULL, add_large, NULL);
}
