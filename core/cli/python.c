/* SPDX-License-Identifier: MIT */
/*
 * heapdump python TARGET: this process becomes Python, with the package that is installed next to this program.  Nothing has
 * been opened before, and Python takes no code from the target's folder or from where the user is (-I).
 */
#include "python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <heapdump/command.h>

#include "cli.h"
#include "installed.h"

/* sys.argv: "-c", the folder of the package, and what heapdump/prompt.py takes. */
static const char begin_python[] =
	"import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1]); "
	"from heapdump.prompt import main; main(sys.argv[2:])";
/* Words of the command line apart from settings and the user's own. */
#define OWN_WORDS 10u

/* A line "NAME=VALUE" if the user has changed the setting; to be freed. */
static char *changed_setting(const struct hd_session *now, const struct hd_session *before,
			     const char *name)
{
	char value[HD_SETTING_SIZE], old[HD_SETTING_SIZE], *line = NULL;
	if (hd_session_get(now, name, value, sizeof(value), NULL) != HD_OK ||
	    hd_session_get(before, name, old, sizeof(old), NULL) != HD_OK ||
	    strcmp(value, old) == 0)
		return NULL;
	return asprintf(&line, "%s=%s", name, value) < 0 ? NULL : line;
}

/* The settings that are not as they are at first, each to be freed; returns how many. */
static size_t changed_settings(const struct cli *cli, char **words)
{
	struct hd_session *fresh = NULL;
	const char *name;
	size_t count = 0;
	if (hd_session_create(&fresh, NULL) != HD_OK)
		return count;
	for (size_t i = 0; (name = hd_setting_name(i, NULL)); i++) {
		char *line = changed_setting(cli->session, fresh, name);
		if (line)
			words[count++] = line;
	}
	hd_session_destroy(fresh);
	return count;
}

static size_t setting_count(void)
{
	size_t count = 0;
	while (hd_setting_name(count, NULL))
		count++;
	return count;
}

bool is_python(const char *word)
{
	struct stat info;
	return strcmp(word, "python") == 0 && (stat(word, &info) != 0 || S_ISDIR(info.st_mode));
}

int cli_python(struct cli *cli, int argc, char **argv)
{
	static const char *const places[2] = { "../" HD_DATADIR
					       "/heapdump/python/heapdump/prompt.py",
					       "../python/heapdump/prompt.py" };
	char package[PATH_MAX], program[PATH_MAX];
	static const char usage[] =
		"usage: heapdump [OPTION...] python TARGET [SCRIPT | -c CODE | - [ARG...]]";
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		(void)printf(
			"%s\n\nPython with the heap of TARGET as h: a prompt, a script, a line of "
			"code, or standard input\n(-). help(h) and doc/python.md say more.\n",
			usage);
		return HD_EXIT_OK;
	}
	if (argc < 2 || cli->line_count || cli->serves)
		return cli_usage_error(usage, "");
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (length <= 0 || !installed_find(places, package)) {
		cli_say("the package for Python is not installed next to this program (%s)",
			places[0]);
		return HD_EXIT_INPUT;
	}
	program[length] = '\0';
	/* .../python/heapdump/prompt.py: the folder that holds the package */
	for (int i = 0; i < 2; i++)
		*strrchr(package, '/') = '\0';
	const char *const first[] = { "python3",
				      "-I",
				      "-c",
				      begin_python,
				      package,
				      program,
				      cli->worker ? "isolated" : "direct",
				      cli->lenient ? "lenient" : "strict" };
	const size_t begin = sizeof(first) / sizeof(first[0]);
	const char **words = calloc(OWN_WORDS + setting_count() + (size_t)argc, sizeof(*words));
	char **settings = calloc(setting_count() + 1, sizeof(*settings));
	if (!words || !settings) {
		free(words);
		free(settings);
		cli_say("out of memory");
		return HD_EXIT_INPUT;
	}
	size_t count = changed_settings(cli, settings);
	memcpy(words, first, sizeof(first));
	memcpy(words + begin, settings, count * sizeof(*words));
	words[begin + count] = "--";
	memcpy(words + begin + count + 1, argv + 1, (size_t)(argc - 1) * sizeof(*words));
	char *const *taken;
	memcpy(&taken, &words, sizeof(taken));
	(void)execvp("python3", taken);
	cli_say("cannot run python3: %s; install it (Debian: apt install python3)",
		strerrordesc_np(errno));
	for (size_t i = 0; i < count; i++)
		free(settings[i]);
	free(settings);
	free(words);
	return HD_EXIT_INPUT;
}
