/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/job.h"

/** The lines of a file that begin at begin <= offset < end, for one worker to read. */
struct rpm_range {
	int fd;
	const char *path; /**< for messages */
	uint64_t begin, end, file_size;
	bool lenient;
	unsigned int worker; /**< its number in the job */
	struct job *job;
	uint64_t position; /**< in the file: bytes before it were read */
};

/**
 * A window on the file, which moves and grows; begins with all zeros. window->bytes is to be freed
 * by mem_free().
 */
struct rpm_window {
	char *bytes; /**< has room for one byte more than used */
	size_t used, capacity;
	uint64_t offset; /**< offset of bytes[0] in the file */
	size_t searched; /**< no newline before here */
};

/**
 * Read another block after the current bytes.
 *
 * @retval HD_OK
 * @retval HD_ERR_OS it cannot be read, or the file shrank
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status rpm_window_read(struct rpm_window *window,
					    const struct rpm_range *range, struct hd_error *err);
/** Move forward by @p size of the used bytes. */
void rpm_window_drop(struct rpm_window *window, size_t size);
/**
 * Go to the first line of the range; the window is still at its beginning.
 *
 * @retval HD_OK also when there is none: the window is at the end of the file
 * @retval HD_ERR_CANCELLED or as rpm_window_read() fails
 */
HD_NODISCARD enum hd_status rpm_window_first_line(struct rpm_window *window,
						  const struct rpm_range *range,
						  struct hd_error *err);
/**
 * Go to the line after the current one; returns as rpm_window_first_line().
 *
 * @param is_own The line belongs to the range: its bytes count as progress.
 */
HD_NODISCARD enum hd_status rpm_window_skip_line(struct rpm_window *window,
						 const struct rpm_range *range, bool is_own,
						 struct hd_error *err);
/** How many bytes of the window are complete lines of the range. */
size_t rpm_window_whole_lines(struct rpm_window *window, const struct rpm_range *range);

/** The size of an object of SIZE_LARGE bytes or more; objects ascend in a chunk. */
struct rpm_large {
	size_t object; /**< its number in the chunk; the merge adds those of the chunks before */
	uint64_t size;
};

/** Objects and their references, in the order of the lines. */
struct rpm_objects {
	/* one element per object; pages, all four with the same capacity */
	uint64_t *ids;
	uint32_t *types; /**< row in rpm_types */
	uint32_t *sizes; /**< SIZE_LARGE: see large */
	uint32_t *degrees;
	size_t count, capacity;
	uint64_t *refs; /**< pages; ids, in the order of the objects */
	size_t refs_count, refs_capacity;
	struct rpm_large *large; /**< pages */
	size_t large_count, large_capacity;
	bool ascending; /**< ids strictly ascend */
};

/**
 * Make room for more objects: as many as @p range will need if its rest is like the part up to its
 * position.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED over 4 billion
 * @retval HD_ERR_NOMEM the arrays may be gone, and the count 0
 */
HD_NODISCARD enum hd_status rpm_objects_grow(struct rpm_objects *objects,
					     const struct rpm_range *range, struct hd_error *err);

/**
 * Make room for @p count more references.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status rpm_objects_reserve_refs(struct rpm_objects *objects, size_t count,
						     const struct rpm_range *range,
						     struct hd_error *err);

void rpm_objects_deinit(struct rpm_objects *objects);
