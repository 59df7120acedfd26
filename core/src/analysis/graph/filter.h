/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"
#include "graph/reach.h"

/** Which objects a command is about; zero-initialised: all. */
struct filter {
	const char *type_part; /**< part of the type's name, see name_matches(); NULL: any */
	bool has_mt;
	uint64_t mt;       /**< type id, in any section */
	uint64_t min, max; /**< bytes; max counts if has_max */
	bool has_max;
	bool has_generation;
	unsigned int generation;  /**< see graph_places.generation, which must be there */
	uint64_t begin, end;      /**< ids: begin <= id < end; end 0 = to the last */
	const struct reach *live; /**< NULL: dead or alive */
	bool dead;                /**< if live is set: the objects that are not in it */
	uint64_t *types;          /**< bitmap of the types that pass; made by filter_prepare() */
	uint32_t first, last;     /**< nodes of the range */
};

/**
 * Compute what is known before the first object.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status filter_prepare(struct filter *filter, const struct hd_graph *graph,
					   struct hd_error *err);
void filter_deinit(struct filter *filter, const struct hd_graph *graph);

/** The first object that passes, beginning with @p node; or filter->last. */
uint32_t filter_next(const struct filter *filter, const struct hd_graph *graph, uint32_t node);
