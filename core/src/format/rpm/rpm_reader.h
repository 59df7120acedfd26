/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/* The callbacks of rpm_format: see struct format. */
bool rpm_detect(const char *bytes, size_t size);
HD_NODISCARD enum hd_status rpm_read(const struct dump_input *input,
				     const struct format_options *options, struct job *job,
				     struct hd_graph **ret, struct hd_error *err);
HD_NODISCARD enum hd_status rpm_write(const struct hd_graph *graph,
				      const struct write_options *options, struct job *job,
				      format_write_fn write, void *arg, struct hd_error *err);
