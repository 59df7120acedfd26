/* SPDX-License-Identifier: MIT */
/* A table of lines as DWARF has it (DWARF 4, 6.2): a program that writes rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/text.h"

/** Most files of a table. */
#define LINE_FILES_MAX 32768u

/** Where an instruction comes from. */
struct line_place {
	uint32_t file; /**< its number in the table; 0: not known, and neither is the line */
	uint32_t line;
	bool is_statement; /**< a debugger may stop here for the line */
};

/** The table while it is written; zero-initialised is empty. */
struct line_table {
	struct text program; /**< the rows */
	struct text files;   /**< the names of the files */
	const char **paths;  /**< a hash table of the files that have a number; */
	uint32_t *numbers;   /**< their numbers */
	uint32_t files_count;
	uint64_t address;       /**< of the last row */
	struct line_place last; /**< as the program has it; file 0 stands for 1 */
	bool has_rows;          /**< the sequence has a row */
	bool has_statement;     /**< one of them is a statement: the prologue ends at the first */
	uint64_t rows;          /**< all that were written */
};
void line_table_deinit(struct line_table *table);

/**
 * The number of a file.
 *
 * @param path Borrowed until the table is written; the same pointer is the same file.
 * @return 0: there are too many, or memory is exhausted, which line_table_failed() tells
 */
uint32_t line_table_file(struct line_table *table, const char *path);

/** Begin the rows of a function at @p address; end them at the end of the function. */
void line_table_begin(struct line_table *table, uint64_t address);
/** The instructions from @p address on, which is not before the last row, come from @p place. */
void line_table_row(struct line_table *table, uint64_t address, const struct line_place *place);
void line_table_end(struct line_table *table, uint64_t address);

bool line_table_failed(const struct line_table *table);
/** Append the content of the section .debug_line. */
void line_table_write(const struct line_table *table, struct text *ret);
