/* SPDX-License-Identifier: MIT */
/* Tables that several commands answer with. */
#pragma once

#include "analysis/statistics.h"
#include "answer/answering.h"

/** Columns of a list of objects, of a graph or of a heap. */
enum object_column {
	OBJECT_ADDRESS,
	OBJECT_MT,
	OBJECT_TYPE, /**< data only */
	OBJECT_SIZE,
	OBJECT_FREE,
	OBJECT_GENERATION,
	OBJECT_CLASS, /**< text only: the type's name, in the last column */
	OBJECT_NOTE,  /**< text only: "Free" */
	OBJECT_COLUMNS
};

/** "objects": the main table of a command that lists some. */
extern const struct schema object_schema;

/**
 * Begin a list of objects of a graph: Address, MT and Size in text.
 *
 * @param brief How a row is written after answer_be_brief(); NULL: only its id.
 */
void object_table(struct answer *answer, uint64_t limit,
		  void (*brief)(struct out *out, const struct cell *cells));
/** A layout of brief text: the address in at least 12 digits, as SOS has it. */
void brief_address(struct out *out, const struct cell *cells);
/** A row of the list: node @p node of @p graph. */
void object_row(struct answer *answer, const struct hd_graph *graph, uint32_t node);

/** Name of the generation of a node of a dump file; NULL: the graph does not know generations. */
const char *generation_of_node(const struct hd_graph *graph, uint32_t node);

/** "types": counts by type. */
extern const struct schema statistics_schema;
/**
 * "types" and "total": SOS's table with MT, Count, TotalSize, Class Name, and its line of totals.
 */
void statistics_table(struct answer *answer, const struct statistics *statistics);
/** The same as SOS has it in commands that are not about the whole heap: numbers without commas. */
void statistics_table_plain(struct answer *answer, const struct statistics *statistics);
/** Only "total", and its line. */
void statistics_total_plain(struct answer *answer, const struct statistics *statistics);
