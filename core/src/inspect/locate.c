/* SPDX-License-Identifier: MIT */
#include "inspect/locate.h"

/* What the walk has come to: is @p address settled? */
static bool settle(const struct walker *walker, enum walk_result result, uint64_t address,
		   struct location *location)
{
	const struct object *object = &walker->object;
	if (result == WALK_DAMAGE) {
		const struct damage *damage = &walker->damage;
		if (address < damage->address)
			return true;
		if (address - damage->address < damage->skipped) {
			location->place = PLACE_SKIPPED;
			location->damage = damage->address;
		}
		return location->place == PLACE_SKIPPED;
	}
	if (result == WALK_END || object->address > address)
		return true;
	location->object = *object;
	if (object->address == address) {
		location->place = PLACE_OBJECT;
	} else if (address - object->address < object->step) {
		location->place = PLACE_INSIDE;
	}
	return location->place != PLACE_BETWEEN;
}

enum hd_status object_locate(struct heap *heap, uint64_t address, struct job *job,
			     struct location *ret, struct hd_error *err)
{
	struct location location = { .place = PLACE_OUTSIDE,
				     .segment = heap_segment_at(heap, address) };
	if (!location.segment) {
		*ret = location;
		return HD_OK;
	}
	struct walker walker;
	TRY(walker_init(&walker, heap, err));
	walker_begin(&walker, location.segment, location.segment->begin, location.segment->end);
	location.place = PLACE_BETWEEN;
	walker.job = job;
	while (!settle(&walker, walker_next(&walker), address, &location))
		continue;
	enum hd_status status = walker.cancelled ? fail_cancelled(err) : HD_OK;
	walker_deinit(&walker);
	if (status == HD_OK)
		*ret = location;
	return status;
}
