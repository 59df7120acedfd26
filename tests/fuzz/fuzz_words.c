/* SPDX-License-Identifier: MIT */
/* covers: core/cli/words.c core/cli/statement.c */
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "statement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In place of the library's: "sql" takes a text. */
int hd_command_raw(const char *name, const char *rest, size_t *ret)
{
	*ret = strspn(rest, " \t\n\v\f\r");
	return strcmp(name, "sql") == 0 && rest[*ret] && rest[*ret] != '"' && rest[*ret] != '\'';
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* No more words than characters, no more characters than the line has. */
static void check(const struct words *words, size_t size)
{
	size_t total = 0;
	for (int i = 0; i < words->argc; i++)
		total += strlen(words->argv[i]);
	require(!words->argv[words->argc]);
	require((!words->pipe) == (!words->rest));
	if (words->rest)
		total += strlen(words->rest);
	require(total <= size && (size_t)words->argc <= size);
}

/* Append @p word as words_quote() writes it, with a blank after it if it is closed. */
static char *append(char *to, const char *word, char open, bool close)
{
	char *text = words_quote(word, open, close);
	require(text != NULL);
	for (const char *at = text; *at; at++)
		require((unsigned char)*at >= 0x20 && *at != 0x7f);
	to = stpcpy(to, text);
	free(text);
	return close ? stpcpy(to, " ") : to;
}

/* The words again, each in quotes: a line that is cut to the same words. */
static void check_quoted(const struct words *words, size_t size, bool close_last)
{
	static const char quotes[] = { '\0', '\'', '"', '$' };
	struct words again;
	char *line = malloc(4 * size + 8 * (size_t)words->argc + 1), *to = line;
	require(line != NULL);
	*line = '\0';
	for (int i = 0; i < words->argc; i++) {
		to = append(to, words->argv[i], quotes[(size + (size_t)i) % sizeof(quotes)],
			    close_last || i + 1 < words->argc);
	}
	if (statement_text(line)) { /* quotes that nothing needs were left out: it is a text now */
		free(line);
		return;
	}
	require(words_init(&again, line));
	require(again.argc == words->argc && !again.pipe && !again.is_comment);
	require(!close_last || !again.open_quote);
	for (int i = 0; i < words->argc; i++)
		require(strcmp(words->argv[i], again.argv[i]) == 0);
	words_deinit(&again);
	free(line);
}

/*
 * A line of a command, and its rest as the next one: what goes on is a text, and does not end before.  Lines
 * come with their ends, so that no sign of two characters lies in both.
 */
static void check_statement(const char *line)
{
	struct statement statement = { 0 };
	size_t half = strlen(line) / 2;
	char inside = '\0', *first = malloc(half + 2);
	require(first != NULL);
	memcpy(first, line, half);
	memcpy(first + half, "\n", 2);
	require(statement_add(&statement, first));
	require(!statement.goes_on || statement_text(first));
	if (statement.goes_on)
		require(statement_add(&statement, line + half));
	const char *text = statement_text(statement.line);
	require(!statement.goes_on || (text && !statement_end(text, &inside)));
	statement_deinit(&statement);
	free(first);
}

/* Any line: no crash, nothing read past its end; its words in quotes are the same words. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_locale;
	if (!has_locale)
		has_locale = setlocale(LC_CTYPE, "C.UTF-8") != NULL;
	char *line = calloc(size + 1, 1);
	struct words words;
	require(line != NULL);
	if (size)
		memcpy(line, data, size);
	require(words_init(&words, line));
	check(&words, strlen(line));
	check_quoted(&words, size, true);
	check_quoted(&words, size, false);
	check_statement(line);
	words_deinit(&words);
	free(line);
	return 0;
}
