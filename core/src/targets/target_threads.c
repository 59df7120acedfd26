/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

static int compare_tids(const void *a, const void *b, void *arg)
{
	const struct target_thread *threads = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (threads[left].tid != threads[right].tid)
		return threads[left].tid < threads[right].tid ? -1 : 1;
	return left < right ? -1 : left > right;
}

enum hd_status target_sort_threads(struct target *target, struct hd_error *err)
{
	if (!target->threads.count || target->threads.count > UINT32_MAX)
		return HD_OK;
	TRY(target_reserve(target, target->threads.count, sizeof(*target->threads.order), err));
	uint32_t *order = mem_alloc(target->threads.count, sizeof(*order));
	TRY_MEMORY(order, err);
	for (size_t i = 0; i < target->threads.count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, target->threads.count, sizeof(*order), compare_tids, target->threads.rows);
	mem_free(target->threads.order);
	target->threads.order = order;
	return HD_OK;
}

const struct target_thread *target_thread(const struct target *target, int32_t tid)
{
	if (!target->threads.order) {
		for (size_t i = 0; i < target->threads.count; i++) {
			if (target->threads.rows[i].tid == tid)
				return &target->threads.rows[i];
		}
		return NULL;
	}
	size_t low = 0, high = target->threads.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (target->threads.rows[target->threads.order[middle]].tid < tid) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	const struct target_thread *found =
		low < target->threads.count ? &target->threads.rows[target->threads.order[low]]
					    : NULL;
	return found && found->tid == tid ? found : NULL;
}

int64_t target_thread_number(const struct target *target, uint64_t id)
{
	const struct target_thread *thread =
		id && id <= INT32_MAX ? target_thread(target, (int32_t)id) : NULL;
	if (!thread)
		return -1;
	if (!target->debugger.route)
		return thread - target->threads.rows;
	return thread->number ? (int64_t)thread->number : -1;
}

/*
 * Bytes of struct pthread (glibc 2.36: 2304; musl: less), and of the vectors and registers that may
 * follow.
 */
#define CONTROL_BLOCK 4096u

uint64_t target_stack_end(const struct target *target, const struct target_thread *thread,
			  uint64_t sp, uint64_t end)
{
	uint64_t block = arch_thread_block(target->arch, thread->registers);
	uint64_t page = target->arch->space.page_min;
	if (block <= sp || block >= end || end - block <= CONTROL_BLOCK + page)
		return end;
	return page_align(page, block + CONTROL_BLOCK);
}

uint64_t target_thread_sp(const struct target *target, const struct target_thread *thread)
{
	return arch_word(target->arch, thread->registers, target->arch->sp);
}
