/* SPDX-License-Identifier: MIT */
/* An answer handed to a visitor of heapdump/answer.h. */
#pragma once

#include <heapdump/answer.h>

#include "answer/answering.h"

struct visit_table;

/** One answer that is handed to a visitor; begins with all zeros except the visitor. */
struct visit {
	const struct hd_visitor *visitor;
	/** Set when the command runs: how many bytes the setting max-mem allows; 0: no limit. */
	uint64_t max_mem;
	struct visit_table **tables; /**< in the order in which they began */
	size_t tables_count, tables_capacity;
	struct visit_table *open; /**< the table or record that is being written, or NULL */
	struct hd_value *values;  /**< the values of a row */
	size_t values_capacity;
	struct text sets; /**< the names of the sets of a row */
};

/** Free the tables. */
void visit_deinit(struct visit *visit);
