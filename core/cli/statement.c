/* SPDX-License-Identifier: MIT */
/*
 * Commands that take a text exactly as typed: where it begins in a line, and in which line it ends.
 */
#include "statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/heapdump.h>

#define BLANKS " \t\n\v\f\r"
/* Longer than the name of any command. */
#define NAME_SIZE 64

const char *statement_text(const char *line)
{
	char name[NAME_SIZE];
	line += strspn(line, BLANKS);
	size_t size = strcspn(line, BLANKS), begin;
	if (size >= sizeof(name))
		return NULL;
	(void)snprintf(name, sizeof(name), "%.*s", (int)size, line);
	if (!hd_command_raw(name, line + size, &begin))
		return NULL;
	const char *text = line + size + begin;
	return *text == '|' || *text == '>' ? NULL : text;
}

/* Does a ; before @p at end a text: at the end of its line, or before where the answer goes? */
static bool ends_text(const char *at)
{
	at += strspn(at, " \t\v\f\r");
	return !*at || strchr("\n|>", *at) || strncmp(at, "--", 2) == 0;
}

/*
 * The sign of the thing that begins at @p at: a string or a name in quotes, or a comment; 0: none
 * of these.
 */
static char begins_at(const char *at)
{
	if (at[0] == '[')
		return ']';
	if ((at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*'))
		return at[1];
	if (strchr("'\"`", at[0]))
		return at[0];
	return '\0';
}

/* Does the thing that @p inside names end here? */
static bool ends_at(const char *at, char inside)
{
	if (inside == '*')
		return at[0] == '*' && at[1] == '/';
	return inside == '-' ? *at == '\n' : *at == inside;
}

const char *statement_end(const char *text, char *inside)
{
	for (const char *at = text; *at; at++) {
		if (*inside) {
			bool ends = ends_at(at, *inside);
			at += ends && *inside == '*';
			if (ends)
				*inside = '\0';
		} else if (*at == ';' && ends_text(at + 1)) {
			return at + 1;
		} else {
			*inside = begins_at(at);
			at += *inside == '-' || *inside == '*';
		}
	}
	return NULL;
}

bool statement_add(struct statement *statement, const char *line)
{
	size_t size = strlen(line), all = statement->size + size;
	if (all >= statement->capacity) {
		size_t capacity = all + all / 2 + 1;
		char *more = realloc(statement->line, capacity);
		if (!more)
			return false;
		statement->line = more;
		statement->capacity = capacity;
	}
	memcpy(statement->line + statement->size, line, size + 1);
	const char *text = statement->line + statement->size;
	if (!statement->size)
		text = statement_text(statement->line);
	statement->size = all;
	statement->goes_on = text && !statement_end(text, &statement->inside);
	return true;
}

void statement_clear(struct statement *statement)
{
	statement->size = 0;
	statement->inside = '\0';
	statement->goes_on = false;
}

void statement_deinit(struct statement *statement)
{
	free(statement->line);
	*statement = (struct statement){ 0 };
}
