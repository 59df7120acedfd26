/* SPDX-License-Identifier: MIT */
/* Command lines whose text is one word, as it is written. */
#include <stdio.h>
#include <string.h>

#include "command/call.h"

#define BLANKS " \t\n\v\f\r"

/* Longer than the name of any option, with its value. */
#define OPTION_SIZE 256

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, BLANKS);
}

/* After the word at @p at, which may be in quotes. */
static const char *skip_word(const char *at)
{
	const char *quote = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
	if (quote)
		at = quote + 1;
	return at + strcspn(at, BLANKS);
}

/* Is the next word the value of the option that is written in the @p size bytes at @p word? */
static bool takes_next(const struct command *command, const char *word, size_t size)
{
	char name[OPTION_SIZE];
	if (size >= sizeof(name))
		return false;
	(void)snprintf(name, sizeof(name), "%.*s", (int)size, word);
	const struct option *option = arguments_option(command, name);
	return option && option->value && !strchr(name, '=');
}

bool command_raw(const struct command *command, const char *rest, size_t *ret)
{
	const char *at = skip_blanks(rest);
	while (*at == '-' && at[1] && !strchr(BLANKS, at[1])) {
		const char *end = skip_word(at);
		bool has_value = takes_next(command, at, (size_t)(end - at));
		at = skip_blanks(end);
		if (has_value)
			at = skip_blanks(skip_word(at));
	}
	if (!*at || *at == '"' || *at == '\'')
		return false;
	*ret = (size_t)(at - rest);
	return true;
}

int hd_command_raw(const char *name, const char *rest, size_t *ret)
{
	const struct command *command = name && rest && ret ? command_find(name) : NULL;
	return command && command->is_raw && command_raw(command, rest, ret);
}
