/* SPDX-License-Identifier: MIT */
/* A window that moves along a text log in blocks. */
#include "format/rpm/rpm_window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/fuzzed.h"

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
