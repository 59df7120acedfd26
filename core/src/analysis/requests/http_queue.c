/* SPDX-License-Identifier: MIT */
#include "analysis/requests/http_queue.h"

#include "runtime/coreclr/types/type_name.h"

bool http_queue_read(struct http_queues *queues, const struct object *pool, bool is_2,
		     struct http_queue *ret)
{
	struct members *members = queues->members;
	struct member items =
		fact_of(members, pool, is_2 ? FACT_HTTP_QUEUE_ARRAY_2 : FACT_HTTP_QUEUE_ARRAY);
	struct member at =
		fact_of(members, pool, is_2 ? FACT_HTTP_QUEUE_HEAD_2 : FACT_HTTP_QUEUE_HEAD);
	struct member count =
		fact_of(members, pool, is_2 ? FACT_HTTP_QUEUE_SIZE_2 : FACT_HTTP_QUEUE_SIZE);
	if (items.state == MEMBER_ABSENT || at.state == MEMBER_ABSENT ||
	    count.state == MEMBER_ABSENT)
		return false;
	*ret = (struct http_queue){ .head = at.bits, .size = count.bits };
	if (!items.bits && !count.bits)
		return false; /* it was never used */
	if (array_at(queues->heap, members, items.bits, &ret->items) && ret->items.element &&
	    ret->items.element_size >= HTTP_SLOT_SIZE_MIN && ret->size <= ret->items.length &&
	    (ret->head < ret->items.length || !ret->size) && ret->size <= queues->slots_left) {
		queues->slots_left -= ret->size;
		return true;
	}
	queues->is_broken = true;
	return false;
}

/* A field of an item, by the row of 9 or of 8: the struct is another one. */
static struct member item_field(const struct http_queues *queues, const struct type *item,
				uint64_t at, enum fact fact, enum fact fact_8)
{
	size_t size;
	const char *name = type_name(queues->heap->runtime, item, &size);
	bool is_8 = net_type_is(fact_row(fact_8)->type, name, size);
	return fact_of_struct(queues->members, item, at, is_8 ? fact_8 : fact);
}

struct http_queued http_queue_at(const struct http_queues *queues, const struct http_queue *queue,
				 uint64_t index)
{
	const struct array_info *items = &queue->items;
	uint64_t at = items->data + (queue->head + index) % items->length * items->element_size;
	return (struct http_queued){
		.request = item_field(queues, items->element, at, FACT_HTTP_QUEUED_REQUEST,
				      FACT_HTTP_QUEUED_REQUEST_8),
		.waiter = item_field(queues, items->element, at, FACT_HTTP_QUEUED_WAITER,
				     FACT_HTTP_QUEUED_WAITER_8),
	};
}
