/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_NANOSECONDS 2000000L

static _Atomic bool stop_sampling;
static _Atomic uint64_t peak;
static pthread_t sampler;

double seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t private_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	char line[128];
	if (!file)
		return 0;
	char *got = fgets(line, sizeof(line), file);
	(void)fclose(file);
	if (!got)
		return 0;
	char *end;
	(void)strtoull(line, &end, 10);
	uint64_t resident = strtoull(end, &end, 10);
	uint64_t shared = strtoull(end, &end, 10);
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void sample(void)
{
	uint64_t now = private_bytes();
	if (now > peak)
		peak = now;
}

static void *sampler_main(void *arg)
{
	while (!stop_sampling) {
		sample();
		(void)nanosleep(&(struct timespec){ .tv_nsec = SAMPLE_NANOSECONDS }, NULL);
	}
	return arg;
}

void sampler_start(void)
{
	if (pthread_create(&sampler, NULL, sampler_main, NULL)) {
		(void)fprintf(stderr, "bench: cannot make a thread\n");
		exit(1);
	}
}

uint64_t sampler_peak(void)
{
	sample();
	return peak;
}

void sampler_stop(void)
{
	stop_sampling = true;
	(void)pthread_join(sampler, NULL);
}

void check(enum hd_status status, const struct hd_error *err)
{
	if (status == HD_OK)
		return;
	(void)fprintf(stderr, "bench: %s\n", err->message);
	exit(3);
}
