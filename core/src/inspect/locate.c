/* SPDX-License-Identifier: MIT */
#include "inspect/locate.h"

#include "util/job.h"

/* Note what the walk has met; false when it is after @p address. */
static bool look_for_address(const struct walker *walker, enum walk_result result, uint64_t address,
			     struct location *location)
{
	const struct object *object = &walker->object;
	const struct damage *damage = &walker->damage;
	if (result == WALK_END)
		return false;
	if (result == WALK_DAMAGE) {
		if (address >= damage->address && address - damage->address < damage->skipped) {
			location->place = PLACE_SKIPPED;
			location->damage = *damage;
		}
	} else if (object->address > address) {
		location->next = *object;
		return false;
	} else if (address - object->address < object->step) {
		location->place = object->address == address ? PLACE_OBJECT : PLACE_INSIDE;
		location->object = *object;
	} else {
		location->before = *object;
	}
	return true;
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
	job_begin(job, "Scanning segment", location.segment->end - location.segment->begin);
	while (look_for_address(&walker, walker_next(&walker), address, &location))
		continue;
	enum hd_status status = walker.cancelled ? fail_cancelled(err) : HD_OK;
	walker_deinit(&walker);
	if (status == HD_OK)
		*ret = location;
	return status;
}
