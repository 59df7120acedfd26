/* SPDX-License-Identifier: MIT */
/*
 * bench_heap CORE WHAT WORKERS: times one thing in a process of its own, so that each pays for its
 * own page faults, and prints one "name value" a line: seconds from before the core is opened,
 * objects, and the peak of private memory in bytes.  WHAT is
 *
 *	read	a plain C loop over all bytes of the heap, opening not counted
 *	stat	open, and dumpheap -stat
 *	verify	open, and verifyheap
 *	eeheap	open, and eeheap
 *	graph	open, and the graph that gcroot and its like work on
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/command.h>

#include "gc/heap.h"
#include "measure.h"
#include "snapshot/snapshot.h"

#define TAIL_SIZE 256u

/* The end of an answer: what it counted stands there. */
struct tail {
	char bytes[TAIL_SIZE];
	size_t size;
};

static int keep_tail(void *arg, const char *text, size_t size)
{
	struct tail *tail = arg;
	size_t keep = size < TAIL_SIZE ? size : TAIL_SIZE;
	size_t old = tail->size < TAIL_SIZE - keep ? tail->size : TAIL_SIZE - keep;
	memmove(tail->bytes, tail->bytes + (tail->size - old), old);
	memcpy(tail->bytes + old, text + (size - keep), keep);
	tail->size = old + keep;
	return 0;
}

/* The number with thousands separators before the last " objects", or 0. */
static uint64_t objects_of(const struct tail *tail)
{
	static const char word[] = " objects";
	const size_t length = sizeof(word) - 1;
	size_t at = tail->size < length ? 0 : tail->size - length;
	while (at > 0 && memcmp(tail->bytes + at, word, length) != 0)
		at--;
	uint64_t value = 0, unit = 1;
	for (; at > 0; at--) {
		char c = tail->bytes[at - 1];
		if (c >= '0' && c <= '9') {
			value += unit * (uint64_t)(c - '0');
			unit *= 10;
		} else if (c != ',') {
			break;
		}
	}
	return value;
}

static void bench_command(const char *core, const char *workers, int argc, const char *const *argv)
{
	struct hd_session *session;
	struct hd_error err = { 0 };
	struct tail tail = { .size = 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .arg = &tail,
				      .write = keep_tail };
	double start = seconds();
	check(hd_session_create(&session, &err), &err);
	check(hd_session_set(session, "workers", workers, &err), &err);
	check(hd_session_open(session, core, 0, NULL, &err), &err);
	int status = hd_command_run(session, argc, argv, &sink, &err);
	double end = seconds();
	(void)sampler_peak();
	if (status != HD_EXIT_OK) {
		(void)fprintf(stderr, "bench_heap: %s ended with %d: %s\n", argv[0], status,
			      err.message);
		exit(3);
	}
	printf("seconds %.6f\nobjects %" PRIu64 "\n", end - start, objects_of(&tail));
	hd_session_destroy(session);
}

/* The heap of a core, opened without a session. */
struct opened {
	struct target *target;
	struct runtime *runtime;
	struct heap *heap;
	struct job job;
};

static void open_heap(struct opened *opened, const char *core, unsigned int workers)
{
	const struct target_options options = { .max_mem = 0 };
	struct hd_error err;
	*opened = (struct opened){ .job = { .workers = workers } };
	check(target_open_core(core, &options, &opened->job, &opened->target, &err), &err);
	check(runtime_open(opened->target, &opened->job, &opened->runtime, &err), &err);
	check(heap_open(opened->runtime, &opened->heap, &err), &err);
}

static void close_heap(struct opened *opened)
{
	heap_destroy(opened->heap);
	runtime_destroy(opened->runtime);
	target_destroy(opened->target);
}

/* Each word of the bytes that a heap walk goes over, once. */
static void bench_read(const char *core)
{
	struct opened opened;
	open_heap(&opened, core, 1);
	const struct heap *heap = opened.heap;
	uint64_t bytes = 0, sum = 0;
	double start = seconds();
	for (size_t i = 0; i < heap->segment_count; i++) {
		uint64_t at = heap->segments[i].begin, end = heap->segments[i].end;
		while (at < end) {
			uint64_t size;
			const uint8_t *run = memory_run(heap->memory, at, &size);
			if (!run) {
				(void)fprintf(stderr, "bench_heap: the heap is not mapped\n");
				exit(3);
			}
			if (size > end - at)
				size = end - at;
			for (uint64_t k = 0; k + 8 <= size; k += 8)
				sum += load_u64(run + k);
			bytes += size;
			at += size;
		}
	}
	double finish = seconds();
	printf("seconds %.6f\nbytes %" PRIu64 "\nsum %" PRIx64 "\n", finish - start, bytes, sum);
	close_heap(&opened);
}

static void bench_graph(const char *core, unsigned int workers)
{
	struct opened opened;
	struct hd_graph *graph;
	struct hd_error err;
	double start = seconds();
	open_heap(&opened, core, workers);
	check(snapshot_create(opened.heap, NULL, &opened.job, &graph, &err), &err);
	double end = seconds();
	(void)sampler_peak();
	printf("seconds %.6f\nobjects %" PRIu32 "\nreferences %" PRIu64 "\n", end - start,
	       graph->object_count, graph->forward.edge_count);
	graph_destroy(graph);
	close_heap(&opened);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		(void)fprintf(stderr, "usage: bench_heap CORE read|stat|verify|eeheap|graph "
				      "WORKERS\n");
		return 2;
	}
	const char *core = argv[1], *what = argv[2], *workers = argv[3];
	sampler_start();
	if (strcmp(what, "read") == 0) {
		bench_read(core);
	} else if (strcmp(what, "graph") == 0) {
		bench_graph(core, (unsigned int)strtoul(workers, NULL, 10));
	} else if (strcmp(what, "stat") == 0) {
		bench_command(core, workers, 2, (const char *const[]){ "dumpheap", "-stat" });
	} else if (strcmp(what, "verify") == 0) {
		bench_command(core, workers, 1, (const char *const[]){ "verifyheap" });
	} else if (strcmp(what, "eeheap") == 0) {
		bench_command(core, workers, 2, (const char *const[]){ "eeheap", "-gc" });
	} else {
		(void)fprintf(stderr, "bench_heap: no such thing to measure: %s\n", what);
		return 2;
	}
	printf("private %" PRIu64 "\n", sampler_peak());
	sampler_stop();
	return 0;
}
