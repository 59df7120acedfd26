/* SPDX-License-Identifier: MIT */
/*
 * bench_roots CORE mark | CORE gcroot WORKERS TARGET | CORE session WORKERS TARGET...: times
 * questions about roots in a process of its own, and prints one "name value" a line: seconds,
 * counts, bytes.  TARGET is an address in hexadecimal.
 *
 *	mark	mark all from the roots over the mapped heap, in plain C; reading the roots is not
 *		counted
 *	gcroot	open, and gcroot of the target
 *	session	the same of the first target; then of each target gcroot, objsize and retained, and
 *		beside them plain breadth-first passes over the same arrays
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/command.h>

#include "graph/csr.h"
#include "graph/heap_graph.h"
#include "measure.h"
#include "plain_mark.h"
#include "session/session_state.h"

static int drop(void *arg, const char *text, size_t size)
{
	(void)text;
	*(uint64_t *)arg += size;
	return 0;
}

static void open_session(struct hd_session **ret, const char *core, const char *workers)
{
	struct hd_error err = { 0 };
	check(hd_session_create(ret, &err), &err);
	check(hd_session_set(*ret, "workers", workers, &err), &err);
	check(hd_session_open(*ret, core, 0, NULL, &err), &err);
}

/* Seconds that a command about one object takes; @p option may be NULL. */
static double timed(struct hd_session *session, const char *command, const char *target,
		    const char *option)
{
	uint64_t written = 0;
	const char *const words[] = { command, target, option };
	struct hd_error err = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &written, .write = drop };
	double start = seconds();
	int status = hd_command_run(session, option ? 3 : 2, words, &sink, &err);
	double end = seconds();
	if (status != HD_EXIT_OK || !written) {
		(void)fprintf(stderr, "bench: %s %s ended with %d: %s\n", command, target, status,
			      err.message);
		exit(3);
	}
	return end - start;
}

/* A plain pass over @p csr, breadth first, that remembers where each node was met from. */
static double plain_pass(const struct csr *csr, uint32_t from, uint32_t *ret_visited)
{
	double start = seconds();
	uint32_t *before =
		calloc(csr->node_count, sizeof(*before)); /* 0: not seen; else 1 + node */
	uint32_t *queue = calloc(csr->node_count, sizeof(*queue));
	if (!before || !queue) {
		(void)fprintf(stderr, "bench: out of memory\n");
		exit(1);
	}
	uint32_t head = 0, tail = 0;
	queue[tail++] = from;
	before[from] = from + 1;
	while (head < tail) {
		uint32_t node = queue[head++];
		uint64_t end = csr_begin(csr, node + 1);
		for (uint64_t i = csr_begin(csr, node); i < end; i++) {
			uint32_t next = csr->targets[i];
			if (before[next])
				continue;
			before[next] = node + 1;
			queue[tail++] = next;
		}
	}
	*ret_visited = tail;
	free(queue);
	free(before);
	return seconds() - start;
}

static void bench_mark(const char *core)
{
	struct hd_session *session;
	struct hd_error err = { 0 };
	struct job job = { .workers = 1 };
	const struct root_set *roots;
	open_session(&session, core, "1");
	check(session_roots(session, false, &job, &roots, &err), &err);
	double start = seconds();
	uint64_t marked = plain_mark(session->heap, roots);
	printf("seconds %.6f\nmarked %" PRIu64 "\n", seconds() - start, marked);
	hd_session_destroy(session);
}

static struct hd_session *bench_gcroot(const char *core, const char *workers, const char *target)
{
	struct hd_session *session;
	double start = seconds();
	open_session(&session, core, workers);
	(void)timed(session, "gcroot", target, NULL);
	printf("seconds %.6f\nprivate %" PRIu64 "\n", seconds() - start, sampler_peak());
	printf("objects %" PRIu32 "\n", session->graph->object_count);
	return session;
}

static void bench_session(const char *core, const char *workers, int count, char **targets)
{
	struct hd_session *session = bench_gcroot(core, workers, targets[0]);
	const struct hd_graph *graph = session->graph;
	printf("references %" PRIu64 "\n", hd_graph_reference_count(graph));
	for (int i = 0; i < count; i++) {
		uint32_t node = hd_graph_find(graph, strtoull(targets[i], NULL, 16)), visited;
		printf("gcroot%d %.6f\n", i, timed(session, "gcroot", targets[i], NULL));
		printf("gcroot_plain%d %.6f\n", i, plain_pass(&graph->reverse, node, &visited));
		printf("gcroot_nodes%d %" PRIu32 "\n", i, visited);
		printf("objsize%d %.6f\n", i, timed(session, "objsize", targets[i], "-stat"));
		printf("objsize_plain%d %.6f\n", i, plain_pass(&graph->forward, node, &visited));
		printf("objsize_nodes%d %" PRIu32 "\n", i, visited);
	}
	printf("retained_first %.6f\n", timed(session, "retained", targets[0], NULL));
	for (int i = 0; i < count; i++)
		printf("retained%d %.6f\n", i, timed(session, "retained", targets[i], NULL));
	printf("private_retained %" PRIu64 "\n", sampler_peak());
	hd_session_destroy(session);
}

int main(int argc, char **argv)
{
	sampler_start();
	if (argc == 3 && strcmp(argv[2], "mark") == 0) {
		bench_mark(argv[1]);
	} else if (argc == 5 && strcmp(argv[2], "gcroot") == 0) {
		hd_session_destroy(bench_gcroot(argv[1], argv[3], argv[4]));
	} else if (argc >= 5 && strcmp(argv[2], "session") == 0) {
		bench_session(argv[1], argv[3], argc - 4, argv + 4);
	} else {
		(void)fprintf(stderr, "usage: bench_roots CORE mark | CORE gcroot WORKERS TARGET | "
				      "CORE session WORKERS TARGET...\n");
		return 2;
	}
	sampler_stop();
	return 0;
}
