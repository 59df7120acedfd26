/* SPDX-License-Identifier: MIT */
/*
 * snapshot_events DUMP: the heap snapshot out of single events, as a profiler gets them from
 * ICorProfilerCallback10::EventPipeEventDelivered.  Here they come from standard input, one after the other: the sizes
 * and numbers of struct event_head, the provider's name, the metadata, the payload.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <heapdump/heapdump.h>

struct event_head {
	uint32_t provider_size, id, version, metadata_size, payload_size;
	uint64_t thread, time;
};

/* What EventPipeEventDelivered would do with its parameters. */
static void event_delivered(struct hd_snapshot *snapshot, const struct event_head *head,
			    char *bytes)
{
	char *metadata = bytes + head->provider_size + 1;
	const struct hd_snapshot_event event = { .struct_size = sizeof(event),
						 .provider = bytes,
						 .id = head->id,
						 .version = head->version,
						 .metadata = metadata,
						 .metadata_size = head->metadata_size,
						 .payload = metadata + head->metadata_size,
						 .size = head->payload_size,
						 .thread = head->thread };
	struct hd_error err;
	if (hd_snapshot_event(snapshot, &event, &err) != HD_OK)
		fprintf(stderr, "%s\n", err.message); /* it is counted as lost, too */
}

static size_t read_u32s(uint32_t *ret, size_t count)
{
	return fread(ret, sizeof(*ret), count, stdin);
}

/* The next event; 0: there is none. */
static int next_event(struct hd_snapshot *snapshot)
{
	struct event_head head;
	uint64_t ids[2];
	if (read_u32s(&head.provider_size, 5) != 5 || fread(ids, sizeof(ids), 1, stdin) != 1)
		return 0;
	head.thread = ids[0];
	size_t rest = (size_t)head.metadata_size + head.payload_size;
	char *bytes = calloc(1, head.provider_size + 1 + rest);
	int has_event = bytes && fread(bytes, 1, head.provider_size, stdin) == head.provider_size &&
			fread(bytes + head.provider_size + 1, 1, rest, stdin) == rest;
	if (has_event)
		event_delivered(snapshot, &head, bytes);
	free(bytes);
	return has_event;
}

int main(int argc, char **argv)
{
	const struct hd_snapshot_options options = { .struct_size = sizeof(options),
						     .max_memory = (uint64_t)256 << 20,
						     .no_files = 1,
						     .keep_trace = 1 };
	struct hd_snapshot_state state = { .struct_size = sizeof(state) };
	struct hd_snapshot *snapshot = NULL;
	struct hd_error err = { .message = "one word: DUMP" };
	int failed = argc != 2 || hd_snapshot_create(&options, &snapshot, &err) != HD_OK;
	while (!failed && next_event(snapshot))
		; /* a profiler stops its session when hd_snapshot_state() says has_ended */
	if (failed || hd_snapshot_finish(snapshot, argv[1], NULL, NULL, &err) != HD_OK ||
	    hd_snapshot_state(snapshot, &state) != 0) {
		fprintf(stderr, "%s\n", err.message);
		failed = 1;
	} else {
		printf("%s: %" PRIu64 " objects, %" PRIu64 " references, %" PRIu64 " roots%s\n",
		       argv[1], state.objects, state.references, state.roots,
		       state.is_complete ? "" : ", incomplete");
	}
	hd_snapshot_destroy(snapshot);
	return failed;
}
