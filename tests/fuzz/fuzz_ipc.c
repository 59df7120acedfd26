/* SPDX-License-Identifier: MIT */
/* covers: core/src/collect/ipc.c core/src/collect/stream_scan.c */
#include <stdlib.h>
#include <string.h>

#include "collect/ipc.h"
#include "collect/stream_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_replies(const uint8_t *data, size_t size)
{
	struct ipc_advertise advertise;
	struct text version = { 0 };
	size_t reply = 0;
	bool is_error = false;
	if (size >= IPC_HEADER_SIZE && ipc_parse_reply(data, &reply, &is_error, NULL) == HD_OK &&
	    (reply < IPC_HEADER_SIZE || reply > UINT16_MAX))
		abort();
	if (size >= IPC_ADVERTISE_SIZE)
		(void)ipc_parse_advertise(data, &advertise);
	(void)ipc_parse_runtime_version(data, size, &version);
	text_deinit(&version);
}

/* Scan the bytes in pieces of @p step bytes. */
static struct stream_scan scan_by(const uint8_t *data, size_t size, size_t step)
{
	struct stream_scan scan = { 0 };
	for (size_t at = 0; at < size; at += step) {
		if (!stream_scan_feed(&scan, data + at, size - at < step ? size - at : step))
			break;
	}
	struct stream_scan seen = scan;
	stream_scan_deinit(&scan);
	return seen;
}

/*
 * The first byte: 0 a reply, else a stream that arrives in pieces of that many bytes, and has to
 * give the same as in one.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == 0) {
		fuzz_replies(data + 1, size - 1);
	} else {
		struct stream_scan whole = scan_by(data + 1, size - 1, size);
		struct stream_scan parts = scan_by(data + 1, size - 1, data[0]);
		if (whole.state != parts.state ||
		    whole.snapshot.objects != parts.snapshot.objects ||
		    whole.snapshot.references != parts.snapshot.references ||
		    whole.snapshot.is_done != parts.snapshot.is_done ||
		    whole.snapshot.is_lost != parts.snapshot.is_lost ||
		    whole.snapshot.event_count != parts.snapshot.event_count)
			abort();
	}
	return 0;
}
