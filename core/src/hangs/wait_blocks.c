/* SPDX-License-Identifier: MIT */
#include "hangs/wait_blocks.h"

#include "analysis/async/async_graph.h"
#include "runtime/coreclr/types/type_name.h"

/* Blocks of a way, and links of a block, that are looked at. */
#define BLOCKS_MAX 64u
#define LINKS_MAX  64u

enum room {
	ROOM_UNKNOWN, /**< a class of a program, or one without a bound that is known */
	ROOM_FREE,    /**< it takes the next item, and none that it has postponed */
	ROOM_FULL,
};

/* The bounds of a block of one of these classes; MEMBER_ABSENT: of another one. */
static struct member bounds_of(struct members *members, const struct object *block)
{
	static const enum fact places[] = { FACT_TRANSFORM_BOUNDS, FACT_ACTION_BOUNDS,
					    FACT_BUFFER_BOUNDS };
	struct member bounds = { .state = MEMBER_ABSENT };
	for (size_t i = 0; bounds.state == MEMBER_ABSENT && i < sizeof(places) / sizeof(places[0]);
	     i++)
		bounds = fact_of(members, block, places[i]);
	return bounds;
}

static enum room room_of(struct members *members, uint64_t address)
{
	struct object block;
	if (!member_object(members, address, &block))
		return ROOM_UNKNOWN;
	struct member bounds = bounds_of(members, &block);
	if (bounds.state != MEMBER_READ)
		return ROOM_UNKNOWN;
	if (!bounds.bits)
		return ROOM_FREE;
	struct member capacity = fact_at(members, bounds.bits, FACT_BOUNDS_CAPACITY);
	struct member count = fact_at(members, bounds.bits, FACT_BOUNDS_COUNT);
	struct member all = fact_at(members, bounds.bits, FACT_BOUNDS_POSTPONED);
	struct member left = fact_at(members, bounds.bits, FACT_BOUNDS_POSTPONED_FREE);
	if (capacity.state != MEMBER_READ || count.state != MEMBER_READ ||
	    all.state != MEMBER_READ || left.state != MEMBER_READ || member_signed(&capacity) < 1)
		return ROOM_UNKNOWN;
	if (member_signed(&count) >= member_signed(&capacity))
		return ROOM_FULL;
	return all.bits == left.bits ? ROOM_FREE : ROOM_UNKNOWN;
}

/* Has the output an item at its head that it has offered to all links, which none has taken or reserved? */
static bool is_refused(struct members *members, uint64_t output)
{
	struct member offers = fact_at(members, output, FACT_OUTPUT_OFFERS);
	struct member task = fact_at(members, output, FACT_OUTPUT_TASK);
	struct member reserved = fact_at(members, output, FACT_OUTPUT_RESERVED);
	return offers.state == MEMBER_READ && !offers.bits && task.state == MEMBER_READ &&
	       !task.bits && reserved.state == MEMBER_READ && !reserved.bits;
}

/* The block that a link leads to, and whether there is a filter between. */
static uint64_t target_of(const struct waits *waits, uint64_t link, bool *has_filter)
{
	uint64_t target = fact_at(waits->members, link, FACT_LINK_TARGET).bits;
	struct object object;
	size_t size;
	*has_filter = false;
	if (!member_object(waits->members, target, &object))
		return target;
	const char *name = type_name(waits->heap->runtime, object.type, &size);
	*has_filter = net_type_is(NET_FILTERED_LINK, name, size);
	return *has_filter ? fact_of(waits->members, &object, FACT_FILTERED_TARGET).bits : target;
}

/* Where the items of @p block go on to; @p next: the full block that they wait for. */
static enum block_end look_at_links(const struct waits *waits, uint64_t block, uint64_t *next)
{
	struct members *members = waits->members;
	uint64_t output = fact_at(members, block, FACT_BLOCK_OUTPUT).bits;
	struct member link = fact_at(members, output, FACT_OUTPUT_LINKS);
	enum block_end end = BLOCK_HAS_NO_LINK;
	*next = 0;
	if (!output || !is_refused(members, output))
		return BLOCK_GOES_ON;
	for (unsigned int i = 0; link.state == MEMBER_READ && link.bits; i++) {
		bool has_filter;
		uint64_t target = target_of(waits, link.bits, &has_filter);
		enum room room = room_of(members, target);
		bool is_next = room == ROOM_FULL && !*next;
		if (i == LINKS_MAX || (!is_next && (room != ROOM_FREE || !has_filter)))
			return BLOCK_GOES_ON;
		if (is_next)
			*next = target;
		end = BLOCK_REFUSED;
		link = fact_at(members, link.bits, FACT_LINK_NEXT);
	}
	return link.state == MEMBER_READ ? end : BLOCK_GOES_ON;
}

/* Follow full blocks from that of the thing to the last one. */
static void find_end(const struct waits *waits, struct wait_thing *thing)
{
	uint64_t block = thing->address, next;
	for (unsigned int i = 0; i < BLOCKS_MAX; i++) {
		if (room_of(waits->members, block) != ROOM_FULL)
			return;
		enum block_end end = look_at_links(waits, block, &next);
		if (end == BLOCK_GOES_ON)
			return;
		if (!next) {
			thing->block = block;
			thing->block_end = (uint8_t)end;
			return;
		}
		block = next;
	}
}

/* Does another thing before it wait for the same block? */
static bool is_told(const struct wait_things *things, const struct wait_thing *thing)
{
	for (const struct wait_thing *other = things->rows; other < thing; other++) {
		if (other->block == thing->block)
			return true;
	}
	return false;
}

void wait_blocks_find(const struct waits *waits, struct wait_things *things)
{
	for (size_t i = 0; i < things->rows_count; i++) {
		struct wait_thing *thing = &things->rows[i];
		if (thing->kind != AWAIT_SEND)
			continue;
		find_end(waits, thing);
		thing->stage.is_behind = thing->block && is_told(things, thing);
		if (thing->block_end == BLOCK_HAS_NO_LINK && thing->block == thing->address)
			thing->may_change = false;
	}
}
