/* SPDX-License-Identifier: MIT */
#include "analysis/pool/queue_items.h"

#include "mem/memory.h"
#include "util/alloc.h"
#include "util/job.h"

void queue_items_deinit(struct queue_items *items)
{
	pages_free(items->rows, items->rows_capacity, sizeof(*items->rows));
	*items = (struct queue_items){ 0 };
}

static enum hd_status append_item(struct queue_items *items, uint64_t object, struct hd_error *err)
{
	if (!object)
		return HD_OK;
	if (!PAGES_RESERVE(items, rows))
		return fail_nomem(err);
	items->rows[items->rows_count++] = object;
	return HD_OK;
}

uint64_t array_reference(struct heap *heap, const struct array_info *array, uint64_t index)
{
	uint64_t value = 0;
	if (index < array->length && array->element_size == 8)
		(void)memory_u64(heap->memory, array->data + 8 * index, &value);
	return value;
}

static bool read_field_array(struct heap *heap, struct members *members, uint64_t holder,
			     const char *field, struct array_info *ret)
{
	struct member member = member_at(members, holder, field);
	struct object object;
	return member.state == MEMBER_READ && member_object(members, member.bits, &object) &&
	       array_read(heap, &object, ret);
}

/* A segment: slots [head, tail), of which an item is in those whose number says so. */
struct queue_segment {
	uint64_t address;
	struct array_info slots;
	uint64_t head, tail, mask;
};

static bool read_queue_segment(struct heap *heap, struct members *members, uint64_t address,
			       struct queue_segment *ret)
{
	struct queue_segment segment = { .address = address };
	struct member head = member_at(members, address, "_headAndTail.Head");
	struct member tail = member_at(members, address, "_headAndTail.Tail");
	struct member mask = member_at(members, address, "_slotsMask");
	struct member frozen = member_at(members, address, "_frozenForEnqueues");
	if (head.state != MEMBER_READ || tail.state != MEMBER_READ || mask.state != MEMBER_READ ||
	    !read_field_array(heap, members, address, "_slots", &segment.slots) ||
	    !segment.slots.element)
		return false;
	segment.mask = mask.bits;
	if (segment.mask != segment.slots.length - 1u)
		return false;
	/* The numbers count for ever, and wrap at 2^32; freezing adds twice the length to the tail. */
	uint32_t count = (uint32_t)tail.bits - (uint32_t)head.bits;
	if (frozen.state == MEMBER_READ && frozen.bits)
		count -= 2 * segment.slots.length;
	segment.head = (uint32_t)head.bits;
	segment.tail = segment.head + (count <= segment.slots.length ? count : 0);
	*ret = segment;
	return count <= segment.slots.length;
}

static enum hd_status append_segment(struct queue_items *items, struct members *members,
				     const struct queue_segment *segment, struct hd_error *err)
{
	const struct array_info *slots = &segment->slots;
	for (uint64_t i = segment->head; i < segment->tail; i++) {
		uint64_t address = slots->data + (i & segment->mask) * slots->element_size;
		struct member number =
			member_of_struct(members, slots->element, address, "SequenceNumber");
		struct member item = member_of_struct(members, slots->element, address, "Item");
		if (number.state != MEMBER_READ || item.state != MEMBER_READ) {
			items->is_broken = true;
			return HD_OK;
		}
		/* Another number: the item was taken already, or is not written yet. */
		if ((uint32_t)number.bits == (uint32_t)(i + 1))
			TRY(append_item(items, item.bits, err));
	}
	return HD_OK;
}

/* Segments have slots of their own, so all of them together fit into the heap. */
static uint64_t most_slots(const struct heap *heap)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < heap->segment_count; i++)
		bytes += heap->segments[i].end - heap->segments[i].begin;
	return bytes / 16;
}

enum hd_status concurrent_queue_append(struct queue_items *items, const struct queue_reader *reader,
				       uint64_t queue, struct hd_error *err)
{
	struct members *members = reader->members;
	struct member at = member_at(members, queue, "_head"), slow = at;
	uint64_t slots_left = most_slots(reader->heap);
	if (at.state == MEMBER_NULL)
		return HD_OK;
	for (unsigned int i = 1; at.state == MEMBER_READ && at.bits; i++) {
		struct queue_segment segment;
		if (!read_queue_segment(reader->heap, members, at.bits, &segment) ||
		    segment.slots.length > slots_left) {
			items->is_broken = true;
			return HD_OK;
		}
		slots_left -= segment.slots.length;
		TRY(append_segment(items, members, &segment, err));
		if (reader->job && !job_step(reader->job, 0, 0))
			return fail_cancelled(err);
		at = member_at(members, segment.address, "_nextSegment");
		/* A second pointer, half as fast, is met again only in a circle (Floyd). */
		if (i % 2 == 0)
			slow = member_at(members, slow.bits, "_nextSegment");
		if (at.bits && at.bits == slow.bits) {
			items->is_broken = true;
			return HD_OK;
		}
	}
	items->is_broken |= at.state != MEMBER_READ;
	return HD_OK;
}

enum hd_status stealing_queue_append(struct queue_items *items, const struct queue_reader *reader,
				     uint64_t queue, struct hd_error *err)
{
	struct members *members = reader->members;
	struct array_info array;
	struct member head = member_at(members, queue, "m_headIndex");
	struct member tail = member_at(members, queue, "m_tailIndex");
	if (head.state == MEMBER_NULL)
		return HD_OK;
	if (head.state != MEMBER_READ || tail.state != MEMBER_READ ||
	    !read_field_array(reader->heap, members, queue, "m_array", &array) || !array.length ||
	    array.length & (array.length - 1)) {
		items->is_broken = true;
		return HD_OK;
	}
	uint32_t count = (uint32_t)tail.bits - (uint32_t)head.bits;
	if ((int32_t)count < 0)
		count = 0; /* between two steps of taking the last item */
	if (count > array.length)
		items->is_broken = true;
	for (uint32_t i = 0; i < count && i < array.length; i++) {
		uint64_t slot = ((uint32_t)head.bits + i) & (array.length - 1);
		TRY(append_item(items, array_reference(reader->heap, &array, slot), err));
	}
	return HD_OK;
}
