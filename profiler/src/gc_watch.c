/* SPDX-License-Identifier: MIT */
#include "gc_watch.h"

#include <stdatomic.h>
#include <string.h>

#include "level.h"
#include "own_tasks.h"
#include "runtime.h"

#define GC_KEYWORD          1u
#define LEVEL_INFORMATIONAL 4u
#define GC_START            1u
#define GC_END              2u
#define GC_HEAP_STATS       4u
#define OLDEST              2u
#define INDUCED             1u
#define RENEW_INTERVAL      1000u /* milliseconds */
#define RENEW_LONGEST       60000u

/* Where GCHeapStats_V2 has the sizes of generations 0 to 3, and that of the pinned objects (doc/coreclr.md 19). */
static const size_t size_offsets[] = { 0, 16, 32, 48, 94 };

/* Events of collections come one after the other; others ask meanwhile. */
static struct {
	uint64_t session; /* 0: there is none */
	atomic_uint generation;
	_Atomic uint64_t heap, full_heap;
	atomic_uint growth, rises;
	atomic_bool was_induced; /* a collection, perhaps for a tool that walks the heap */
	uint64_t next_renewal, renewal_delay; /* longer each time that a tool is found */
	uint32_t number;                      /* of the last collection that ended, from 1 on */
	bool is_told;                         /* its sizes have been told */
	struct level level; /* only for events: whoever looks now and then does not see all of it */
} gc_watch;

static bool start_session(uint64_t *ret)
{
	static uint16_t name[sizeof(RUNTIME_PROVIDER)];
	const struct event_provider provider = { name, GC_KEYWORD, LEVEL_INFORMATIONAL, NULL };
	for (size_t i = 0; i < sizeof(RUNTIME_PROVIDER); i++)
		name[i] = (uint16_t)RUNTIME_PROVIDER[i];
	return runtime_start_session(&provider, ret) == COM_OK;
}

bool gc_watch_begin(uint64_t threshold)
{
	if (gc_watch.session)
		return true;
	gc_watch.level.threshold = threshold;
	return start_session(&gc_watch.session);
}

void gc_watch_flush(void)
{
	uint64_t session;
	if (start_session(&session))
		(void)runtime_stop_session(session);
}

void gc_watch_pause(void)
{
	if (gc_watch.session)
		(void)runtime_stop_session(gc_watch.session);
	gc_watch.session = 0;
}

void gc_watch_renew(uint64_t now)
{
	if (!gc_watch.session || now < gc_watch.next_renewal || !atomic_load(&gc_watch.was_induced))
		return;
	/* The thread that serves the socket has this name, and that of each session of a tool. */
	bool has_tool = own_tasks_count(".NET EventPipe") > 1;
	uint64_t longer = has_tool ? 2 * gc_watch.renewal_delay : 0;
	longer = longer > RENEW_INTERVAL ? longer : RENEW_INTERVAL;
	gc_watch.renewal_delay = longer < RENEW_LONGEST ? longer : RENEW_LONGEST;
	gc_watch.next_renewal = now + gc_watch.renewal_delay;
	if (has_tool)
		return;
	/* The new one begins before the old one ends: a collection may be told twice, but none is missed. */
	uint64_t next;
	atomic_store(&gc_watch.was_induced, false);
	if (!start_session(&next)) {
		atomic_store(&gc_watch.was_induced, true);
		return;
	}
	gc_watch_pause();
	gc_watch.session = next;
}

static void count_full(uint64_t heap)
{
	uint64_t before = atomic_exchange(&gc_watch.full_heap, heap);
	if (before && heap > before) {
		(void)atomic_fetch_add(&gc_watch.growth, 1);
	} else {
		atomic_store(&gc_watch.growth, 0);
	}
}

void gc_watch_event(uint32_t id, const uint8_t *payload, size_t size)
{
	uint32_t number, generation, reason;
	if (id == GC_START && size >= 12) {
		memcpy(&reason, payload + 8, sizeof(reason));
		if (reason == INDUCED)
			atomic_store(&gc_watch.was_induced, true);
	}
	/* It comes just before the sizes; others may have begun and ended since a collection in the background began. */
	if (id == GC_END && size >= 8) {
		memcpy(&number, payload, sizeof(number));
		gc_watch.is_told = gc_watch.is_told && number == gc_watch.number;
		gc_watch.number = number;
		memcpy(&generation, payload + 4, sizeof(generation));
		atomic_store(&gc_watch.generation, generation);
	}
	if (id != GC_HEAP_STATS || gc_watch.is_told)
		return;
	gc_watch.is_told = true;
	uint64_t heap = 0;
	for (size_t i = 0; i < sizeof(size_offsets) / sizeof(size_offsets[0]); i++) {
		uint64_t part;
		if (size < size_offsets[i] + sizeof(part))
			break;
		memcpy(&part, payload + size_offsets[i], sizeof(part));
		heap += part;
	}
	atomic_store(&gc_watch.heap, heap);
	if (gc_watch.level.threshold && level_has_risen(&gc_watch.level, heap, 0))
		(void)atomic_fetch_add(&gc_watch.rises, 1);
	if (atomic_load(&gc_watch.generation) >= OLDEST)
		count_full(heap);
}

uint64_t gc_watch_heap(void)
{
	return atomic_load(&gc_watch.heap);
}

unsigned gc_watch_rises(void)
{
	return atomic_load(&gc_watch.rises);
}

unsigned gc_watch_growth(void)
{
	return atomic_load(&gc_watch.growth);
}

void gc_watch_forget_growth(void)
{
	atomic_store(&gc_watch.growth, 0);
}
