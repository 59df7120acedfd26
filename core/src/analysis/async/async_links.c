/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_links.h"

#include <stdlib.h>

#include "inspect/value.h"
#include "util/alloc.h"
#include "util/sort.h"

void async_links_deinit(struct async_links *links)
{
	pages_free(links->rows, links->rows_capacity, sizeof(*links->rows));
	*links = (struct async_links){ 0 };
}

enum hd_status async_link_add(struct async_links *links, struct async_link link,
			      struct hd_error *err)
{
	if (links->rows_count >= links->limit) {
		links->is_broken = true;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(links, rows), err);
	links->rows[links->rows_count++] = link;
	return HD_OK;
}

/*
 * Add a list that begins at @p first, and ends with null or with the first again.  A cycle that the
 * first is not in is found by the row half as far (Floyd).
 */
static enum hd_status add_list(struct async_links *links, struct members *members, uint64_t first,
			       enum fact next_field, struct async_link link, struct hd_error *err)
{
	size_t begin = links->rows_count;
	for (uint64_t at = first; at;) {
		struct member next = fact_at(members, at, next_field);
		size_t count = links->rows_count - begin;
		if (next.state != MEMBER_READ ||
		    (count && links->rows[begin + count / 2].from == at)) {
			links->is_broken = true;
			return HD_OK;
		}
		link.from = at;
		TRY(async_link_add(links, link, err));
		if (links->rows_count == begin + count)
			return HD_OK;
		at = next.bits == first ? 0 : next.bits;
	}
	return HD_OK;
}

enum hd_status async_links_of_semaphore(struct async_links *links, struct members *members,
					const struct object *semaphore, struct hd_error *err)
{
	struct member head = fact_of(members, semaphore, FACT_SEMAPHORE_WAITERS);
	const struct async_link link = { .to = semaphore->address, .kind = LINK_SEMAPHORE };
	if (head.state != MEMBER_READ)
		return HD_OK;
	return add_list(links, members, head.bits, FACT_SEMAPHORE_NODE_NEXT, link, err);
}

/* Where a channel has those who wait: the fields of .NET 10, then those of 9 and 8. */
static const struct {
	enum fact field;
	enum async_link_kind kind;
} waiter_lists[] = {
	{ FACT_CHANNEL_READERS, LINK_READ },   { FACT_CHANNEL_WAITING_READERS, LINK_READ },
	{ FACT_CHANNEL_WRITERS, LINK_WRITE },  { FACT_CHANNEL_WAITING_WRITERS, LINK_WRITE },
	{ FACT_CHANNEL_WAITING_READERS_8, LINK_READ },   { FACT_CHANNEL_WAITING_WRITERS_8, LINK_WRITE },
}, waiter_queues[] = {
	{ FACT_CHANNEL_READERS_8, LINK_READ },
	{ FACT_CHANNEL_WRITERS_8, LINK_WRITE },
}, single_waiters[] = {
	{ FACT_CHANNEL_READER, LINK_READ },
	{ FACT_CHANNEL_WAITING_READER, LINK_READ },
};

/* The operations in a Deque: a ring buffer (Deque.cs). */
static enum hd_status add_queue(struct async_links *links, struct heap *heap,
				struct members *members, uint64_t queue, struct async_link link,
				struct hd_error *err)
{
	struct array_info array;
	struct member elements = fact_at(members, queue, FACT_DEQUE_ARRAY);
	struct member head = fact_at(members, queue, FACT_DEQUE_HEAD);
	struct member size = fact_at(members, queue, FACT_DEQUE_SIZE);
	if (elements.state != MEMBER_READ || head.state != MEMBER_READ || !size.bits)
		return HD_OK;
	if (!array_at(heap, members, elements.bits, &array) || size.bits > array.length ||
	    head.bits >= array.length) {
		links->is_broken = true;
		return HD_OK;
	}
	for (uint64_t i = 0; i < size.bits && links->rows_count < links->limit; i++) {
		link.from = array_reference(heap, &array, (head.bits + i) % array.length);
		if (link.from)
			TRY(async_link_add(links, link, err));
	}
	return HD_OK;
}

enum hd_status async_links_of_channel(struct async_links *links, struct heap *heap,
				      struct members *members, const struct object *channel,
				      struct hd_error *err)
{
	struct async_link link = { .to = channel->address };
	for (size_t i = 0; i < sizeof(waiter_lists) / sizeof(waiter_lists[0]); i++) {
		struct member first = fact_of(members, channel, waiter_lists[i].field);
		link.kind = waiter_lists[i].kind;
		if (first.bits) {
			TRY(add_list(links, members, first.bits, FACT_OPERATION_NEXT, link, err));
		}
	}
	for (size_t i = 0; i < sizeof(waiter_queues) / sizeof(waiter_queues[0]); i++) {
		struct member queue = fact_of(members, channel, waiter_queues[i].field);
		link.kind = waiter_queues[i].kind;
		if (queue.bits)
			TRY(add_queue(links, heap, members, queue.bits, link, err));
	}
	for (size_t i = 0; i < sizeof(single_waiters) / sizeof(single_waiters[0]); i++) {
		struct member waiter = fact_of(members, channel, single_waiters[i].field);
		link.kind = single_waiters[i].kind;
		link.from = waiter.bits;
		if (waiter.bits)
			TRY(async_link_add(links, link, err));
	}
	link.kind = LINK_COMPLETION;
	link.from = fact_of(members, channel, FACT_CHANNEL_COMPLETION).bits;
	return link.from ? async_link_add(links, link, err) : HD_OK;
}

ORDER_BY2(compare_links, struct async_link, from, to)

void async_links_sort(struct async_links *links)
{
	if (links->rows_count)
		qsort(links->rows, links->rows_count, sizeof(*links->rows), compare_links);
}

const struct async_link *async_link_find(const struct async_links *links, uint64_t from)
{
	size_t row = ROWS_FROM(links->rows, links->rows_count, from, from);
	return row < links->rows_count && links->rows[row].from == from ? &links->rows[row] : NULL;
}
