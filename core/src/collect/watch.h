/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * Watches a process while we wait for it: it can walk its heap for a long time without sending a
 * byte.
 */
struct watch {
	int pid;         /**< 0: not known; then it counts as working all the time */
	bool is_stopped; /**< it is stopped, and has been for a while */
	uint64_t began;  /**< when we began to watch it, by collect_now_ms() */
	/* the other members are private; times are those of collect_now_ms() */
	uint64_t next_look, last_work, stopped_since, cpu_time;
};

struct watch watch_of(int pid, uint64_t now);

/** Look at the process, at most a few times a second. */
void watch_look(struct watch *watch, uint64_t now);

/** For how many milliseconds it has neither run nor waited for a processor. */
uint64_t watch_idle(const struct watch *watch, uint64_t now);
