/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <heapdump/snapshot.h>

#include "stopping.h"

/** The arguments of ICorProfilerCallback10::EventPipeEventDelivered; borrowed. */
struct delivered {
	uintptr_t provider;
	uint32_t id, version;
	const uint8_t *metadata;
	size_t metadata_size;
	const uint8_t *payload;
	size_t size;
};

/**
 * Let the runtime send the events of one walk over the heap to this profiler, by an EventPipe session of its own.
 *
 * @param[in] stop Ends the work early.
 * @return NULL, or why there is nothing
 */
const char *events_way(struct hd_snapshot *snapshot, const struct stopping *stop);

/** The callback: of any thread, also while the program stands still. */
void events_way_deliver(const struct delivered *event);
