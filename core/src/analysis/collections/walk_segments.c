/* SPDX-License-Identifier: MIT */
/* Queues that several threads write and read: segments with a ring of slots each. */
#include "analysis/collections/collection_walk.h"

/* A segment: slots [head, tail), of which an item is in those whose number says so. */
struct queue_segment {
	struct array_info slots;
	uint64_t head, tail, mask;
};

static bool read_segment(struct collection_walk *walk, const struct holder *holder,
			 struct queue_segment *ret)
{
	struct queue_segment segment = { 0 };
	struct members *members = walk->members;
	struct member head = holder_fact(members, holder, FACT_SEGMENT_HEAD);
	struct member tail = holder_fact(members, holder, FACT_SEGMENT_TAIL);
	struct member mask = holder_fact(members, holder, FACT_SEGMENT_MASK);
	struct member frozen = holder_fact(members, holder, FACT_SEGMENT_FROZEN);
	struct member slots = holder_fact(members, holder, FACT_SEGMENT_SLOTS);
	if (head.state != MEMBER_READ || tail.state != MEMBER_READ || mask.state != MEMBER_READ ||
	    !member_array(walk, &slots, &segment.slots) || !segment.slots.element)
		return false;
	segment.mask = mask.bits;
	if (segment.mask != segment.slots.length - 1u)
		return false;
	/* The numbers count for ever, and wrap at 2^32; freezing adds twice the length to the tail. */
	uint32_t count = (uint32_t)tail.bits - (uint32_t)head.bits;
	if (frozen.bits)
		count -= 2 * segment.slots.length;
	segment.head = (uint32_t)head.bits;
	segment.tail = segment.head + (count <= segment.slots.length ? count : 0);
	*ret = segment;
	return count <= segment.slots.length;
}

static bool emit_segment(struct collection_walk *walk, const struct queue_segment *segment)
{
	const struct array_info *slots = &segment->slots;
	walk_add_count(walk, segment->tail - segment->head);
	for (uint64_t i = segment->head; i < segment->tail; i++) {
		uint64_t address = slots->data + (i & segment->mask) * slots->element_size;
		struct member number =
			fact_of_struct(walk->members, slots->element, address, FACT_SLOT_NUMBER);
		struct member item =
			fact_of_struct(walk->members, slots->element, address, FACT_SLOT_ITEM);
		if (number.state != MEMBER_READ || item.state != MEMBER_READ) {
			walk_broken(walk);
			return false;
		}
		/* Another number: the item was taken already, or is not written yet. */
		const struct collection_item found = { .value = member_value(&item) };
		if ((uint32_t)number.bits == (uint32_t)(i + 1) && !walk_item(walk, &found))
			return false;
		if (!walk_step(walk, slots->element_size))
			return false;
	}
	return true;
}

void walk_queue_segments(struct collection_walk *walk, uint64_t first)
{
	struct queue_segment segment = { 0 };
	struct link_chain chain;
	struct holder holder;
	link_chain_init(&chain, first, fact_row(FACT_SEGMENT_NEXT)->path);
	while (link_chain_next(walk, &chain, &holder)) {
		if (!read_segment(walk, &holder, &segment))
			walk_broken(walk);
		if (walk_has_ended(walk) || !emit_segment(walk, &segment))
			return;
	}
}

void walk_segments(struct collection_walk *walk, const struct collection_part *part)
{
	struct member head = holder_member(walk->members, &part->holder, part->layout->items);
	if (head.state != MEMBER_READ) {
		walk_broken(walk);
	} else {
		walk_queue_segments(walk, head.bits);
	}
}

/* A segment of a SingleProducerSingleConsumerQueue: the slots from _first up to _last. */
static bool emit_ring(struct collection_walk *walk, const struct holder *holder)
{
	struct member array = holder_fact(walk->members, holder, FACT_RING_ARRAY);
	struct member begin = holder_fact(walk->members, holder, FACT_RING_FIRST);
	struct member end = holder_fact(walk->members, holder, FACT_RING_LAST);
	struct array_info slots;
	uint64_t first, last;
	if (!member_array(walk, &array, &slots) || !member_count(&begin, &first) ||
	    !member_count(&end, &last) || first >= slots.length || last >= slots.length) {
		walk_broken(walk);
		return false;
	}
	walk_add_count(walk, (last + slots.length - first) % slots.length);
	for (uint64_t i = first; i != last; i = (i + 1) % slots.length) {
		const struct collection_item item = { .value = element_value(walk, &slots, i,
									     NULL) };
		if (!walk_step(walk, slots.element_size) || !walk_item(walk, &item))
			return false;
	}
	return true;
}

void walk_rings(struct collection_walk *walk, const struct collection_part *part)
{
	struct member head = holder_member(walk->members, &part->holder, part->layout->items);
	struct link_chain chain;
	struct holder holder;
	if (head.state != MEMBER_READ)
		walk_broken(walk);
	link_chain_init(&chain, head.bits, fact_row(FACT_RING_NEXT)->path);
	while (link_chain_next(walk, &chain, &holder) && emit_ring(walk, &holder))
		;
}

/* A thread's own queue in a ConcurrentBag: [head, tail) of a ring. */
static bool emit_own_queue(struct collection_walk *walk, const struct holder *queue)
{
	struct array_info slots;
	struct members *members = walk->members;
	struct member head = holder_fact(members, queue, FACT_BAG_HEAD);
	struct member tail = holder_fact(members, queue, FACT_BAG_TAIL);
	struct member added = holder_fact(members, queue, FACT_BAG_ADDED);
	struct member stolen = holder_fact(members, queue, FACT_BAG_STOLEN);
	struct member array = holder_fact(members, queue, FACT_BAG_ARRAY);
	if (head.state != MEMBER_READ || tail.state != MEMBER_READ || added.state != MEMBER_READ ||
	    stolen.state != MEMBER_READ || !member_array(walk, &array, &slots) || !slots.length ||
	    slots.length & (slots.length - 1)) {
		walk_broken(walk);
		return false;
	}
	int64_t claimed = member_signed(&added) - member_signed(&stolen);
	walk_add_count(walk, claimed > 0 ? (uint64_t)claimed : 0);
	uint32_t count = (uint32_t)tail.bits - (uint32_t)head.bits;
	if ((int32_t)count < 0)
		count = 0; /* between two steps of taking the last item */
	for (uint32_t i = 0; i < count && i < slots.length; i++) {
		uint64_t slot = ((uint32_t)head.bits + i) & (slots.length - 1);
		const struct collection_item item = { .value = element_value(walk, &slots, slot,
									     NULL) };
		if (!walk_step(walk, slots.element_size) || !walk_item(walk, &item))
			return false;
	}
	if (count > slots.length)
		walk_broken(walk);
	return !walk_has_ended(walk);
}

void walk_bag(struct collection_walk *walk, const struct collection_part *part)
{
	struct member first = holder_member(walk->members, &part->holder, part->layout->items);
	struct link_chain chain;
	struct holder queue;
	if (first.state != MEMBER_READ)
		walk_broken(walk);
	walk_add_count(walk, 0);
	link_chain_init(&chain, first.bits, fact_row(FACT_BAG_NEXT)->path);
	while (link_chain_next(walk, &chain, &queue) && emit_own_queue(walk, &queue))
		;
}
