/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/*
 * Formats of other viewers, only written (format.write): V8's heap snapshot (v8/src/profiler/
 * heap-snapshot-generator.cc), which Chrome's and Edge's DevTools open; folded stacks
 * (flamegraph.pl) and speedscope JSON of retained bytes along the dominator tree, by type.
 */
HD_NODISCARD enum hd_status heapsnapshot_write(const struct hd_graph *graph,
					       const struct write_options *options, struct job *job,
					       format_write_fn write, void *arg,
					       struct hd_error *err);
HD_NODISCARD enum hd_status folded_write(const struct hd_graph *graph,
					 const struct write_options *options, struct job *job,
					 format_write_fn write, void *arg, struct hd_error *err);
HD_NODISCARD enum hd_status speedscope_write(const struct hd_graph *graph,
					     const struct write_options *options, struct job *job,
					     format_write_fn write, void *arg,
					     struct hd_error *err);
