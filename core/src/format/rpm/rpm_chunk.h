/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/rpm/rpm_objects.h"
#include "format/type_table.h"
#include "graph/heap_graph.h"

/*
 * The RPM / XNA text log, version 2.  Source of the format: "Write your own GC Heap Viewer for the
 * .Net Compact Framework" (records, elements, root kinds and flags) and "Heap Dump File
 * Information" of the XNA Game Studio documentation (timestamps of `a` and `c`).
 *
 * A file is read in chunks, one per worker, each a range of whole lines.  A chunk holds what its
 * lines say, without resolving ids; rpm_merge.c makes one graph of all chunks.
 */

/**
 * The longest line that is read, in bytes.  The line of an object has as many references as an
 * array has elements, so it may take a quarter of the job's memory, or this much if that is
 * unlimited.
 */
#define RPM_LINE_MAX        ((size_t)16 << 20)
#define RPM_OBJECT_LINE_MAX ((size_t)1 << 30)

/** A mistake in a line; lenient reading counts each kind separately. */
enum rpm_problem_kind {
	RPM_BAD_HEX,
	RPM_OVERFLOW,
	RPM_MISSING_ELEMENT,
	RPM_SURPLUS_ELEMENT,
	RPM_ROOT_KIND,
	RPM_ROOT_FLAGS,
	RPM_VERSION,
	RPM_UNKNOWN_RECORD,
	RPM_OUTSIDE_SECTION,
	RPM_LONG_LINE,
	RPM_DUPLICATE_TYPE,
	RPM_DUPLICATE_OBJECT,
	RPM_PROBLEM_COUNT,
};

/** The kind of finding that a problem becomes. */
enum finding_kind rpm_problem_finding(enum rpm_problem_kind kind);

/** Problems of one kind: how many, and the first. */
struct rpm_problem {
	uint64_t count;
	uint64_t line; /**< in the chunk, counted from 1 */
	size_t column; /**< in bytes, counted from 1 */
	char text[160];
};

/** A stretch of a chunk between `a` and `c` records. */
struct rpm_segment {
	const char *name; /**< from the `a` record; NULL: continues the section of the chunk before,
			   * or there is none */
	uint32_t name_size;
	uint32_t version;
	uint64_t start, end;
	bool has_start, has_end;
	bool closed; /**< a `c` record ends it, with the name end_name */
	const char *end_name;
	uint32_t end_name_size;
	bool has_records; /**< t, o, r or c */
	uint32_t domain;  /**< set by the merge */
};

/** A type id of one segment. */
struct rpm_type {
	uint64_t id;
	const char *name; /**< NULL until a `t` record names it */
	uint32_t name_size;
	uint32_t segment;
};

struct rpm_root {
	uint64_t id;
	uint32_t container; /**< index of rpm_type, or HD_NONE */
	uint32_t segment;
	uint8_t kind, flags;
};

/** Types that were looked up recently: nearly every object has one of them. */
#define RPM_RECENT_TYPES 256u
struct recent_type {
	uint64_t id;
	uint32_t segment;
	uint32_t type; /**< + 1; 0 = none */
};

/** Types by id, each in its segment. */
struct rpm_types {
	struct rpm_type *rows;
	size_t rows_count, rows_capacity;
	struct type_table table;                     /**< (segment, id) -> row */
	struct recent_type recent[RPM_RECENT_TYPES]; /**< by the low bits of the id */
};

/** The sections, or parts of sections, in a chunk. */
struct rpm_sections {
	struct rpm_segment *segments; /**< the first one has no `a` record */
	size_t segments_count, segments_capacity;
	bool is_open;     /**< the last segment is not closed */
	bool has_records; /**< the last segment has records */
};

/** The problems in the lines of a chunk. */
struct rpm_problems {
	struct rpm_problem counted[RPM_PROBLEM_COUNT]; /**< in lenient reading */
	struct rpm_problem first; /**< in strict reading: when status is HD_ERR_FORMAT */
};

/** One range of lines, parsed. */
struct rpm_chunk {
	struct rpm_range range;
	uint64_t find_object; /**< stop at this object (counted from 1) with its line in lines; 0 =
			       * do not stop */
	struct rpm_objects objects;
	uint64_t parsed_objects; /**< objects.count after reading the range */
	struct rpm_sections sections;
	struct rpm_root *roots;
	size_t roots_count, roots_capacity;
	struct arena *arena; /**< holds the names */
	uint64_t lines;      /**< complete lines that were read so far */
	enum hd_status status;
	struct hd_error err; /**< when status is a failure other than HD_ERR_FORMAT */
	struct rpm_problems problems;
	struct rpm_types types;
};

/**
 * Read and parse the range; the outcome is chunk->status.  Before, only the range is set, and
 * perhaps find_object; to be given to rpm_chunk_deinit() in any case.
 */
void rpm_chunk_read(struct rpm_chunk *chunk);
void rpm_chunk_deinit(struct rpm_chunk *chunk);

/**
 * Parse one line of any content, @p size bytes without its line end (chunk->lines is its number).
 *
 * @retval HD_OK read, or counted as a problem (lenient)
 * @retval HD_ERR_FORMAT chunk->problems.first is set
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status rpm_parse_line(struct rpm_chunk *chunk, const char *line, size_t size);

/** Note a problem at @p column; @return whether reading goes on. */
bool rpm_problem(struct rpm_chunk *chunk, enum rpm_problem_kind kind, size_t column,
		 const char *format, ...) HD_PRINTF(4, 5);

/** How long the line that begins with these bytes may be; @p job may be NULL. */
size_t rpm_line_max(const struct job *job, const char *line, size_t size);

/** Note that the current line is longer than @p limit. */
bool rpm_problem_long_line(struct rpm_chunk *chunk, size_t limit);

/**
 * Index of a type id in the open segment; it is added if it is new.  HD_NONE: memory is exhausted.
 */
uint32_t rpm_chunk_type(struct rpm_chunk *chunk, uint64_t id);

/**
 * The line (counted from 1) of object number @p index of the file; reads the file again. 0 when
 * that fails.
 */
uint64_t rpm_line_of_object(const struct rpm_chunk *chunks, size_t count, uint64_t index);

/**
 * Make the graph of all chunks, which the caller still has to free (their arrays may be taken
 * over).
 *
 * @retval HD_OK
 * @retval HD_ERR_FORMAT a problem between records (a duplicate object, ...).  With several chunks
 * it may be one that can only be located by reading all lines in order: then @p err is not filled
 */
HD_NODISCARD enum hd_status rpm_merge(struct rpm_chunk *chunks, size_t count, struct job *job,
				      struct hd_graph **ret, struct hd_error *err);
