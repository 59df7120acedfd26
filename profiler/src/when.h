/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GROWTH_MOST    1000u
#define SIGNAL_DEFAULT 6 /* "signal": SIGRTMIN and this; SIGRTMIN+0 is the runtime's own */

/** The events that lead to a snapshot. */
struct when {
	bool at_exit;         /**< the program ends */
	bool at_oom;          /**< the first OutOfMemoryException is thrown */
	int signal;           /**< this signal; 0: no signal */
	uint64_t rss_bytes;   /**< more resident memory than this; 0: does not matter */
	unsigned rss_percent; /**< the same, a share of the limit */
	uint64_t heap_bytes;  /**< a larger heap than this after a collection; 0: does not matter */
	unsigned
		growth; /**< so many full collections, each with a larger heap; 0: does not matter */
	bool at_high;   /**< the kernel has held the cgroup back at memory.high */
	unsigned
		pressure_percent; /**< a larger share of time that tasks wait for memory; 0: does not matter */
	unsigned seconds; /**< this time has passed; 0: does not matter */
};

/** For a line about something that is wrong. */
struct when_source {
	const char *name;    /**< where it is, such as "HEAPDUMP_WHEN" */
	const char *outcome; /**< what happens then, such as "nothing is done" */
};

/**
 * Read a text: "signal", "signal:N", "rss>80%", "rss>500M", "heap>500M", "growth:5", "high", "pressure>20%", "every
 * 1h", "exit", "oom", joined by commas; each at most once.
 *
 * @return false when it is something else, which is said in one line on standard error
 */
bool when_parse(const char *text, const struct when_source *source, struct when *ret);

/** The signal that a text asks for, also when other words of it are wrong; 0: none. */
int when_signal(const char *text);
