/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "format/format.h"
#include "util/text.h"

/** A file in memory that has a path until dump_file_close(). */
struct dump_file {
	int fd;
	char path[32];
};

void dump_file_make(struct dump_file *file, const char *bytes, size_t size);
void dump_file_close(struct dump_file *file);

/** How a text is opened; zero-initialised: strictly, by one worker, in any amount of memory. */
struct dump_reading {
	bool lenient;
	unsigned int workers;
	uint64_t max_mem;
	bool exact; /**< names of types as they are */
};

/** format_open() of a file that holds @p size bytes. */
enum hd_status dump_open(const char *bytes, size_t size, const struct dump_reading *how,
			 struct hd_graph **ret, struct hd_error *err);

/** The graph of a text; leaves the test when it cannot be read. */
struct hd_graph *dump_graph(const char *string);
/** Same, leniently. */
struct hd_graph *dump_graph_lenient(const char *string);

/** The whole file @p name of the sources; to be given to text_deinit(). */
struct text dump_source_file(const char *name);

/** The text that the writer makes of @p graph; to be given to text_deinit(). */
struct text dump_written(const struct hd_graph *graph);

/** The finding of a kind, or NULL. */
const struct graph_finding *dump_finding(const struct hd_graph *graph, const char *kind);

/** Two graphs are compared by this, besides their nodes, references, roots and domains. */
enum graph_extent {
	GRAPH_CONTENT, /**< types by domain and id; findings aside */
	GRAPH_EXACT,   /**< types in their order, and findings with their lines and texts */
};

/** Fail the test unless both graphs are the same in everything. */
void graphs_equal_at(const struct hd_graph *got, const struct hd_graph *expected,
		     enum graph_extent extent, const char *file, unsigned int line);
#define ASSERT_GRAPH(got, expected, extent) \
	graphs_equal_at((got), (expected), (extent), __FILE__, __LINE__)

/** Fail the test unless the text @p bytes becomes the graph of @p expected. */
#define ASSERT_SAME_DUMP(got, expected)                                               \
	do {                                                                          \
		struct hd_graph *expected_ = dump_graph(expected);                    \
		graphs_equal_at((got), expected_, GRAPH_CONTENT, __FILE__, __LINE__); \
		graph_destroy(expected_);                                             \
	} while (0)
