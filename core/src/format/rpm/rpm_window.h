/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_RPM_WINDOW_H
#define HEAPDUMP_SRC_FORMAT_RPM_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/job.h"

/** The lines of a file that begin at begin <= offset < end, for one worker to read. */
struct rpm_range {
	int fd;
	const char *path; /**< for messages */
	uint64_t begin, end, file_size;
	bool lenient;
	unsigned int worker; /**< its number in the job */
	struct job *job;
	uint64_t position; /**< of the file: read up to here */
};

/** A window on the file that moves and grows; begins as zero, window->bytes is freed by mem_free(). */
struct rpm_window {
	char *bytes; /**< room for one byte after those used */
	size_t used, capacity;
	uint64_t offset; /**< in the file, of bytes[0] */
	size_t searched; /**< no newline before here */
};

/**
 * Read another block after the bytes that are there.
 *
 * @retval HD_OK
 * @retval HD_ERR_OS it cannot be read, or the file shrank
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status rpm_window_read(struct rpm_window *window,
					    const struct rpm_range *range, struct hd_error *err);
/** Go on by @p size bytes, of those used. */
void rpm_window_drop(struct rpm_window *window, size_t size);
/**
 * Go to the first line of the range; of a window as it begins.
 *
 * @retval HD_OK there may be none: the window is at the end of the file
 * @retval HD_ERR_CANCELLED or as rpm_window_read() fails
 */
HD_NODISCARD enum hd_status rpm_window_first_line(struct rpm_window *window,
						  const struct rpm_range *range,
						  struct hd_error *err);
/**
 * Go to the line after the one that the window is in; as rpm_window_first_line().
 *
 * @param is_own The line is of the range: its bytes count as progress.
 */
HD_NODISCARD enum hd_status rpm_window_skip_line(struct rpm_window *window,
						 const struct rpm_range *range, bool is_own,
						 struct hd_error *err);
/** How many bytes of the window are whole lines of the range. */
size_t rpm_window_whole_lines(struct rpm_window *window, const struct rpm_range *range);

#endif
