/* SPDX-License-Identifier: MIT */
#include "walk_way.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bulk.h"
#include "hearing.h"
#include "runtime.h"
#include "type_names.h"
#include "type_set.h"
#include "watch.h"
#include "write_line.h"

#define OLDEST_GENERATION 2u
/*
 * So often a collection is asked for: when others allocate, one of theirs may come in between, and the runtime counts
 * it for ours (GarbageCollect() of src/coreclr/gc/gc.cpp, .NET 10, is content with a collection that was begun meanwhile).
 */
#define FORCE_TRIES   20u
#define FORCE_LONGEST 10000u /* milliseconds after which it is not tried again */

/* How far the one collection of a walk is. */
enum walk_state {
	WALK_NONE,
	WALK_AWAITED,
	WALK_RUNNING,
	WALK_ENDED
};

/*
 * The one walk of the process.  Callbacks of one collection come one after the other, but nothing says that all come
 * by one thread.
 */
static struct {
	pthread_mutex_t lock;
	enum walk_state state;
	bool is_short; /* there was not memory for everything */
	struct bulk_writer writer;
	struct type_set types;
} walk = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Begin to work in a callback; false: there is nothing to do. */
static bool enter_walk(enum walk_state state)
{
	if (!hearing_enter())
		return false;
	(void)pthread_mutex_lock(&walk.lock);
	if (walk.state == state)
		return true;
	(void)pthread_mutex_unlock(&walk.lock);
	hearing_leave();
	return false;
}

static void leave_walk(void)
{
	(void)pthread_mutex_unlock(&walk.lock);
	hearing_leave();
}

void walk_way_started(size_t count, const int32_t *is_collected, bool is_induced)
{
	if (!enter_walk(WALK_AWAITED))
		return;
	if (is_induced && count > OLDEST_GENERATION && is_collected[OLDEST_GENERATION]) {
		walk.state = WALK_RUNNING;
		bulk_start(&walk.writer);
	}
	leave_walk();
}

void walk_way_roots(const struct walk_roots *roots)
{
	if (!enter_walk(WALK_RUNNING))
		return;
	for (size_t i = 0; i < roots->count; i++) {
		const struct bulk_root root = { roots->objects[i], roots->kinds[i], roots->flags[i],
						roots->ids ? roots->ids[i] : 0 };
		if (root.object)
			bulk_root(&walk.writer, &root);
	}
	leave_walk();
}

void walk_way_dependents(size_t count, const uintptr_t *keys, const uintptr_t *values,
			 const uintptr_t *ids)
{
	if (!enter_walk(WALK_RUNNING))
		return;
	for (size_t i = 0; i < count; i++)
		bulk_dependent(&walk.writer, keys[i], values[i], ids ? ids[i] : 0);
	leave_walk();
}

bool walk_way_object(uintptr_t object, uintptr_t type, size_t count, const uintptr_t *targets)
{
	uint64_t size = 0;
	if (!enter_walk(WALK_RUNNING))
		return true;
	/* Without the size nobody could tell where it ends, but its references still count. */
	(void)runtime_object_size(object, &size);
	if (!type_set_add(&walk.types, type))
		walk.is_short = true;
	const struct bulk_object node = { object, size, type, count };
	bulk_object(&walk.writer, &node, targets);
	bool goes_on = !bulk_is_full(&walk.writer);
	leave_walk();
	return goes_on;
}

/* Names are asked for while the program stands still: afterwards a type may be unloaded. */
static void write_types(void)
{
	struct type_about *about = malloc(sizeof(*about));
	if (!about) {
		walk.is_short = true;
		return;
	}
	for (size_t i = 0; i < walk.types.capacity; i++) {
		if (!walk.types.slots[i])
			continue;
		type_names_ask(walk.types.slots[i], about);
		bulk_type(&walk.writer, walk.types.slots[i], about);
	}
	free(about);
}

void walk_way_finished(void)
{
	if (!enter_walk(WALK_RUNNING))
		return;
	write_types();
	bulk_end(&walk.writer);
	walk.state = WALK_ENDED;
	leave_walk();
}

static void set_state(enum walk_state state)
{
	(void)pthread_mutex_lock(&walk.lock);
	walk.state = state;
	(void)pthread_mutex_unlock(&walk.lock);
}

bool walk_way_prepare(const struct settings *settings)
{
	if (settings->way != WAY_WALK && !settings->when.at_exit)
		return true;
	if (runtime_listen(LISTEN_GC | LISTEN_DOMAINS, 0) == COM_OK)
		return true;
	write_line("the runtime does not let a profiler watch its collections: nothing is done");
	return false;
}

void walk_way_prepared(void)
{
	(void)runtime_listen(0, 0);
}

/* NULL when the walk has come to its end, or why it has not. */
static const char *force_walk(const struct stopping *stop)
{
	uint64_t end = watch_now() + FORCE_LONGEST;
	for (unsigned i = 0; i < FORCE_TRIES && walk.state != WALK_ENDED; i++) {
		if (stopping_is_asked(stop) || (i && watch_now() >= end))
			break;
		if (runtime_force_gc() != COM_OK)
			return "the runtime does not collect garbage now";
	}
	return walk.state == WALK_ENDED ? NULL
					: "the runtime has told nothing about the collection";
}

const char *walk_way(struct hd_snapshot *snapshot, const struct stopping *stop)
{
	if (!bulk_init(&walk.writer, snapshot))
		return "there is no memory";
	walk.is_short = false;
	set_state(WALK_AWAITED);
	hearing_begin(snapshot);
	const char *why = NULL;
	hresult result = runtime_listen(LISTEN_GC, 0);
	if (result != COM_OK) {
		why = "the runtime does not let a profiler watch a collection now";
	} else {
		why = force_walk(stop);
	}
	(void)runtime_listen(0, 0);
	hearing_end();
	set_state(WALK_NONE);
	if (walk.is_short)
		hd_snapshot_lost(snapshot, 1);
	type_set_deinit(&walk.types);
	bulk_deinit(&walk.writer);
	return why;
}
