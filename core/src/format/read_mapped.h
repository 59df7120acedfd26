/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/** Read a dump file whose bytes are all in memory; @p path is for messages. */
typedef enum hd_status (*read_bytes_fn)(const uint8_t *bytes, uint64_t size, const char *path,
					const struct format_options *options, struct job *job,
					struct hd_graph **ret, struct hd_error *err);

/**
 * Read the file that @p fd is open on through a mapping of it.
 *
 * @retval HD_ERR_OS it cannot be mapped, or shrank while it was read
 */
HD_NODISCARD enum hd_status read_mapped(int fd, const char *path, read_bytes_fn read_bytes,
					const struct format_options *options, struct job *job,
					struct hd_graph **ret, struct hd_error *err);
