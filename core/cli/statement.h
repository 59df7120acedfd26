/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_STATEMENT_H
#define HEAPDUMP_CLI_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Where in a command line the text begins that is taken as it is written (hd_command_raw()); NULL: the line
 * has none, all of it is cut into words.
 */
const char *statement_text(const char *line);

/**
 * Where such a text ends: after a ; that is in no string, name or comment of SQL, and that nothing follows
 * in its line but a comment, or | or > and where the answer goes.
 *
 * @param[in,out] inside What the text is inside of: '\0' at its beginning, else as the call for the lines
 * before left it.
 * @return after the ;, or NULL: it goes on in the next line.
 */
const char *statement_end(const char *text, char *inside);

/** The lines of one command: most are one.  All zeros to begin with. */
struct statement {
	char *line; /**< so far, with their line ends */
	size_t size, capacity;
	char inside;
	bool goes_on; /**< the next line belongs to it */
};

/** Add a line, which ends with its line end or without; false when memory is exhausted: nothing was added. */
bool statement_add(struct statement *statement, const char *line);
/** Forget the lines: the next one begins a command. */
void statement_clear(struct statement *statement);
void statement_deinit(struct statement *statement);

#endif
