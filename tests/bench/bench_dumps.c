/* SPDX-License-Identifier: MIT */
/*
 * bench_dumps FILE SINK FEW [two-first]: times, in one process, what a session does with a dump: opens it with
 * one worker and with two, asks twice what leads to SINK, once what leads to FEW (hexadecimal ids
 * that dump_maker names), and runs a plain breadth-first pass over the same reverse edges beside
 * it.  Prints one "name value" a line; seconds, bytes or counts.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analysis/graph/gcroot.h"
#include "format/format.h"
#include "graph/heap_graph.h"

#define SAMPLE_NANOSECONDS 2000000L
#define PLAIN_BUDGET       ((uint64_t)16 << 20)

static double seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Private memory of this process in bytes: resident pages that no file backs. */
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

/** Samples private_bytes() on a thread of its own and keeps the highest. */
struct sampler {
	pthread_t thread;
	_Atomic bool stop;
	_Atomic uint64_t peak;
};

static void *sample(void *arg)
{
	struct sampler *sampler = arg;
	while (!sampler->stop) {
		uint64_t now = private_bytes();
		if (now > sampler->peak)
			sampler->peak = now;
		(void)nanosleep(&(struct timespec){ .tv_nsec = SAMPLE_NANOSECONDS }, NULL);
	}
	return NULL;
}

static void sampler_start(struct sampler *sampler)
{
	sampler->stop = false;
	sampler->peak = 0;
	if (pthread_create(&sampler->thread, NULL, sample, sampler)) {
		(void)fprintf(stderr, "bench_dumps: cannot make a thread\n");
		exit(1);
	}
}

static uint64_t sampler_stop(struct sampler *sampler)
{
	uint64_t last = private_bytes();
	sampler->stop = true;
	(void)pthread_join(sampler->thread, NULL);
	return last > sampler->peak ? last : sampler->peak;
}

static void check(enum hd_status status, const struct hd_error *err)
{
	if (status == HD_OK)
		return;
	(void)fprintf(stderr, "bench_dumps: %s\n", err->message);
	exit(3);
}

static struct hd_graph *timed_open(const char *path, unsigned int workers, double *ret)
{
	struct job job = { .workers = workers };
	struct format_options options = { .lenient = false };
	struct hd_graph *graph;
	struct hd_error err;
	double start = seconds();
	check(format_open(path, &options, &job, &graph, NULL, &err), &err);
	*ret = seconds() - start;
	return graph;
}

static double timed_gcroot(struct hd_graph *graph, uint32_t target, unsigned int workers)
{
	struct job job = { .workers = workers };
	const struct gcroot_options options = { .all_weak = false };
	struct gcroot gcroot;
	struct hd_error err;
	double start = seconds();
	check(gcroot_init(graph, target, &options, &job, &gcroot, &err), &err);
	gcroot_deinit(&gcroot);
	return seconds() - start;
}

/* One node at a time, a queue and an array that says where each node was reached from. */
static double timed_plain_pass(const struct csr *reverse, uint32_t target, uint32_t *ret_visited)
{
	double start = seconds();
	uint32_t *from =
		calloc(reverse->node_count, sizeof(*from)); /* 0: not seen; else 1 + node */
	uint32_t *queue = calloc(reverse->node_count, sizeof(*queue));
	if (!from || !queue) {
		(void)fprintf(stderr, "bench_dumps: out of memory\n");
		exit(1);
	}
	uint32_t head = 0, tail = 0;
	queue[tail++] = target;
	from[target] = target + 1;
	while (head < tail) {
		uint32_t node = queue[head++];
		uint64_t end = csr_begin(reverse, node + 1);
		for (uint64_t i = csr_begin(reverse, node); i < end; i++) {
			uint32_t source = reverse->targets[i];
			if (from[source])
				continue;
			from[source] = node + 1;
			queue[tail++] = source;
		}
	}
	*ret_visited = tail;
	free(queue);
	free(from);
	return seconds() - start;
}

static uint32_t find(const struct hd_graph *graph, const char *id)
{
	uint32_t node = hd_graph_find(graph, strtoull(id, NULL, 16));
	if (node == HD_NONE) {
		(void)fprintf(stderr, "bench_dumps: no object %s in this dump\n", id);
		exit(2);
	}
	return node;
}

static uint64_t budget_of(const struct hd_graph *graph)
{
	uint64_t budget =
		PLAIN_BUDGET + 40 * (uint64_t)graph->object_count + 8 * graph->forward.edge_count;
	for (uint32_t i = 0; i < graph->type_count; i++)
		budget += graph->types[i].name_size;
	return budget;
}

static void bench_one_worker(char **argv)
{
	struct sampler sampler;
	double open_seconds;
	sampler_start(&sampler);
	struct hd_graph *graph = timed_open(argv[1], 1, &open_seconds);
	uint32_t sink = find(graph, argv[2]), few = find(graph, argv[3]);
	double first = timed_gcroot(graph, sink, 1);
	double second = timed_gcroot(graph, sink, 1);
	double few_seconds = timed_gcroot(graph, few, 1);
	uint64_t peak = sampler_stop(&sampler);

	const struct csr *reverse;
	struct hd_error err;
	check(graph_reverse(graph, NULL, &reverse, &err), &err);
	uint32_t sink_nodes, few_nodes;
	double plain = timed_plain_pass(reverse, sink, &sink_nodes);
	double few_plain = timed_plain_pass(reverse, few, &few_nodes);
	printf("objects %" PRIu32 "\nreferences %" PRIu64 "\nsink_nodes %" PRIu32
	       "\nfew_nodes %" PRIu32 "\n",
	       graph->object_count, graph->forward.edge_count, sink_nodes, few_nodes);
	printf("open1 %.6f\nfirst1 %.6f\nsecond %.6f\nplain_bfs %.6f\n", open_seconds, first,
	       second, plain);
	printf("few %.6f\nfew_bfs %.6f\n", few_seconds, few_plain);
	printf("peak1 %" PRIu64 "\nbudget %" PRIu64 "\n", peak, budget_of(graph));
	graph_destroy(graph);
}

static void bench_two_workers(char **argv)
{
	struct sampler sampler;
	double open_seconds;
	sampler_start(&sampler);
	struct hd_graph *graph = timed_open(argv[1], 2, &open_seconds);
	double first = timed_gcroot(graph, find(graph, argv[2]), 2);
	uint64_t peak = sampler_stop(&sampler);
	printf("open2 %.6f\nfirst2 %.6f\npeak2 %" PRIu64 "\n", open_seconds, first, peak);
	graph_destroy(graph);
}

int main(int argc, char **argv)
{
	bool two_first = argc == 5 && strcmp(argv[4], "two-first") == 0;
	if (argc != (two_first ? 5 : 4)) {
		(void)fprintf(stderr, "usage: bench_dumps FILE SINK FEW [two-first]\n");
		return 2;
	}
	/* The first to touch memory that the machine has not used yet may pay for it. */
	if (two_first)
		bench_two_workers(argv);
	bench_one_worker(argv);
	if (!two_first)
		bench_two_workers(argv);
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		printf("max_resident %ld\n", usage.ru_maxrss * 1024);
	return 0;
}
