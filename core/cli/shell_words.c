/* SPDX-License-Identifier: MIT */
/* Prints the candidates for the shell's TAB, from the command table, as at the prompt. */
#include "shell_words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "python.h"

/* Options of the program that are not settings; these have no value. */
static const char *const flags[] = { "--json",          "--lenient",        "--no-files",
				     "--trust-files",   "--exact",          "--copy-all",
				     "--raw-csv",       "--no-sandbox",     "--serve",
				     "--help",          "--version",        "-h",
				     "--print-gdbinit", "--print-lldbinit", "--print-profiler" };
/* Most words of a line that begins with a command. */
#define SHELL_WORDS_MAX 64u
#define FLAG_COUNT      (sizeof(flags) / sizeof(flags[0]))

static bool is_flag(const char *word)
{
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		if (strcmp(word, flags[i]) == 0)
			return true;
	}
	return false;
}

/* A line is a candidate: one that holds a line's end, or that a terminal would act on, is left out. */
static void print_candidate(void *arg, const char *candidate)
{
	(void)arg;
	for (const char *byte = candidate; *byte; byte++) {
		if ((unsigned char)*byte < ' ' || *byte == 0x7f)
			return;
	}
	(void)puts(candidate);
}

/* Whatever the shell's word names, no command looks at it: nothing is open, and words are only compared. */
static int print_words(struct cli *cli, int count, const char *const *words)
{
	return hd_command_complete(cli->session, count, words, print_candidate, NULL)
		       ? HD_EXIT_FINDINGS
		       : HD_EXIT_OK;
}

static void print_options(const char *word)
{
	size_t size = strlen(word);
	const char *name;
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		if (strncmp(flags[i], word, size) == 0)
			print_candidate(NULL, flags[i]);
	}
	if (strncmp("-c", word, size) == 0)
		print_candidate(NULL, "-c");
	/* Settings are options, too. */
	for (size_t i = 0; (name = hd_setting_name(i, NULL)); i++) {
		char option[64];
		(void)snprintf(option, sizeof(option), "--%s", name);
		if (strncmp(option, word, size) == 0 && !is_flag(option))
			print_candidate(NULL, option);
	}
}

/* Does a command that needs no target begin here?  As main() decides: a file of that name is the target. */
static bool is_command_alone(const char *word)
{
	struct hd_command_info info;
	return hd_command_find(word, &info) == 0 && strcmp(info.name, word) == 0 &&
	       !info.needs_open && access(word, F_OK) != 0;
}

/* Does a command begin here that needs a target, which comes after it? */
static bool is_command_first(const char *word)
{
	struct hd_command_info info;
	return hd_command_find(word, &info) == 0 && info.needs_open && access(word, F_OK) != 0;
}

/* The words of a command whose target comes directly after it. */
static int print_words_without_target(struct cli *cli, int count, const char *const *words)
{
	const char *without[SHELL_WORDS_MAX];
	if (count > (int)SHELL_WORDS_MAX)
		return HD_EXIT_OK;
	without[0] = words[0];
	for (int i = 2; i < count; i++)
		without[i - 1] = words[i];
	return print_words(cli, count - 1, without);
}

/* The target: a file or a process; or a command. */
static int print_targets(struct cli *cli, const char *word)
{
	(void)print_words(cli, 1, &word);
	if (strncmp("python", word, strlen(word)) == 0)
		print_candidate(NULL, "python");
	if (word[0] >= '0' && word[0] <= '9') {
		const char *const collect[] = { "collect", word };
		(void)print_words(cli, 2, collect);
	}
	return HD_EXIT_FINDINGS;
}

/* The value of the option @p option. */
static int print_value(struct cli *cli, const char *option, const char *word)
{
	if (strcmp(option, "--sysroot") == 0 || strcmp(option, "--symbols") == 0)
		return HD_EXIT_FINDINGS;
	if (strncmp(option, "--", 2) != 0)
		return print_words(cli, 1, &word);
	const char *const set[] = { "set", option + 2, word };
	return print_words(cli, 3, set);
}

/* Print a candidate for the value of --NAME=VALUE; @p arg is the part up to the =. */
static void print_assignment(void *arg, const char *candidate)
{
	char option[2 * HD_SETTING_SIZE];
	(void)snprintf(option, sizeof(option), "%s%s", (const char *)arg, candidate);
	print_candidate(NULL, option);
}

static int print_assignments(struct cli *cli, const char *word, const char *equals)
{
	char name[64], start[sizeof(name) + 4];
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - word) - 2, word + 2);
	(void)snprintf(start, sizeof(start), "--%s=", name);
	const char *const set[] = { "set", name, equals + 1 };
	(void)hd_command_complete(cli->session, 3, set, print_assignment, start);
	return HD_EXIT_OK;
}

/* Step over options and their values, to the first other word, or to the last word. */
static int step_over_options(int index, int count, const char *const *words)
{
	while (index < count - 1 && words[index][0] == '-' && words[index][1]) {
		bool has_value = !is_flag(words[index]) && !strchr(words[index], '=');
		if (has_value && index + 1 == count - 1)
			break;
		index += has_value ? 2 : 1;
	}
	return index;
}

int shell_words_complete(struct cli *cli, int count, const char *const *words)
{
	if (count < 1)
		return HD_EXIT_OK;
	const char *last = words[count - 1];
	int index = step_over_options(0, count, words);
	bool has_target = index < count - 1 && words[index][0] != '-';
	if (has_target && is_python(words[index]))
		return HD_EXIT_FINDINGS; /* the target, a script, and who knows what it takes */
	if (has_target && is_command_first(words[index])) {
		if (index + 2 < count && access(words[index + 1], F_OK) == 0)
			return print_words_without_target(cli, count - index, words + index);
		return last[0] == '-' ? print_words(cli, count - index, words + index)
				      : HD_EXIT_FINDINGS;
	}
	if (has_target && !is_command_alone(words[index]))
		index = step_over_options(index + 1, count, words);
	if (index < count - 1 && words[index][0] == '-')
		return print_value(cli, words[index], last);
	if (index < count - 1)
		return print_words(cli, count - index, words + index);
	const char *equals = strchr(last, '=');
	if (equals && strncmp(last, "--", 2) == 0 && equals - last < 64)
		return print_assignments(cli, last, equals);
	if (last[0] == '-') {
		print_options(last);
		return HD_EXIT_OK;
	}
	return has_target ? print_words(cli, 1, &last) : print_targets(cli, last);
}
