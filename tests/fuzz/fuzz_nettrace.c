/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/nettrace.h"
#include "mem/mapped_file.h"
#include "swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_MAX ((uint64_t)256 << 20)

static void read_trace(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	for (unsigned int kind = 0; kind < 4; kind++) {
		const struct format_options options = { .exact = kind & 1,
							.snapshot = kind & 2,
							.no_files = true };
		struct job job = { .workers = 1, .max_mem = MEMORY_MAX };
		struct hd_graph *graph = NULL;
		struct hd_error err;
		if (nettrace_read(fd, size, "fuzz", &options, &job, &graph, &err) == HD_OK)
			graph_destroy(graph);
	}
	(void)close(fd);
	struct job job = { .workers = 1, .max_mem = MEMORY_MAX };
	struct hd_error err;
	const struct mapped_file file = { .bytes = data, .size = size };
	if (nettrace_to_gcdump(&file, "fuzz", NULL, &job, swallow, NULL, &err) != HD_OK)
		return;
}

/* Payloads of events, each behind its id and its size, in blobs of a trace that is sound else. */
static void read_events(const uint8_t *data, size_t size)
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
	read_trace(trace, at + 4);
	free(trace);
}

/* Any bytes as a trace, and as the payloads of one: no crash, no hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 'N') {
		read_trace(data, size);
	} else {
		read_events(data, size);
	}
	return 0;
}
