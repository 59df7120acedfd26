/* SPDX-License-Identifier: MIT */
/* An answer handed to a visitor of heapdump/answer.h. */
#ifndef HEAPDUMP_SRC_ANSWER_VISIT_H
#define HEAPDUMP_SRC_ANSWER_VISIT_H

#include <heapdump/answer.h>

#include "answer/answer.h"

struct visit_table;

/** Most values of a row. */
#define VISIT_VALUES_MAX SCHEMA_COLUMNS_MAX

/** One answer on its way to a visitor; all zeros but for the visitor to begin with. */
struct visit {
	const struct hd_visitor *visitor;
	uint64_t
		max_mem; /**< set when the command runs: bytes that its setting allows; 0: no limit */
	struct visit_table **tables; /**< in the order in which they began */
	size_t tables_count, tables_capacity;
	struct visit_table *open; /**< whose rows come now, or NULL */
	uint64_t marks;           /**< a bit for each row or record that is open: is it a record? */
	unsigned int marks_count;
	struct text sets; /**< the names of the sets of a row */
};

/** Free the tables. */
void visit_deinit(struct visit *visit);

#endif
