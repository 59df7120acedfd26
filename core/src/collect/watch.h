/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_WATCH_H
#define HEAPDUMP_SRC_COLLECT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/** What a process does while it is waited for: its heap is walked without a byte being sent. */
struct watch {
	int pid;         /**< 0: not known, it seems to work for ever */
	bool is_stopped; /**< it stands still, and has for a while */
	/* the rest is its own; times are those of collect_now_ms() */
	uint64_t next_look, last_work, stopped_since, cpu_time;
};

struct watch watch_of(int pid, uint64_t now);

/** Look at it, a few times a second at most. */
void watch_look(struct watch *watch, uint64_t now);

/** For how many milliseconds it has neither run nor waited for a processor. */
uint64_t watch_idle(const struct watch *watch, uint64_t now);

#endif
