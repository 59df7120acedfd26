/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/** Objects and bytes of one type; names are borrowed. */
struct type_count {
	uint64_t id;        /**< MethodTable, or the dump's type id */
	const char *name;   /**< NULL: unknown */
	const char *domain; /**< domain of a dump file's section; NULL: none */
	uint32_t name_size, domain_size;
	uint32_t type; /**< index; it orders rows that are equal otherwise */
	uint64_t count, size;
};

/** Counts by type, indexed by type until statistics_sort(). */
struct statistics {
	struct type_count *rows;
	size_t row_count, capacity;
	uint64_t count, size; /**< of all rows */
	uint64_t limit;       /**< only the last rows are shown, so many; 0 = all */
};

/** @p count rows, all 0, for the caller to name. */
HD_NODISCARD enum hd_status statistics_init(struct statistics *statistics, size_t count,
					    struct hd_error *err);
/** One row for each type of @p graph, then @p more rows, all 0, for the caller to name. */
HD_NODISCARD enum hd_status statistics_of_graph(struct statistics *statistics,
						const struct hd_graph *graph, size_t more,
						struct hd_error *err);
void statistics_deinit(struct statistics *statistics);

/** Count one object. */
void statistics_add(struct statistics *statistics, uint32_t type, uint64_t size);

/** Drop rows without objects, unless @p all; sort the others by size, or by count, ascending. */
void statistics_sort(struct statistics *statistics, bool by_count, bool all);
