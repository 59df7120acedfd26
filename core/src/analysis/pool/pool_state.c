/* SPDX-License-Identifier: MIT */
#include "analysis/pool/pool_state.h"

#define POOL_TYPE  "System.Threading.PortableThreadPool"
#define QUEUE_TYPE "System.Threading.ThreadPoolWorkQueue"
#define LOCAL_TYPE QUEUE_TYPE "+WorkStealingQueueList"

/* The fields of the numbers; those of counts._data have bits of one word. */
static const char *const number_fields[POOL_NUMBERS] = {
	[POOL_MIN] = "_minThreads",
	[POOL_MAX] = "_maxThreads",
	[POOL_BLOCKED] = "_numBlockedThreads",
	[POOL_ADDED] = "_numThreadsAddedDueToBlocking",
	[POOL_CPU] = "_cpuUtilization",
	[POOL_REQUESTED] = "_separated.numRequestedWorkers",
	[POOL_LAST_DEQUEUE] = "_separated.lastDequeueTime",
};

/* ThreadCounts: three numbers of 16 bits. */
#define COUNTS_FIELD "_separated.counts._data"

static void set_number(struct pool_state *pool, enum pool_number number, int64_t value)
{
	pool->values[number] = value;
	pool->known |= 1u << number;
}

void pool_state_read(struct members *members, struct pool_state *ret)
{
	struct member instance = member_static(members, POOL_TYPE, "ThreadPoolInstance");
	*ret = (struct pool_state){ 0 };
	if (instance.state != MEMBER_READ || !instance.bits)
		return;
	ret->address = instance.bits;
	for (unsigned int i = 0; i < POOL_NUMBERS; i++) {
		if (!number_fields[i])
			continue;
		struct member value = member_at(members, ret->address, number_fields[i]);
		if (value.state == MEMBER_READ)
			set_number(ret, (enum pool_number)i, member_signed(&value));
	}
	struct member counts = member_at(members, ret->address, COUNTS_FIELD);
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
}

/* The array in a static field of .NET 9 and later, or in that of 8. */
static bool read_local_queues(struct heap *heap, struct members *members, struct array_info *ret)
{
	struct member queues = member_static(members, LOCAL_TYPE, "s_queues");
	if (queues.state == MEMBER_ABSENT)
		queues = member_static(members, LOCAL_TYPE, "_queues");
	struct object object;
	return queues.state == MEMBER_READ && member_object(members, queues.bits, &object) &&
	       array_read(heap, &object, ret);
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
				 const char *field, struct queue_items *items, struct hd_error *err)
{
	struct member queue = member_at(reader->members, holder, field);
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
	struct object assigned;
	*ret = (struct pool_queues){ 0 };
	struct member holder =
		member_static(reader->members, "System.Threading.ThreadPool", "s_workQueue");
	if (holder.state != MEMBER_READ || !holder.bits)
		return HD_OK;
	uint64_t work = holder.bits;
	ret->is_known = true;
	TRY(read_named(reader, work, "highPriorityWorkItems", &queues[POOL_QUEUE_HIGH], err));
	TRY(read_named(reader, work, "workItems", &queues[POOL_QUEUE_GLOBAL], err));
	TRY(read_named(reader, work, "lowPriorityWorkItems", &queues[POOL_QUEUE_LOW], err));
	struct member list = member_at(reader->members, work, "_assignableWorkItemQueues");
	if (list.state == MEMBER_READ && member_object(reader->members, list.bits, &assigned) &&
	    array_read(reader->heap, &assigned, &array)) {
		TRY(read_array_of_queues(reader, &array, false, &queues[POOL_QUEUE_ASSIGNED], err));
	}
	if (read_local_queues(reader->heap, reader->members, &array))
		TRY(read_array_of_queues(reader, &array, true, &queues[POOL_QUEUE_LOCAL], err));
	return HD_OK;
}
