/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_REPORT_STATISTICS_H
#define HEAPDUMP_SRC_REPORT_STATISTICS_H

#include "graph/graph.h"
#include "report/json.h"

/** Objects and bytes of one type; names are borrowed. */
struct type_count {
	uint64_t id;        /**< MethodTable, or the dump's type id */
	const char *name;   /**< NULL: unknown */
	const char *domain; /**< of a dump file's section; NULL: none */
	uint32_t name_size, domain_size;
	uint32_t type; /**< index: the last order of equal rows */
	uint64_t count, size;
};

/** Counts by type, indexed by type until statistics_sort(). */
struct statistics {
	struct type_count *rows;
	size_t row_count, capacity;
	uint64_t count, size; /**< of all */
};

/** @p count rows, all 0, for the caller to name. */
HD_NODISCARD enum hd_status statistics_init(struct statistics *statistics, size_t count,
					    struct hd_error *err);
/** One row for each type of @p graph. */
HD_NODISCARD enum hd_status statistics_of_graph(struct statistics *statistics,
						const struct hd_graph *graph, struct hd_error *err);
void statistics_deinit(struct statistics *statistics);

/** Count one object. */
void statistics_add(struct statistics *statistics, uint32_t type, uint64_t size);

/** Drop rows without objects, unless @p all; ascending by size, or by count. */
void statistics_sort(struct statistics *statistics, bool by_count, bool all);

/** SOS's table: MT Count TotalSize Class Name, and the line of the total. */
void statistics_text(const struct statistics *statistics, struct out *out);
/** "types" and "total". */
void statistics_json(const struct statistics *statistics, struct json *json);

/** The header of a list of objects: Address MT Size. */
void object_row_header(struct out *out);
/** A row of it; with class name behind it when @p type_name. */
void object_row(struct out *out, const struct hd_graph *graph, uint32_t node, bool type_name);
/** An element of "objects". */
void object_json(struct json *json, const struct hd_graph *graph, uint32_t node);

#endif
