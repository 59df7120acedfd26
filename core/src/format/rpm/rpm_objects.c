/* SPDX-License-Identifier: MIT */
#include "format/rpm/rpm_objects.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "graph/heap_graph.h"
#include "util/alloc.h"
#include "util/fuzzed.h"

/* A window that moves along a text log in blocks. */

#define READ_BLOCK_SIZE ((size_t)FUZZED(256 << 10, 512))

static enum hd_status shrank(const struct rpm_range *range, struct hd_error *err)
{
	errno = ENODATA;
	return fail(err, HD_ERR_OS, 0, "%s: the file shrank while it was read", range->path);
}

enum hd_status rpm_window_read(struct rpm_window *window, const struct rpm_range *range,
			       struct hd_error *err)
{
	uint64_t left = range->file_size - window->offset - window->used;
	size_t want = left < READ_BLOCK_SIZE ? (size_t)left : READ_BLOCK_SIZE;
	if (window->capacity - window->used < want + 1) {
		size_t capacity = window->capacity + window->capacity / 2 + want + 1;
		char *bytes = mem_realloc(window->bytes, capacity, 1);
		TRY_MEMORY(bytes, err);
		window->bytes = bytes;
		window->capacity = capacity;
	}
	ssize_t got;
	do {
		got = pread(range->fd, window->bytes + window->used, want,
			    (off_t)(window->offset + window->used));
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		return fail(err, HD_ERR_OS, 0, "%s: cannot read: %s", range->path,
			    strerrordesc_np(errno));
	}
	if (got == 0)
		return shrank(range, err);
	window->used += (size_t)got;
	return HD_OK;
}

void rpm_window_drop(struct rpm_window *window, size_t size)
{
	memmove(window->bytes, window->bytes + size, window->used - size);
	window->used -= size;
	window->offset += size;
	window->searched = window->searched > size ? window->searched - size : 0;
}

size_t rpm_window_whole_lines(struct rpm_window *window, const struct rpm_range *range)
{
	size_t limit = window->used;
	if (window->offset + limit > range->end) {
		/* The last line of the range ends at the first newline at or behind end - 1. */
		size_t from = (size_t)(range->end - 1 - window->offset);
		if (from < window->searched)
			from = window->searched;
		const char *newline = memchr(window->bytes + from, '\n', limit - from);
		if (newline)
			return (size_t)(newline - window->bytes) + 1;
	}
	const char *newline =
		memrchr(window->bytes + window->searched, '\n', limit - window->searched);
	/* A line of many blocks is searched once, not once for each block. */
	if (!newline)
		window->searched = limit;
	return newline ? (size_t)(newline - window->bytes) + 1 : 0;
}

enum hd_status rpm_window_skip_line(struct rpm_window *window, const struct rpm_range *range,
				    bool is_own, struct hd_error *err)
{
	for (;;) {
		const char *newline =
			window->used ? memchr(window->bytes, '\n', window->used) : NULL;
		if (newline) {
			rpm_window_drop(window, (size_t)(newline - window->bytes) + 1);
			return HD_OK;
		}
		if (window->used)
			rpm_window_drop(window, window->used);
		if (window->offset >= range->file_size)
			return HD_OK;
		TRY(rpm_window_read(window, range, err));
		if (!job_step(range->job, range->worker, is_own ? window->used : 0))
			return fail_cancelled(err);
	}
}

enum hd_status rpm_window_first_line(struct rpm_window *window, const struct rpm_range *range,
				     struct hd_error *err)
{
	if (range->begin == 0)
		return HD_OK;
	window->offset = range->begin - 1;
	return rpm_window_skip_line(window, range, false, err);
}

/* The arrays of objects and references into which lines are read. */

/*
 * A new capacity after @p count elements have filled @p capacity: as many as the whole range will
 * need if it goes on like this.  The first worker's arrays become those of all.
 */
static size_t extrapolate(const struct rpm_range *range, size_t count, size_t capacity)
{
	uint64_t behind = range->position - range->begin + 1;
	uint64_t all = (range->worker ? range->end : range->file_size) - range->begin;
	double scale = all > behind ? (double)all / (double)behind : 1.0;
	size_t least = grown_capacity(capacity, sizeof(uint64_t));
	size_t guess = (size_t)((double)count * scale * 1.02) + 4096;
	return guess > least ? guess : least;
}

static bool within_budget(const struct rpm_objects *objects, size_t count, size_t refs,
			  struct job *job, struct hd_error *err)
{
	size_t per_object = sizeof(*objects->ids) + sizeof(*objects->types) +
			    sizeof(*objects->sizes) + sizeof(*objects->degrees);
	return job_check_memory(job, count * per_object + refs * sizeof(*objects->refs), err) ==
	       HD_OK;
}

static bool resize_array(void **array, size_t old_capacity, size_t capacity, size_t size)
{
	void *ptr = pages_resize(*array, old_capacity, capacity, size);
	if (ptr)
		*array = ptr;
	return ptr;
}

enum hd_status rpm_objects_grow(struct rpm_objects *objects, const struct rpm_range *range,
				struct hd_error *err)
{
	size_t old = objects->capacity;
	size_t capacity = extrapolate(range, objects->count, old);
	if (!within_budget(objects, capacity, objects->refs_capacity, range->job, err))
		return HD_ERR_NOMEM;
	if (objects->count >= HD_NONE - 1)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	/* On failure the arrays differ in size, so each gets the old size back. */
	struct {
		void **array;
		size_t size;
	} arrays[] = {
		{ (void **)&objects->ids, sizeof(*objects->ids) },
		{ (void **)&objects->types, sizeof(*objects->types) },
		{ (void **)&objects->sizes, sizeof(*objects->sizes) },
		{ (void **)&objects->degrees, sizeof(*objects->degrees) },
	};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		if (resize_array(arrays[i].array, old, capacity, arrays[i].size))
			continue;
		for (size_t k = 0; k < i; k++) {
			pages_free(*arrays[k].array, capacity, arrays[k].size);
			*arrays[k].array = NULL;
		}
		for (size_t k = i; k < sizeof(arrays) / sizeof(arrays[0]); k++) {
			pages_free(*arrays[k].array, old, arrays[k].size);
			*arrays[k].array = NULL;
		}
		objects->capacity = 0;
		objects->count = 0;
		return fail_nomem(err);
	}
	objects->capacity = capacity;
	return HD_OK;
}

enum hd_status rpm_objects_reserve_refs(struct rpm_objects *objects, size_t count,
					const struct rpm_range *range, struct hd_error *err)
{
	if (objects->refs_capacity - objects->refs_count >= count)
		return HD_OK;
	size_t capacity = extrapolate(range, objects->refs_count, objects->refs_capacity);
	if (capacity < objects->refs_count + count)
		capacity = objects->refs_count + count;
	if (!within_budget(objects, objects->capacity, capacity, range->job, err))
		return HD_ERR_NOMEM;
	TRY_MEMORY(resize_array((void **)&objects->refs, objects->refs_capacity, capacity,
				sizeof(*objects->refs)),
		   err);
	objects->refs_capacity = capacity;
	return HD_OK;
}

void rpm_objects_deinit(struct rpm_objects *objects)
{
	pages_free(objects->ids, objects->capacity, sizeof(*objects->ids));
	pages_free(objects->types, objects->capacity, sizeof(*objects->types));
	pages_free(objects->sizes, objects->capacity, sizeof(*objects->sizes));
	pages_free(objects->degrees, objects->capacity, sizeof(*objects->degrees));
	pages_free(objects->refs, objects->refs_capacity, sizeof(*objects->refs));
	pages_free(objects->large, objects->large_capacity, sizeof(*objects->large));
}
