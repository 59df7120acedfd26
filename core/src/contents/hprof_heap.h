/* SPDX-License-Identifier: MIT */
/* A heap with its contents as an HPROF file: doc/formats.md 10. */
#pragma once

#include "format/format.h"
#include "roots/root_set.h"

/** A heap that is written, and what was met on the way. */
struct hprof_heap {
	const struct hd_graph *graph; /**< of snapshot_create(), with references */
	struct heap *heap;
	const struct root_set *roots;
	uint64_t
		unread; /**< objects whose bytes are not all in the target: they are 0 in the file */
	uint64_t cut;   /**< arrays that are too long for the format */
};

/**
 * Write all objects with fields, elements and texts.  Other statuses are those of struct format's write.
 *
 * @retval HD_ERR_UNSUPPORTED no ids are left for what the format needs
 */
HD_NODISCARD enum hd_status hprof_write_heap(struct hprof_heap *heap,
					     const struct write_options *options, struct job *job,
					     format_write_fn write, void *arg,
					     struct hd_error *err);
