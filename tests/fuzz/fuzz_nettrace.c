/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/format/nettrace/nettrace.c core/src/format/nettrace/nettrace_stream.c
 * core/src/format/nettrace/nettrace_blob.c core/src/format/nettrace/nettrace_v6.c
 * core/src/format/nettrace/nettrace_snapshot.c core/src/format/nettrace/nettrace_graph.c
 * core/src/format/nettrace/nettrace_nodes.c
 * core/src/format/nettrace/nettrace_roots.c core/src/format/nettrace/nettrace_types.c
 * core/src/format/nettrace/nettrace_exact.c
 * core/src/format/nettrace/nettrace_exact_types.c
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/nettrace/nettrace.h"
#include "linear.h"
#include "mem/mapped_file.h"
#include "swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_MAX ((uint64_t)256 << 20)

/* Bits of the first byte: how the trace is read. */
#define READ_EXACT    1u
#define READ_SECOND   2u /* the second snapshot of it */
#define READ_GCDUMP   4u /* or: made a .gcdump of */
#define READ_PAYLOADS 8u /* the others are payloads of events, not a trace */

static void read_trace(unsigned int how, const uint8_t *data, size_t size)
{
	struct job job = { .workers = 1, .max_mem = MEMORY_MAX };
	struct hd_error err;
	if (how & READ_GCDUMP) {
		const struct mapped_file file = { .bytes = data, .size = size };
		(void)!nettrace_to_gcdump(&(struct dump_input){ .path = "fuzz",
								.bytes = file.bytes,
								.size = file.size },
					  NULL, &job, swallow, NULL, &err);
		return;
	}
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	const struct format_options options = { .exact = how & READ_EXACT,
						.snapshot = how & READ_SECOND,
						.no_files = true };
	struct hd_graph *graph = NULL;
	const struct linear linear = linear_begin(size);
	if (nettrace_read(&(struct dump_input){ .path = "fuzz", .fd = fd, .size = size }, &options,
			  &job, &graph, &err) == HD_OK)
		graph_destroy(graph);
	linear_end(&linear, "nettrace_read");
	(void)close(fd);
}

/* Payloads of events, each after its id and its size, in blobs of a trace that is sound else. */
static void read_events(unsigned int how, const uint8_t *data, size_t size)
{
	static const uint8_t head[] = "Nettrace\0\0\0\0\6\0\0\0\0\0\0\0"
				      "\x28\0\0\1" /* trace: 40 bytes */
				      "\xea\7\2\0\0\0\1\0\0\0\0\0\0\0\0\0"
				      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0";
	static const char provider[] = "Microsoft-Windows-DotNETRuntime";
	static const uint8_t ids[] = { 1, 2, 15, 16, 17, 18, 19, 23, 36, 37, 38, 152 };
	uint8_t *trace = calloc(1, 4096 + 16 * size);
	if (!trace)
		abort();
	size_t at = sizeof(head) - 1;
	memcpy(trace, head, at);
	size_t block = at;
	at += 6; /* size of the block, of its header */
	for (size_t i = 0; i < sizeof(ids); i++) {
		size_t row = at;
		at += 2;
		trace[at++] = (uint8_t)(i + 1);
		trace[at++] = sizeof(provider) - 1;
		memcpy(trace + at, provider, sizeof(provider) - 1);
		at += sizeof(provider) - 1;
		trace[at++] = ids[i]; /* LEB128: from 128 on it goes on */
		if (ids[i] > 127)
			trace[at++] = 1;
		at += 5; /* no name, no fields, no options */
		trace[row] = (uint8_t)(at - row - 2);
	}
	size_t length = at - block - 4;
	memcpy(trace + block, &length, 3);
	trace[block + 3] = 3;
	block = at;
	trace[at + 4] = 20; /* header size, flags: compressed */
	trace[at + 6] = 1;
	at += 24;
	while (size > 2 && at - block < 0xff0000) {
		size_t some = data[1] < size - 2 ? data[1] : size - 2;
		trace[at++] = 1 | 0x80;
		trace[at++] = (uint8_t)(1 + data[0] % sizeof(ids));
		trace[at++] = 1; /* time */
		trace[at++] = (uint8_t)(some | 0x80);
		trace[at++] = (uint8_t)(some >> 7);
		memcpy(trace + at, data + 2, some);
		at += some;
		data += 2 + some;
		size -= 2 + some;
	}
	length = at - block - 4;
	memcpy(trace + block, &length, 3);
	trace[block + 3] = 2;
	read_trace(how, trace, at + 4);
	free(trace);
}

/* The first byte: how; then any bytes as a trace, or as the payloads of one: no crash, no hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & READ_PAYLOADS) {
		read_events(data[0], data + 1, size - 1);
	} else {
		read_trace(data[0], data + 1, size - 1);
	}
	return 0;
}
