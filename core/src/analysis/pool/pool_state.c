/* SPDX-License-Identifier: MIT */
#include "analysis/pool/pool_state.h"

#include "runtime/runtime_ops.h"

/* The fields of the numbers, by their names in several releases; those of the counts have bits of one word. */
static const struct {
	enum pool_number number;
	enum fact fact;
} number_fields[] = {
	{ POOL_MIN, FACT_POOL_MIN_THREADS },
	{ POOL_MAX, FACT_POOL_MAX_THREADS },
	{ POOL_BLOCKED, FACT_POOL_BLOCKED_THREADS },
	{ POOL_ADDED, FACT_POOL_ADDED_THREADS },
	{ POOL_CPU, FACT_POOL_CPU_USE },
	{ POOL_REQUESTED, FACT_POOL_REQUESTED_WORKERS },
	{ POOL_REQUESTED, FACT_POOL_HAS_REQUEST },
	{ POOL_LAST_DEQUEUE, FACT_POOL_LAST_TAKEN },
	{ POOL_LAST_DEQUEUE, FACT_POOL_LAST_DISPATCH },
};

static void set_number(struct pool_state *pool, enum pool_number number, int64_t value)
{
	pool->values[number] = value;
	pool->known |= 1u << number;
}

void pool_state_read(struct members *members, struct pool_state *ret)
{
	struct member instance = fact_static(members, FACT_PORTABLE_POOL_ONE);
	*ret = (struct pool_state){ 0 };
	if (!instance.bits)
		return;
	ret->address = instance.bits;
	for (size_t i = 0; i < sizeof(number_fields) / sizeof(number_fields[0]); i++) {
		struct member value = fact_at(members, ret->address, number_fields[i].fact);
		if (value.state == MEMBER_READ)
			set_number(ret, number_fields[i].number, member_signed(&value));
	}
	struct member counts = fact_at(members, ret->address, FACT_POOL_COUNTS);
	/* ThreadCounts: three numbers of 16 bits. */
	if (counts.state == MEMBER_READ) {
		set_number(ret, POOL_WORKING, (int64_t)(counts.bits & 0xffff));
		set_number(ret, POOL_EXISTING, (int64_t)(counts.bits >> 16 & 0xffff));
		set_number(ret, POOL_GOAL, (int64_t)(counts.bits >> 32 & 0xffff));
	}
}

const char *pool_queue_name(enum pool_queue queue)
{
	static const char *const names[POOL_QUEUES] = {
		[POOL_QUEUE_HIGH] = "high",     [POOL_QUEUE_LOCAL] = "local",
		[POOL_QUEUE_GLOBAL] = "global", [POOL_QUEUE_ASSIGNED] = "assigned",
		[POOL_QUEUE_LOW] = "low",
	};
	return names[queue];
}

void pool_queues_deinit(struct pool_queues *queues)
{
	for (unsigned int i = 0; i < POOL_QUEUES; i++)
		queue_items_deinit(&queues->queues[i]);
	*queues = (struct pool_queues){ 0 };
}

/* The array in a static field of .NET 9 and later, or in that of 8. */
static bool read_local_queues(struct heap *heap, struct members *members, struct array_info *ret)
{
	struct member queues = fact_static(members, FACT_LOCAL_QUEUES_ALL);
	if (queues.state == MEMBER_ABSENT)
		queues = fact_static(members, FACT_LOCAL_QUEUES_ALL_8);
	return array_at(heap, members, queues.bits, ret);
}

static enum hd_status read_array_of_queues(const struct queue_reader *reader,
					   const struct array_info *array, bool is_stealing,
					   struct queue_items *items, struct hd_error *err)
{
	for (uint64_t i = 0; i < array->length; i++) {
		uint64_t queue = array_reference(reader->heap, array, i);
		if (queue && is_stealing) {
			TRY(stealing_queue_append(items, reader, queue, err));
		} else if (queue) {
			TRY(concurrent_queue_append(items, reader, queue, err));
		}
	}
	return HD_OK;
}

static enum hd_status read_named(const struct queue_reader *reader, uint64_t holder,
				 enum fact field, struct queue_items *items, struct hd_error *err)
{
	struct member queue = fact_at(reader->members, holder, field);
	/* A queue that this version does not have is empty. */
	if (queue.state == MEMBER_READ)
		return concurrent_queue_append(items, reader, queue.bits, err);
	items->is_broken |= queue.state == MEMBER_UNREADABLE;
	return HD_OK;
}

enum hd_status pool_queues_read(const struct queue_reader *reader, struct pool_queues *ret,
				struct hd_error *err)
{
	struct queue_items *queues = ret->queues;
	struct array_info array;
	*ret = (struct pool_queues){ 0 };
	struct member holder = fact_static(reader->members, FACT_POOL_WORK);
	if (!holder.bits)
		return HD_OK;
	uint64_t work = holder.bits;
	ret->is_known = true;
	TRY(read_named(reader, work, FACT_WORK_HIGH, &queues[POOL_QUEUE_HIGH], err));
	TRY(read_named(reader, work, FACT_WORK_GLOBAL, &queues[POOL_QUEUE_GLOBAL], err));
	/* The compiler of NativeAOT leaves it out: an experiment that is off is all that uses it (doc/nativeaot.md 7.4). */
	if (runtime_capabilities(reader->heap->runtime) & RUNTIME_METADATA)
		TRY(read_named(reader, work, FACT_WORK_LOW, &queues[POOL_QUEUE_LOW], err));
	if (array_at(reader->heap, reader->members,
		     fact_at(reader->members, work, FACT_WORK_ASSIGNED).bits, &array)) {
		TRY(read_array_of_queues(reader, &array, false, &queues[POOL_QUEUE_ASSIGNED], err));
	}
	if (read_local_queues(reader->heap, reader->members, &array))
		TRY(read_array_of_queues(reader, &array, true, &queues[POOL_QUEUE_LOCAL], err));
	return HD_OK;
}
