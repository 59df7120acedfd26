/* SPDX-License-Identifier: MIT */
/* many_threads N: a program of N threads that wait. It says READY when all of them are there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK ((size_t)32 << 10)

static void *wait_for_ever(void *arg)
{
	for (;;)
		(void)pause();
	return arg;
}

int main(int argc, char **argv)
{
	long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	pthread_attr_t small;
	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, STACK);
	for (long i = 1; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, &small, wait_for_ever, NULL) != 0) {
			(void)fprintf(stderr, "only %ld threads\n", i);
			return 1;
		}
	}
	(void)puts("READY");
	(void)fflush(stdout);
	(void)wait_for_ever(NULL);
	return 0;
}
