/* SPDX-License-Identifier: MIT */
#include "analysis/pool/queue_items.h"

#include "analysis/collections/collection_walk.h"
#include "mem/memory.h"
#include "util/alloc.h"

void queue_items_deinit(struct queue_items *items)
{
	pages_free(items->rows, items->rows_capacity, sizeof(*items->rows));
	*items = (struct queue_items){ 0 };
}

static enum hd_status append_item(struct queue_items *items, uint64_t object, struct hd_error *err)
{
	if (!object)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(items, rows), err);
	items->rows[items->rows_count++] = object;
	return HD_OK;
}

/* Where the items of a queue go. */
struct item_sink {
	struct queue_items *items;
	struct memory *memory;
	enum hd_status status;
	struct hd_error *err;
};

static bool sink_item(void *arg, const struct collection_item *item)
{
	struct item_sink *sink = arg;
	uint64_t object = 0;
	if (memory_u64(sink->memory, item->value.address, &object))
		sink->status = append_item(sink->items, object, sink->err);
	return sink->status == HD_OK;
}

enum hd_status concurrent_queue_append(struct queue_items *items, const struct queue_reader *reader,
				       uint64_t queue, struct hd_error *err)
{
	struct item_sink sink = { .items = items, .memory = reader->heap->memory, .err = err };
	const struct item_visitor visitor = { sink_item, &sink };
	struct collection_walk walk;
	struct member head = fact_at(reader->members, queue, FACT_CONCURRENT_QUEUE_HEAD);
	if (head.state == MEMBER_NULL)
		return HD_OK;
	collection_walk_init(&walk, reader->heap, reader->members, reader->job);
	walk.visitor = &visitor;
	walk.err = err;
	if (head.state != MEMBER_READ)
		walk_broken(&walk);
	walk_queue_segments(&walk, head.bits);
	items->is_broken |= walk.facts.is_broken;
	return walk.status != HD_OK ? walk.status : sink.status;
}

enum hd_status stealing_queue_append(struct queue_items *items, const struct queue_reader *reader,
				     uint64_t queue, struct hd_error *err)
{
	struct members *members = reader->members;
	struct array_info array;
	struct member head = fact_at(members, queue, FACT_LOCAL_QUEUE_HEAD);
	struct member tail = fact_at(members, queue, FACT_LOCAL_QUEUE_TAIL);
	if (head.state == MEMBER_NULL)
		return HD_OK;
	if (head.state != MEMBER_READ || tail.state != MEMBER_READ ||
	    !array_at(reader->heap, members, fact_at(members, queue, FACT_LOCAL_QUEUE_ARRAY).bits,
		      &array) ||
	    !array.length || array.length & (array.length - 1)) {
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
