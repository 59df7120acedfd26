/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/command/session/event_snapshot.c core/src/format/nettrace/nettrace_gather.c
 * core/src/format/nettrace/nettrace_write.c
 */
#include <stdlib.h>
#include <string.h>

#include <heapdump/snapshot.h>

#include "linear.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte: how the events are given. */
#define PLAY_BACKWARDS 1u
#define PLAY_TWICE     2u
#define LITTLE_MEMORY  4u
#define WRITE_TRACE    8u /* else a .gcdump */
#define POINTERS_OF_4  16u

#define EVENTS_MAX 512u

struct fuzz_event {
	const uint8_t *at; /* its number among the ids, its size, its payload */
	size_t size;       /* of the payload */
};

static int swallow_answer(void *arg, const char *bytes, size_t size)
{
	*(uint64_t *)arg += size;
	return bytes ? 0 : 1;
}

static size_t split_events(const uint8_t *data, size_t size, struct fuzz_event *ret)
{
	size_t count = 0;
	while (size > 2 && count < EVENTS_MAX) {
		size_t some = data[1] < size - 2 ? data[1] : size - 2;
		ret[count++] = (struct fuzz_event){ data, some };
		data += 2 + some;
		size -= 2 + some;
	}
	return count;
}

static void give(struct hd_snapshot *snapshot, const struct fuzz_event *from)
{
	static const uint8_t ids[] = { 1, 2, 15, 16, 17, 18, 19, 23, 36, 37, 38, 152 };
	uint8_t metadata[26] = { ids[from->at[0] % sizeof(ids)] };
	const struct hd_snapshot_event event = { .struct_size = sizeof(event),
						 .provider = "Microsoft-Windows-DotNETRuntime",
						 .id = metadata[0],
						 .payload = from->at + 2,
						 .size = from->size,
						 .metadata = metadata,
						 .metadata_size = sizeof(metadata),
						 .thread = 1 + from->at[0] / 128u,
						 .time = from->at[1] };
	(void)!hd_snapshot_event(snapshot, &event, NULL);
}

static void finish(struct hd_snapshot *snapshot, const char *format)
{
	uint64_t written = 0;
	const struct hd_sink sink = {
		.struct_size = sizeof(sink), .arg = &written, .write = swallow_answer, .binary = 1
	};
	struct hd_snapshot_state state = { .struct_size = sizeof(state) };
	enum hd_status status = hd_snapshot_finish(snapshot, NULL, format, &sink, NULL);
	if (hd_snapshot_state(snapshot, &state) != 0)
		abort();
	if ((status == HD_OK && !written) ||
	    (state.is_complete && (state.lost || state.strays || !state.has_ended)))
		abort();
}

/* The first byte: how; then events, in this order or backwards: no crash, no hang, nothing that is not true. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_event events[EVENTS_MAX];
	if (!size)
		return 0;
	const unsigned int how = data[0];
	const struct hd_snapshot_options options = { .struct_size = sizeof(options),
						     .max_memory = how & LITTLE_MEMORY
									   ? 16384
									   : (uint64_t)64 << 20,
						     .pointer_size = how & POINTERS_OF_4 ? 4 : 8,
						     .no_files = 1,
						     .keep_trace = 1 };
	const struct linear linear = linear_begin(size);
	struct hd_snapshot *snapshot = NULL;
	if (hd_snapshot_create(&options, &snapshot, NULL) != HD_OK)
		abort();
	size_t count = split_events(data + 1, size - 1, events);
	for (unsigned int round = 0; round < (how & PLAY_TWICE ? 2u : 1u); round++) {
		for (size_t i = 0; i < count; i++)
			give(snapshot, &events[how & PLAY_BACKWARDS ? count - 1 - i : i]);
	}
	finish(snapshot, how & WRITE_TRACE ? "nettrace" : "gcdump");
	hd_snapshot_destroy(snapshot);
	linear_end(&linear, "hd_snapshot");
	return 0;
}
