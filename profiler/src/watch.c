/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <limits.h>
#include <time.h>

#include "gc_watch.h"
#include "memory_use.h"
#include "write_line.h"

#define LOOK_INTERVAL 100u   /* milliseconds between two looks at memory */
#define HIGH_LASTS    10000u /* milliseconds */
#define LIMIT_LASTS   5000u  /* milliseconds until the limit is read again */

uint64_t watch_now(void)
{
	struct timespec now;
	return clock_gettime(CLOCK_MONOTONIC, &now) == 0
		       ? (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000
		       : 0;
}

/* The limit may change, and the process may come into another cgroup. */
static void find_threshold(struct watch *watch, uint64_t now)
{
	const struct when *when = watch->when;
	if (!when->rss_percent || now < watch->limit_until)
		return;
	const uint64_t share = memory_limit() / 100 * when->rss_percent;
	watch->limit_until = now + LIMIT_LASTS;
	watch->rss.threshold = when->rss_bytes && when->rss_bytes < share ? when->rss_bytes : share;
}

/* So many collections, and one more, are growth. */
static uint64_t growth_threshold(const struct when *when)
{
	return when->growth ? when->growth - 1 : 0;
}

void watch_init(struct watch *watch, const struct when *when)
{
	*watch = (struct watch){ .when = when,
				 .rss = { .threshold = when->rss_bytes },
				 .heap = { .threshold = when->heap_bytes },
				 .growth = { .threshold = growth_threshold(when) },
				 .pressure = { .threshold = when->pressure_percent } };
	watch->next = watch_now() + (uint64_t)when->seconds * 1000;
	find_threshold(watch, watch_now());
	uint64_t ignored;
	if (when->at_high && !memory_high_events(&watch->high_events))
		write_line("the memory.events of a cgroup cannot be read: high will not be seen");
	if (when->pressure_percent && !memory_pressure(&ignored))
		write_line("the kernel does not tell about pressure: it will not be seen");
}

int watch_timeout(const struct watch *watch)
{
	uint64_t timeout = UINT64_MAX, now = watch_now();
	if (watch->rss.threshold || watch->heap.threshold || watch->pressure.threshold ||
	    watch->when->at_high || watch->when->growth)
		timeout = LOOK_INTERVAL;
	if (watch->when->seconds) {
		uint64_t left = watch->next > now ? watch->next - now : 0;
		timeout = left < timeout ? left : timeout;
	}
	if (timeout == UINT64_MAX)
		return -1;
	return timeout < INT_MAX ? (int)timeout : INT_MAX;
}

/* Has the kernel held the group back in the last 10 seconds, and not in those before? */
static bool is_held_back(struct watch *watch)
{
	uint64_t events = watch->high_events, now = watch_now();
	if (memory_high_events(&events) && events > watch->high_events)
		watch->high_until = now + HIGH_LASTS;
	watch->high_events = events;
	return level_has_risen(&watch->high, now < watch->high_until ? 1 : 0, now);
}

/* It may have sunk and risen again since the last look. */
static bool has_heap_risen(struct watch *watch, uint64_t now)
{
	unsigned rises = gc_watch_rises();
	if (rises == watch->heap_rises)
		return watch->heap.is_above && level_has_risen(&watch->heap, gc_watch_heap(), now);
	watch->heap_rises = rises;
	watch->heap = (struct level){ .threshold = watch->heap.threshold };
	return level_has_risen(&watch->heap, UINT64_MAX, now);
}

/* The measures of memory that the user asks for; each is looked at, also when another one has risen. */
static const char *look_at_memory(struct watch *watch)
{
	const char *reason = NULL;
	uint64_t pressure, now = watch_now();
	find_threshold(watch, now);
	if (watch->when->at_high && is_held_back(watch))
		reason = "high";
	if (watch->pressure.threshold && memory_pressure(&pressure) &&
	    level_has_risen(&watch->pressure, pressure, now))
		reason = "pressure";
	if (watch->heap.threshold && has_heap_risen(watch, now))
		reason = "heap";
	if (watch->when->growth && level_has_risen(&watch->growth, gc_watch_growth(), now))
		reason = "growth";
	if (watch->rss.threshold && level_has_risen(&watch->rss, memory_resident(), now))
		reason = "rss";
	return reason;
}

const char *watch_look(struct watch *watch)
{
	const char *reason = NULL;
	if (watch->when->seconds && watch_now() >= watch->next) {
		/* A long snapshot may have missed some; they are not made up for. */
		watch->next = watch_now() + (uint64_t)watch->when->seconds * 1000;
		reason = "every";
	}
	const char *risen = look_at_memory(watch);
	return risen ? risen : reason;
}

void watch_taken(struct watch *watch, bool is_taken)
{
	uint64_t now = watch_now();
	/* They are counted again from the one that is in the file. */
	if (is_taken && watch->growth.is_due) {
		gc_watch_forget_growth();
		watch->growth = (struct level){ .threshold = watch->growth.threshold };
	}
	level_taken(&watch->growth, is_taken, now);
	level_taken(&watch->rss, is_taken, now);
	level_taken(&watch->heap, is_taken, now);
	level_taken(&watch->pressure, is_taken, now);
	level_taken(&watch->high, is_taken, now);
}
