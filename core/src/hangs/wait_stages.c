/* SPDX-License-Identifier: MIT */
/* Full queues, and channels that are to be read empty, whose readers wait for others. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_things.h"

/* By row, the bits of those that its reader waits for, directly or over others. */
struct stages {
	uint64_t after[WAIT_THINGS_MAX];
};

static bool stages_have(const struct stages *stages, size_t row, size_t after)
{
	return stages->after[row] >> after & 1;
}

static bool is_stuck(const struct wait_thing *thing)
{
	return (thing->kind == AWAIT_WRITE || thing->left) && !thing->may_change;
}

/* Is it the channel that has no room, either?  Who waits until it is empty waits for whoever makes room in it. */
static bool is_full_too(const struct wait_thing *thing, const struct wait_thing *full)
{
	return thing->left && full->kind == AWAIT_WRITE && thing->address == full->address;
}

static struct stages make_stages(const struct wait_things *things, const uint64_t *read_after)
{
	struct stages stages = { { 0 } };
	for (size_t last = 0; last < things->rows_count; last++) {
		for (size_t i = 0; i < things->rows_count; i++) {
			bool is_read = (read_after[last] >> i & 1) ||
				       is_full_too(&things->rows[i], &things->rows[last]);
			if (is_read && is_stuck(&things->rows[i]) && is_stuck(&things->rows[last]))
				stages.after[i] |= UINT64_C(1) << last;
		}
	}
	for (size_t way = 0; way < things->rows_count; way++) {
		for (size_t i = 0; i < things->rows_count; i++) {
			if (stages_have(&stages, i, way))
				stages.after[i] |= stages.after[way];
		}
	}
	return stages;
}

/* Is there one after it?  Of those in a ring only the first row has none. */
static bool has_next(const struct stages *stages, size_t count, size_t row)
{
	for (size_t i = 0; i < count; i++) {
		bool is_ring = stages_have(stages, i, row);
		if (i != row && stages_have(stages, row, i) && (!is_ring || i < row))
			return true;
	}
	return false;
}

/* The full ones that are behind it. */
static uint32_t count_behind(const struct stages *stages, const struct wait_things *things,
			     size_t row)
{
	uint32_t behind = 0;
	for (size_t i = 0; i < things->rows_count; i++) {
		behind += i != row && things->rows[i].kind == AWAIT_WRITE &&
			  stages_have(stages, i, row);
	}
	return behind;
}

void wait_stages_find(struct wait_things *things, const uint64_t *read_after)
{
	const struct stages stages = make_stages(things, read_after);
	for (size_t i = 0; i < things->rows_count; i++) {
		struct wait_thing *thing = &things->rows[i];
		/* Who waits for the Completion often has the reader, and reads no more. */
		thing->stage.is_read_by_waiter =
			thing->kind == AWAIT_WRITE && stages_have(&stages, i, i);
		thing->stage.is_behind = has_next(&stages, things->rows_count, i);
		thing->stage.queues_behind =
			thing->stage.is_behind ? 0 : count_behind(&stages, things, i);
	}
}
