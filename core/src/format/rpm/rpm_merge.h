/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/rpm/rpm_chunk.h"

/** The chunks of one file, which are merged into a graph. */
struct merge {
	struct rpm_chunk *chunks;
	size_t count;
	struct job *job;
	struct hd_error *err;
	struct hd_graph *graph;
	uint32_t **type_maps;    /**< per chunk: index of its rpm_type -> type of the graph */
	struct type_table table; /**< (domain, id) -> type of the graph */
	size_t domains_capacity, types_capacity, findings_capacity;
	uint64_t object_total; /**< objects as the file defines them, duplicates included */
	uint64_t edge_total;
	/* only set when ids do not ascend in the file, else zero: */
	struct csr file_rows; /**< rows in the order of the file; no targets */
	uint32_t *order;      /**< node -> object in the order of the file; file_rows.node_count */
};

/**
 * Add a finding to the graph; @p line 0: it is not about a line.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status merge_finding(struct merge *merge, enum finding_kind kind,
					  uint64_t count, uint64_t line, const char *format, ...)
	HD_PRINTF(5, 6);

/**
 * Fail with HD_ERR_FORMAT at a line and column of the file; the message says what the user can do.
 */
enum hd_status merge_fail(const struct merge *merge, uint64_t line, size_t column,
			  const char *text);

/**
 * The sections of all chunks become the graph's domains, their types its types.  Checks what can
 * only be seen in all chunks together, and reports the first malformed line of the file.
 */
HD_NODISCARD enum hd_status merge_sections(struct merge *merge);
HD_NODISCARD enum hd_status merge_types(struct merge *merge);

/** Make findings of the problems that lenient reading counted. */
HD_NODISCARD enum hd_status merge_problems(struct merge *merge);

/**
 * Make graph->ids, node_types, sizes, large and forward of the objects and references of all
 * chunks; ids that are not defined become missing nodes.
 */
HD_NODISCARD enum hd_status merge_nodes(struct merge *merge);

/**
 * Sort the objects by id; the first chunk's arrays hold all of them.  Identical objects with one id
 * become one, different ones are a problem.  Fills merge->order and merge->file_rows.
 */
HD_NODISCARD enum hd_status merge_sort(struct merge *merge);

/** Put the rows of graph->forward, resolved in the order of the file, in the order of the nodes. */
HD_NODISCARD enum hd_status merge_sort_rows(struct merge *merge);

/** Fill graph->large.rows. */
HD_NODISCARD enum hd_status merge_large(struct merge *merge);

/** Reference number @p index of the file, before it is resolved. */
uint64_t merge_raw_ref(const struct merge *merge, uint64_t index);
