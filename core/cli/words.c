/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Copy one word from @p at to @p to; sets the quote that is still open at its end. */
static const char *take_word(const char *at, char **to, char *quote)
{
	for (; *at; at++) {
		if (*quote) {
			if (*at == *quote) {
				*quote = '\0';
			} else if (*quote == '"' && *at == '\\' &&
				   (at[1] == '"' || at[1] == '\\')) {
				*(*to)++ = *++at;
			} else {
				*(*to)++ = *at;
			}
		} else if (*at == '"' || *at == '\'') {
			*quote = *at;
		} else if (*at == '\\' && at[1]) {
			*(*to)++ = *++at;
		} else if (isspace((unsigned char)*at) || *at == '|' || *at == '>') {
			break;
		} else {
			*(*to)++ = *at;
		}
	}
	*(*to)++ = '\0';
	return at;
}

/* What follows | is a line for the shell; what follows > is one word. */
static void take_rest(struct words *words, const char *at, char *to, char *quote)
{
	while (isspace((unsigned char)*at))
		at++;
	words->rest = to;
	if (words->pipe != '|') {
		at = take_word(at, &to, quote);
		while (isspace((unsigned char)*at))
			at++;
		words->surplus = *at != '\0';
		return;
	}
	size_t size = strlen(at);
	while (size && isspace((unsigned char)at[size - 1]))
		size--;
	memcpy(to, at, size);
	to[size] = '\0';
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
	char *to = words->storage, quote = '\0';
	for (const char *at = line;;) {
		while (isspace((unsigned char)*at))
			at++;
		if (!*at)
			break;
		if (*at == '|' || *at == '>') {
			words->pipe = *at++;
			if (words->pipe == '>' && *at == '>') {
				words->pipe = 'A';
				at++;
			}
			take_rest(words, at, to, &quote);
			break;
		}
		words->argv[words->argc++] = to;
		at = take_word(at, &to, &quote);
	}
	words->open_quote = quote != '\0';
	return true;
}

void words_deinit(struct words *words)
{
	free(words->storage);
	free(words->argv);
	*words = (struct words){ 0 };
}
