/* SPDX-License-Identifier: MIT */
/*
 * Words of a command line: how they are read, and how they are written so that they can be read
 * back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "cli.h"
#include "statement.h"

/* isspace() depends on the locale, which may take a byte of a character for a space. */
#define BLANKS " \t\n\v\f\r"
/* These characters end a word, or mean something else in it. */
#define SPECIAL BLANKS "\\'\"|>"

static const char *skip_word_blanks(const char *at)
{
	return at + strspn(at, BLANKS);
}

static bool ends_word(char c)
{
	return c == '\0' || strchr(BLANKS "|>", c);
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;
	if (!found)
		return -1;
	int value = (int)(found - digits);
	return value < 16 ? value : value - 6;
}

/* Copy the character that the backslash at @p at means inside $'...'; returns what follows it. */
static const char *take_escape(const char *at, char **to)
{
	static const char names[] = "ntre", values[] = "\n\t\r\033";
	int high = at[1] == 'x' ? hex_digit(at[2]) : -1;
	int low = high >= 0 ? hex_digit(at[3]) : -1;
	if (low >= 0 && high + low > 0) {
		*(*to)++ = (char)(high * 16 + low);
		return at + 4;
	}
	if (!at[1]) {
		*(*to)++ = *at;
		return at + 1;
	}
	const char *name = strchr(names, at[1]), *value = at + 1;
	if (name)
		value = values + (name - names);
	*(*to)++ = *value;
	return at + 2;
}

/* Copy the text in the open quote, up to its end or that of the line; returns what follows. */
static const char *take_quoted(const char *at, char **to, char *quote)
{
	const char end = *quote == '"' ? '"' : '\'';
	while (*at && *at != end) {
		if (*quote == '$' && *at == '\\') {
			at = take_escape(at, to);
			continue;
		}
		if (*quote == '"' && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
			at++;
		*(*to)++ = *at++;
	}
	if (!*at)
		return at;
	*quote = '\0';
	return at + 1;
}

/* Copy one word from @p at to @p to; sets the quote that is still open at its end. */
static const char *take_word(const char *at, char **to, char *quote)
{
	while (*quote || !ends_word(*at)) {
		if (*quote) {
			at = take_quoted(at, to, quote);
			if (!*at)
				break;
		} else if (*at == '"' || *at == '\'') {
			*quote = *at++;
		} else if (*at == '$' && at[1] == '\'') {
			*quote = *at;
			at += 2;
		} else {
			if (*at == '\\' && at[1])
				at++;
			*(*to)++ = *at++;
		}
	}
	*(*to)++ = '\0';
	return at;
}

/* The shell gets all that follows | as one line; after > comes one word. */
static void take_rest(struct words *words, const char *line, const char *at, char *to)
{
	at = skip_word_blanks(at);
	words->rest = to;
	words->last = (size_t)(at - line);
	if (words->pipe != '|') {
		at = take_word(at, &to, &words->open_quote);
		if (strchr(BLANKS, *at) && *at)
			words->last = strlen(line);
		words->surplus = *skip_word_blanks(at) != '\0';
		return;
	}
	size_t size = strlen(at);
	while (size && strchr(BLANKS, at[size - 1]))
		size--;
	memcpy(to, at, size);
	to[size] = '\0';
}

/* Take the words after @p at, which is a | or > of @p line. */
static void take_pipe(struct words *words, const char *line, const char *at, char *to)
{
	words->pipe = *at++;
	if (words->pipe == '>' && *at == '>') {
		words->pipe = 'A';
		at++;
	}
	take_rest(words, line, at, to);
}

/*
 * Keep the text of @p line as typed, without the spaces at its end; then read where the answer
 * goes.
 */
static void take_text(struct words *words, const char *line, const char *text, char *to)
{
	char inside = '\0';
	const char *end = statement_end(text, &inside);
	size_t size = end ? (size_t)(end - text) : strlen(text);
	while (size && strchr(BLANKS, text[size - 1]))
		size--;
	memcpy(to, text, size);
	to[size] = '\0';
	words->argv[words->argc++] = to;
	words->last = (size_t)(text - line);
	const char *after = end ? skip_word_blanks(end) : "";
	if (*after == '|' || *after == '>')
		take_pipe(words, line, after, to + size + 1);
}

bool words_init(struct words *words, const char *line)
{
	size_t size = strlen(line);
	*words = (struct words){ .storage = malloc(2 * size + 2),
				 .argv = calloc(size + 2, sizeof(*words->argv)) };
	if (!words->storage || !words->argv) {
		words_deinit(words);
		return false;
	}
	char *to = words->storage;
	const char *at = skip_word_blanks(line);
	words->is_comment = *at == '#';
	const char *text = statement_text(line), *end = text ? text : line + size;
	for (words->last = size; at < end; at = skip_word_blanks(at)) {
		if (*at == '|' || *at == '>') {
			take_pipe(words, line, at, to);
			return true;
		}
		words->argv[words->argc++] = to;
		const char *start = at;
		at = take_word(at, &to, &words->open_quote);
		words->last = *at ? size : (size_t)(start - line);
	}
	if (text)
		take_text(words, line, text, to);
	return true;
}

void words_deinit(struct words *words)
{
	free(words->storage);
	free(words->argv);
	*words = (struct words){ 0 };
}

/* Is there nothing in @p word that outputs escape (hd_escape())? */
static bool is_visible(const char *word)
{
	size_t size = strlen(word);
	char *copy = malloc(size + 1);
	bool is_same = copy && hd_escape(word, size, copy, size + 1) == size &&
		       memcmp(word, copy, size) == 0;
	free(copy);
	return is_same;
}

/* Does the line editor show it unchanged?  Its font may lack characters that we show. */
static bool is_shown_as_is(const char *word)
{
	mbstate_t state = { 0 };
	for (size_t left = strlen(word); left;) {
		wchar_t c;
		size_t size = mbrtowc(&c, word, left, &state);
		if (size > left || !iswprint((wint_t)c))
			return false;
		word += size;
		left -= size;
	}
	return true;
}

/* The quote that can hold @p word: the one that is already open, if possible. */
static char quote_for(const char *word, char open)
{
	if (open == '$' || !is_visible(word) || !is_shown_as_is(word))
		return '$';
	if (open == '"' || (open == '\'' && !strchr(word, '\'')))
		return open;
	if (!open && *word && *word != '#' && !strpbrk(word, SPECIAL))
		return '\0';
	return strchr(word, '\'') ? '"' : '\'';
}

char *words_quote(const char *word, char open, bool close)
{
	const char quote = quote_for(word, open);
	char *text = malloc(4 * strlen(word) + 4), *to = text;
	if (!text)
		return NULL;
	if (quote)
		*to++ = quote;
	if (quote == '$')
		*to++ = '\'';
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;
		if (quote == '$' && (c < 0x20 || c >= 0x7f)) {
			(void)snprintf(to, 5, "\\x%02x", c);
			to += 4;
			continue;
		}
		if ((quote == '$' && (c == '\'' || c == '\\')) ||
		    (quote == '"' && (c == '"' || c == '\\')))
			*to++ = '\\';
		*to++ = *word;
	}
	if (quote && close)
		*to++ = quote == '"' ? '"' : '\'';
	*to = '\0';
	return text;
}
