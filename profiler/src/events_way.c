/* SPDX-License-Identifier: MIT */
#include "events_way.h"

#include <stdatomic.h>
#include <time.h>

#include "gc_watch.h"
#include "hearing.h"
#include "runtime.h"
#include "type_events.h"

#define WALK_KEYWORDS UINT64_C(0x1980001) /* doc/formats.md 9 */
#define LEVEL_VERBOSE 5u
#define BULK_TYPE     15u
#define LONGEST_WAIT  60000u /* milliseconds for the end of a walk after the session has begun */
#define VAIN_WAIT     1000u  /* for its beginning */
#define WAIT_STEP     10u
#define TRIES         20u

static const char own_provider[] = RUNTIME_PROVIDER;

/* The provider of the runtime's own events, once it is known; all others are told by their names each time. */
static _Atomic uintptr_t runtime_provider;

/* There was a snapshot already, whose types the runtime may not tell again. */
static atomic_bool has_begun;

static bool is_runtime(uintptr_t provider)
{
	uint16_t name[sizeof(own_provider) + 1] = { 0 };
	if (atomic_load(&runtime_provider) == provider)
		return true;
	if (runtime_provider_name(provider, name, sizeof(name) / sizeof(name[0])) != COM_OK)
		return false;
	for (size_t i = 0; i < sizeof(own_provider); i++) {
		if (name[i] != (uint16_t)own_provider[i])
			return false;
	}
	atomic_store(&runtime_provider, provider);
	return true;
}

void events_way_deliver(const struct delivered *event)
{
	struct hd_snapshot *snapshot = hearing_enter();
	if (!snapshot) {
		if (is_runtime(event->provider))
			gc_watch_event(event->id, event->payload, event->size);
		return;
	}
	if (is_runtime(event->provider)) {
		struct hd_snapshot_event taken = { .struct_size = sizeof(taken),
						   .provider = own_provider,
						   .id = event->id,
						   .version = event->version,
						   .payload = event->payload,
						   .size = event->size,
						   .metadata = event->metadata,
						   .metadata_size = event->metadata_size };
		type_events_see(event->id, event->payload, event->size);
		const uint8_t *renamed =
			event->id == BULK_TYPE
				? type_events_rename(event->payload, event->size, &taken.size)
				: NULL;
		if (renamed)
			taken.payload = renamed;
		/* The snapshot counts lost events, and says so in the end. */
		enum hd_status ignored = hd_snapshot_event(snapshot, &taken, NULL);
		(void)ignored;
	}
	hearing_leave();
}

/*
 * Wait until the collection has ended, which has begun before runtime_start_session() returned; false: there was none,
 * and there will be none.
 */
static bool await_walk(struct hd_snapshot *snapshot, const struct stopping *stop)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP * 1000000L };
	struct hd_snapshot_state state = { .struct_size = sizeof(state) };
	for (unsigned waited = 0; waited < LONGEST_WAIT && !stopping_is_asked(stop);
	     waited += WAIT_STEP) {
		if (hd_snapshot_state(snapshot, &state) != 0 || state.has_ended)
			break;
		if (!state.has_started && !state.lost && waited >= VAIN_WAIT)
			return false;
		(void)nanosleep(&step, NULL);
	}
	return true;
}

/* Let the runtime walk its heap; false: it starts no session. */
static bool walk_once(struct hd_snapshot *snapshot, const struct stopping *stop, bool *ret_walked)
{
	uint16_t name[sizeof(own_provider)];
	const struct event_provider provider = { name, WALK_KEYWORDS, LEVEL_VERBOSE, NULL };
	uint64_t session = 0;
	for (size_t i = 0; i < sizeof(own_provider); i++)
		name[i] = (uint16_t)own_provider[i];
	if (runtime_start_session(&provider, &session) != COM_OK)
		return false;
	*ret_walked = await_walk(snapshot, stop);
	(void)runtime_stop_session(session);
	return true;
}

const char *events_way(struct hd_snapshot *snapshot, const struct stopping *stop)
{
	if (runtime_listen(0, LISTEN_EVENTS_HIGH) != COM_OK)
		return "the runtime does not let a profiler listen to its events";
	(void)type_events_begin();
	/* For the first one the runtime makes objects of its own. */
	if (atomic_exchange(&has_begun, true))
		gc_watch_flush();
	hearing_begin(snapshot);
	/* A session that comes before the runtime has started is in vain. */
	bool has_session = true, is_walked = false;
	for (unsigned i = 0; i < TRIES && has_session && !is_walked && !stopping_is_asked(stop);
	     i++)
		has_session = walk_once(snapshot, stop, &is_walked);
	(void)runtime_listen(0, 0);
	hearing_end();
	type_events_end();
	if (!has_session)
		return "the runtime does not start a session of events";
	return is_walked || stopping_is_asked(stop) ? NULL : "the runtime does not collect garbage";
}
