/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * Where in a command line the text begins that is used exactly as typed (hd_command_raw()); NULL:
 * there is none, the whole line is cut into words.
 */
const char *statement_text(const char *line);

/**
 * Where such a text ends: after a ; that is not inside a string, name or comment of SQL.  After it,
 * the line may only hold a comment, or | or > and where the answer goes.
 *
 * @param[in,out] inside What the text is inside of: '\0' at the start, else what the call for the
 * lines before left here.  @return the place after the ;, or NULL: the text goes on in the next
 * line.
 */
const char *statement_end(const char *text, char *inside);

/** The lines of one command, mostly a single one.  Begins with all zeros. */
struct statement {
	char *line; /**< the lines so far, with their line ends */
	size_t size, capacity;
	char inside;
	bool goes_on; /**< the next line belongs to it */
};

/** Add a line, with or without its line end; false when memory is exhausted: nothing was added. */
bool statement_add(struct statement *statement, const char *line);
/** Forget the lines: the next one begins a command. */
void statement_clear(struct statement *statement);
void statement_deinit(struct statement *statement);
