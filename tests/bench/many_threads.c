/* SPDX-License-Identifier: MIT */
/*
 * many_threads N [churn]: a program of N threads that wait. It says READY when all of them are there. With churn four of them
 * begin other threads all the time, which end at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK    ((size_t)32 << 10)
#define CHURNING 4

static void *wait_for_ever(void *arg)
{
	for (;;)
		(void)pause();
	return arg;
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void *begin_others(void *arg)
{
	for (;;) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			(void)pthread_join(thread, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	long count = argc >= 2 ? strtol(argv[1], NULL, 10) : 0;
	long busy = argc == 3 ? CHURNING : 0;
	pthread_attr_t small;
	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, STACK);
	for (long i = 1; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &small, i <= busy ? begin_others : wait_for_ever,
				   NULL) != 0) {
			(void)fprintf(stderr, "only %ld threads\n", i);
			return 1;
		}
	}
	(void)puts("READY");
	(void)fflush(stdout);
	(void)wait_for_ever(NULL);
	return 0;
}
