/* SPDX-License-Identifier: MIT */
#include "target_words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

/* Can a word be a target: is it the path of a file, or the id of a process? */
static bool is_target(const char *word)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%.20s", word);
	return access(word, F_OK) == 0 || (is_number(word) && access(path, F_OK) == 0);
}

/* Has somebody meant a target?  It may also be the name of a type, but there must be a target first. */
static bool looks_like_target(const char *word)
{
	return *word != '-' && (is_number(word) || strpbrk(word, "/."));
}

void target_words_order(int argc, char **argv)
{
	struct hd_command_info info;
	if (argc < 2 || is_target(argv[0]) || hd_command_find(argv[0], &info) != 0 ||
	    !info.needs_open)
		return;
	/* A word in between may be the value of an option. */
	int at = is_target(argv[1])                  ? 1
		 : is_target(argv[argc - 1])         ? argc - 1
		 : looks_like_target(argv[1])        ? 1
		 : looks_like_target(argv[argc - 1]) ? argc - 1
						     : 0;
	char *target = argv[at];
	memmove(argv + 1, argv, (size_t)at * sizeof(*argv));
	argv[0] = target;
}

static int ignore_text(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

/* A word alone: if a command is meant, say which; a file that is not there is told as such. */
static int refuse_word(struct cli *cli, const char *word)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink), .write = ignore_text };
	struct hd_error err;
	(void)hd_command_run(cli->session, 1, &word, &sink, &err);
	/* The library has nothing to propose. */
	if (strstr(err.message, "; help lists"))
		return -1;
	cli_say("there is no file \"%.400s\", and %s", word, err.message);
	return HD_EXIT_USAGE;
}

int target_word_refuse(struct cli *cli, int argc, char **argv)
{
	struct hd_command_info info;
	const char *word = argv[0];
	if (is_target(word) || strpbrk(word, "/."))
		return -1;
	if (hd_command_find(word, &info) == 0) {
		return cli_usage_error(
			"give an existing file or the id of a running process: heapdump TARGET ",
			word);
	}
	if (argc > 1 && is_target(argv[1]))
		return cli_run_here(cli, 1, (const char *const *)argv);
	return argc > 1 || is_number(word) ? -1 : refuse_word(cli, word);
}
