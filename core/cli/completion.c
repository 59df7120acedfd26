/* SPDX-License-Identifier: MIT */
/*
 * Completes words for TAB.  The inserted text comes from a dump, a core or a folder: it is quoted,
 * so that the line editor can show it and words_init() reads it as one word, whatever it contains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The candidates that completion has found so far. */
struct candidates {
	char **names;
	size_t count;
};

static void collect_candidate(void *arg, const char *candidate)
{
	struct candidates *found = arg;
	char **names = realloc(found->names, (found->count + 1) * sizeof(*names));
	if (!names)
		return;
	found->names = names;
	found->names[found->count] = strdup(candidate);
	if (found->names[found->count])
		found->count++;
}

static void free_candidates(struct candidates *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->names[i]);
	free(found->names);
}

/* Number of first bytes that all candidates have in common, only whole characters. */
static size_t common_length(const struct candidates *found)
{
	const char *first = found->names[0];
	size_t length = strlen(first);
	for (size_t i = 1; i < found->count; i++) {
		size_t same = 0;
		while (same < length && first[same] == found->names[i][same])
			same++;
		length = same;
	}
	while (length && ((unsigned char)first[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static void list_candidates(const struct candidates *found)
{
	(void)putchar('\n');
	for (size_t i = 0; i < found->count; i++) {
		char *text = words_quote(found->names[i], '\0', true);
		if (text)
			(void)puts(text);
		free(text);
	}
	(void)fflush(stdout);
}

/* Replace @p typed, which ends at the cursor, by @p text. */
static bool replace_typed(EditLine *el, const char *typed, const char *text)
{
	size_t characters = mbstowcs(NULL, typed, 0);
	if (characters == (size_t)-1)
		return false;
	if (characters)
		el_deletestr(el, (int)characters);
	if (el_insertstr(el, text) == 0)
		return true;
	(void)el_insertstr(el, typed);
	return false;
}

/*
 * Replace the word, which is @p typed in the line and @p word without its quotes, by what all
 * candidates begin with; if that changes nothing, show them.
 */
static unsigned char insert_common(EditLine *el, const struct candidates *found, const char *typed,
				   const char *word, char quote)
{
	bool single = found->count == 1;
	size_t length = common_length(found);
	bool is_folder = single && length && found->names[0][length - 1] == '/';
	char *whole = strndup(found->names[0], length);
	if (whole && !single && (!length || strcmp(whole, word) == 0)) {
		free(whole);
		list_candidates(found);
		return CC_REDISPLAY;
	}
	char *text = whole ? words_quote(whole, quote, single && !is_folder) : NULL;
	bool done = text && replace_typed(el, typed, text);
	if (done && single && !is_folder)
		(void)el_insertstr(el, " ");
	free(text);
	free(whole);
	return done ? CC_REFRESH : CC_ERROR;
}

/* Complete the last word of @p line, whose words are @p words. */
static unsigned char complete_last(EditLine *el, const char *line, struct words *words)
{
	struct cli *cli = NULL;
	(void)el_get(el, EL_CLIENTDATA, &cli);
	/* Lines for the shell, and lines of a text, cannot be completed. */
	if (words->pipe == '|' || words->surplus || cli->goes_on)
		return CC_ERROR;
	struct candidates found = { 0 };
	const char *word = "";
	bool is_file = true;
	if (words->pipe) {
		word = line[words->last] ? words->rest : "";
	} else {
		if (!line[words->last])
			words->argv[words->argc++] = "";
		word = words->argv[words->argc - 1];
		is_file =
			cli_complete(cli, words->argc, words->argv, collect_candidate, &found) != 0;
	}
	if (is_file)
		file_names_complete(word, collect_candidate, &found);
	unsigned char result = CC_ERROR;
	if (found.count)
		result = insert_common(el, &found, line + words->last, word, words->open_quote);
	free_candidates(&found);
	return result;
}

unsigned char complete_word(EditLine *el, int character)
{
	(void)character;
	const LineInfo *info = el_line(el);
	char *line = strndup(info->buffer, (size_t)(info->cursor - info->buffer));
	struct words words;
	unsigned char result = CC_ERROR;
	if (line && words_init(&words, line)) {
		result = complete_last(el, line, &words);
		words_deinit(&words);
	}
	free(line);
	return result;
}
