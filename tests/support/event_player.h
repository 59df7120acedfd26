/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/snapshot.h>

#include "support/nettrace_maker.h"

/** The events of a trace, which their bytes belong to. */
struct event_list {
	struct hd_snapshot_event *rows;
	size_t count, capacity;
	struct nt_stream stream;
};

/** Take a trace apart; leaves the test when it cannot be read. */
void event_list_read(struct event_list *list, const void *bytes, size_t size);
void event_list_deinit(struct event_list *list);

/** Give events [@p first, @p end) to a snapshot; the last status that is not HD_OK. */
enum hd_status event_list_play(const struct event_list *list, size_t first, size_t end,
			       struct hd_snapshot *snapshot);
/** The first event of the runtime with an id, at or after @p from; count: there is none. */
size_t event_list_find(const struct event_list *list, size_t from, uint32_t id);
