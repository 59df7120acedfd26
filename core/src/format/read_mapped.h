/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/** Read a dump file whose bytes are all in memory. */
typedef enum hd_status (*read_bytes_fn)(const struct dump_input *input,
					const struct format_options *options, struct job *job,
					struct hd_graph **ret, struct hd_error *err);

/**
 * Read an open file through a mapping of it, which tells its size.
 *
 * @retval HD_ERR_OS it cannot be mapped, or shrank while it was read
 */
HD_NODISCARD enum hd_status read_mapped(const struct dump_input *input, read_bytes_fn read_bytes,
					const struct format_options *options, struct job *job,
					struct hd_graph **ret, struct hd_error *err);
