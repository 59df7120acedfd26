/* SPDX-License-Identifier: MIT */
/* Collects the places of a heap that walks could not read as objects. */
#include "analysis/heap/heap_gaps.h"

#include "targets/target.h"

bool damage_is_untyped(struct heap *heap, const struct damage *damage)
{
	return damage->kind == DAMAGE_BAD_METHOD_TABLE &&
	       type_may_be_missing(heap->runtime, damage->word & ~(uint64_t)7);
}

void gaps_add(struct gaps *gaps, struct heap *heap, const struct damage *damage)
{
	if (damage_is_untyped(heap, damage)) {
		gaps->untyped++;
		gaps->untyped_bytes += damage->skipped;
		return;
	}
	switch (damage->kind) {
	case DAMAGE_MISSING_BYTES:
		gaps->missing++;
		gaps->missing_bytes += damage->skipped;
		break;
	case DAMAGE_ZERO_RUN:
		gaps->unowned++;
		break;
	case DAMAGE_PLUG_NODE:
		/*
		 * It only overwrites dead objects, except for single objects in front of pinned
		 * ones.
		 */
		break;
	default:
		gaps->damaged++;
		break;
	}
}

void gaps_merge(struct gaps *gaps, const struct gaps *other)
{
	gaps->damaged += other->damaged;
	gaps->missing += other->missing;
	gaps->unowned += other->unowned;
	gaps->missing_bytes += other->missing_bytes;
	gaps->untyped += other->untyped;
	gaps->untyped_bytes += other->untyped_bytes;
}

bool heap_lacks_bytes(struct heap *heap)
{
	const struct target *target = heap_target(heap);
	struct walker walker;
	bool lacks = target && target->core.is_truncated;
	if (lacks || walker_init(&walker, heap, NULL) != HD_OK)
		return lacks;
	for (size_t i = 0; i < heap->segment_count && !lacks; i++) {
		const struct segment *segment = &heap->segments[i];
		enum walk_result result;
		walker_begin(&walker, segment, segment->begin, segment->end);
		while (!lacks && (result = walker_next(&walker)) != WALK_END) {
			lacks = result == WALK_DAMAGE && walker.damage.kind == DAMAGE_MISSING_BYTES;
		}
	}
	walker_deinit(&walker);
	return lacks;
}

void gaps_settle(struct gaps *gaps, struct heap *heap)
{
	if (gaps->missing || (gaps->untyped && heap_lacks_bytes(heap))) {
		gaps->missing += gaps->untyped;
		gaps->missing_bytes += gaps->untyped_bytes;
	} else {
		gaps->damaged += gaps->untyped;
	}
	gaps->untyped = gaps->untyped_bytes = 0;
}
