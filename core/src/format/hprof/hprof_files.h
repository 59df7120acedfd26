/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/** Do these bytes begin a file of this format? */
bool hprof_detect(const char *bytes, size_t size);

/** Read an HPROF file; see struct format. */
HD_NODISCARD enum hd_status hprof_read(const struct dump_input *input,
				       const struct format_options *options, struct job *job,
				       struct hd_graph **ret, struct hd_error *err);
/** The same from memory. */
HD_NODISCARD enum hd_status hprof_read_bytes(const struct dump_input *input,
					     const struct format_options *options, struct job *job,
					     struct hd_graph **ret, struct hd_error *err);

/** struct format's write: classes, references and sizes of a graph, which has no values. */
enum hd_status hprof_write(const struct hd_graph *graph, const struct write_options *options,
			   struct job *job, format_write_fn write, void *arg, struct hd_error *err);
