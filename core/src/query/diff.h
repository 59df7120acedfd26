/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_QUERY_DIFF_H
#define HEAPDUMP_SRC_QUERY_DIFF_H

#include "graph/graph.h"

/** One type name in two heaps, its objects of all sections added up. */
struct diff_row {
	const char *name; /**< borrowed from one of the graphs; NULL: types that are not defined */
	uint32_t name_size;
	uint64_t count_before, count_after;
	uint64_t size_before, size_after;
};

struct diff {
	struct diff_row *rows; /**< most growth in bytes first; equal ones by count, then by name */
	size_t row_count, row_capacity;
};

/**
 * Compare by type name.
 *
 * @param[out] ret To be given to diff_deinit(); its names live as long as both graphs.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status diff_init(const struct hd_graph *before, const struct hd_graph *after,
				      struct diff *ret, struct hd_error *err);

void diff_deinit(struct diff *diff);

/** Order of two names as bytes; NULL comes first. */
int compare_names(const char *a, uint32_t a_size, const char *b, uint32_t b_size);

#endif
