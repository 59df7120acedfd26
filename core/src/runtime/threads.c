/* SPDX-License-Identifier: MIT */
/* The managed threads by their ids. */
#include <stdlib.h>

#include "runtime/runtime_base.h"
#include "runtime/thread_state.h"
#include "util/alloc.h"

static int compare_ids(const void *a, const void *b, void *arg)
{
	const struct runtime_thread *threads = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (threads[left].id != threads[right].id)
		return threads[left].id < threads[right].id ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int compare_os_ids(const void *a, const void *b, void *arg)
{
	const struct runtime_thread *threads = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (threads[left].os_id != threads[right].os_id)
		return threads[left].os_id < threads[right].os_id ? -1 : 1;
	bool has_stack = thread_has_stack(&threads[left]);
	if (has_stack != thread_has_stack(&threads[right]))
		return has_stack ? -1 : 1;
	return left < right ? -1 : left > right;
}

static enum hd_status sort_threads_by(const struct runtime_threads *threads,
				      int (*compare)(const void *, const void *, void *),
				      uint32_t **ret, struct hd_error *err)
{
	uint32_t *order = mem_alloc(threads->count + 1, sizeof(*order));
	TRY_MEMORY(order, err);
	for (size_t i = 0; i < threads->count; i++)
		order[i] = (uint32_t)i;
	if (threads->count)
		qsort_r(order, threads->count, sizeof(*order), compare, threads->rows);
	*ret = order;
	return HD_OK;
}

/* Very many objects may ask for the thread that has locked them. */
enum hd_status runtime_threads_sort(struct runtime *runtime, struct hd_error *err)
{
	struct runtime_threads *threads = &runtime->threads;
	TRY(sort_threads_by(threads, compare_ids, &threads->order, err));
	return sort_threads_by(threads, compare_os_ids, &threads->os_order, err);
}

const struct runtime_thread *runtime_thread_by_id(const struct runtime *runtime, uint32_t id)
{
	if (!runtime->threads.order) {
		for (size_t i = 0; i < runtime->threads.count; i++) {
			if (runtime->threads.rows[i].id == id)
				return &runtime->threads.rows[i];
		}
		return NULL;
	}
	size_t low = 0, high = runtime->threads.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (runtime->threads.rows[runtime->threads.order[middle]].id < id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	const struct runtime_thread *found =
		low < runtime->threads.count ? &runtime->threads.rows[runtime->threads.order[low]]
					     : NULL;
	return found && found->id == id ? found : NULL;
}

const struct runtime_thread *runtime_thread_by_os_id(const struct runtime *runtime, uint64_t os_id)
{
	const struct runtime_threads *threads = &runtime->threads;
	if (!threads->os_order || !os_id)
		return NULL;
	size_t low = 0, high = threads->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (threads->rows[threads->os_order[middle]].os_id < os_id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	const struct runtime_thread *found =
		low < threads->count ? &threads->rows[threads->os_order[low]] : NULL;
	return found && found->os_id == os_id ? found : NULL;
}
