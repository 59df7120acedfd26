/* SPDX-License-Identifier: MIT */
/*
 * bench_gcdump FILE plain | FILE read WORKERS | CORE export WORKERS OUT: times work on .gcdump files in a
 * process of its own, and prints one "name value" a line: seconds, counts, bytes.
 *
 *	plain	decode all nodes and their references one after the other, in plain C, from the mapped
 *		file
 *	read	the file into a graph
 *	export	open a core and write it to the file OUT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/command.h>

#include "format/gcdump/gcdump.h"
#include "measure.h"
#include "mem/mapped_file.h"
#include "session/session_state.h"

/* A signed number in groups of 7 bits, the highest first. */
static int32_t number(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint32_t value = (uint32_t)((int32_t)((uint32_t)*p << 25) >> 25);
	while (*p & 0x80)
		value = value << 7 | (*++p & 0x7f);
	*at = p + 1;
	return (int32_t)value;
}

static void bench_plain(const char *path)
{
	struct mapped_file file = { .fd = -1 };
	struct gcdump gcdump = { 0 };
	struct hd_error err = { 0 };
	double start = seconds();
	check(mapped_file_open(path, &file, &err), &err);
	check(gcdump_parse(file.bytes, file.size, path, &gcdump, &err), &err);
	const uint8_t *at = gcdump.blob, *end = at + gcdump.blob_size;
	uint64_t nodes = 0, edges = 0, sum = 0;
	while (at < end) {
		int32_t type = number(&at);
		if (type & 1)
			sum += (uint64_t)number(&at);
		int32_t children = number(&at);
		edges += (uint32_t)children;
		while (children-- > 0)
			sum += (uint64_t)number(&at);
		sum += (uint64_t)type;
		nodes++;
	}
	for (uint32_t i = 0; i < gcdump.node_count; i++) {
		uint64_t address;
		memcpy(&address, gcdump.addresses + (size_t)i * 8, sizeof(address));
		sum ^= address;
	}
	printf("seconds %.6f\nnodes %" PRIu64 "\nedges %" PRIu64 "\nsum %" PRIu64 "\n",
	       seconds() - start, nodes, edges, sum);
	gcdump_deinit(&gcdump);
	mapped_file_close(&file);
}

static void bench_read(const char *path, const char *workers)
{
	struct job job = { .workers = (unsigned int)atoi(workers) };
	const struct format_options options = { .lenient = false };
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	double start = seconds();
	check(format_open(path, &options, &job, &graph, NULL, &err), &err);
	printf("seconds %.6f\nprivate %" PRIu64 "\n", seconds() - start, sampler_peak());
	printf("objects %" PRIu32 "\nreferences %" PRIu64 "\n", graph->object_count,
	       graph->forward.edge_count);
	graph_destroy(graph);
}

static int drop(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

static void bench_export(const char *core, const char *workers, const char *out)
{
	struct hd_session *session;
	struct hd_error err = { 0 };
	const char *const words[] = { "export", out, "-format", "gcdump" };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .write = drop };
	double start = seconds();
	check(hd_session_create(&session, &err), &err);
	check(hd_session_set(session, "workers", workers, &err), &err);
	check(hd_session_open(session, core, 0, NULL, &err), &err);
	if (hd_command_run(session, 4, words, &sink, &err) != HD_EXIT_OK) {
		(void)fprintf(stderr, "bench: export failed: %s\n", err.message);
		hd_session_destroy(session);
		return;
	}
	printf("seconds %.6f\nprivate %" PRIu64 "\n", seconds() - start, sampler_peak());
	hd_session_destroy(session);
}

int main(int argc, char **argv)
{
	sampler_start();
	if (argc == 3 && strcmp(argv[2], "plain") == 0) {
		bench_plain(argv[1]);
	} else if (argc == 4 && strcmp(argv[2], "read") == 0) {
		bench_read(argv[1], argv[3]);
	} else if (argc == 5 && strcmp(argv[2], "export") == 0) {
		bench_export(argv[1], argv[3], argv[4]);
	} else {
		(void)fprintf(stderr, "usage: bench_gcdump FILE plain | FILE read WORKERS | "
				      "CORE export WORKERS OUT\n");
		return 2;
	}
	sampler_stop();
	return 0;
}
