/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/** One type name in two heaps; the objects of all sections are added up. */
struct diff_row {
	const char *name; /**< borrowed from one of the sides; NULL: all types without a
			   * definition */
	uint32_t name_size;
	uint64_t count_before, count_after;
	uint64_t size_before, size_after;
};

struct diff {
	struct diff_row *rows; /**< most growth in bytes first; equal ones by count, then by name */
	size_t row_count, row_capacity;
};

/** One of two heaps: its types, with their counts and sizes. */
struct diff_side {
	const struct graph_type *types;
	size_t type_count;
	uint64_t count, size; /**< of all objects */
};

static inline struct diff_side diff_side_of(const struct hd_graph *graph)
{
	return (struct diff_side){ graph->types, graph->type_count, graph->object_count,
				   graph->total_size };
}

/**
 * Compare by type name.
 *
 * @param[out] ret To be given to diff_deinit(); its names are those of the sides.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status diff_init(const struct diff_side *before, const struct diff_side *after,
				      struct diff *ret, struct hd_error *err);

void diff_deinit(struct diff *diff);

/**
 * Does a type belong to event tracing, by its name?  A process's first trace session, such as one
 * that takes a heap snapshot, makes objects of these types, and of types of reflection that other
 * programs also use.
 */
bool diff_is_tracing(const char *name, uint32_t size);

/**
 * Does the heap have the descriptions of events that the first trace session makes (EventSource.cs:
 * EventMetadata, in an array up to .NET 9, in a Dictionary in .NET 10)?  A program without support
 * for EventSource never has them.
 */
bool diff_has_events(const struct diff_side *side);
/**
 * Has the program the runtime's own event source?  Without it (EventSource.IsSupported is false), tracing
 * leaves no objects.
 */
bool diff_has_event_sources(const struct diff_side *side);

/** Order of two names as bytes; NULL comes first. */
int diff_compare_names(const char *a, uint32_t a_size, const char *b, uint32_t b_size);
