/* SPDX-License-Identifier: MIT */
/*
 * Finds the files that are installed next to the program, and prints the lines that load them into
 * other programs.
 */
#include "installed.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <heapdump/command.h>

#include "cli.h"

/* No shell changes these characters. */
#define SHELL_PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+-"

/* The directory of this program: the plug-ins are found from there, wherever it is installed. */
static bool program_directory(char *buf, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", buf, size - 1);
	if (length <= 0)
		return false;
	buf[length] = '\0';
	char *slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

/*
 * A prefix may move, and the line in .gdbinit stays: GDB would then read no further.  So the line is
 * Python, with the path in quotes.
 */
static void print_gdb_line(const char *path)
{
	(void)fputs(
		"python import os; (lambda p: gdb.execute('source ' + p) if os.path.exists(p) else "
		"print('heapdump is not at ' + p + ' any more: delete this line of .gdbinit, and run "
		"\"heapdump --print-gdbinit >> ~/.gdbinit\" again'))('",
		stdout);
	for (; *path; path++) {
		if (*path == '\\' || *path == '\'')
			(void)putchar('\\');
		(void)putchar(*path);
	}
	(void)puts("')");
}

/* LLDB knows no conditions, goes on after an error, and names the file that is not there. */
static void print_lldb_line(const char *path)
{
	(void)puts(
		"# If LLDB does not find this file, heapdump has moved: delete both lines, and run "
		"\"heapdump --print-lldbinit >> ~/.lldbinit\" again.");
	/* It splits at blanks. */
	(void)printf(strchr(path, ' ') ? "plugin load \"%s\"\n" : "plugin load %s\n", path);
}

/* The runtime reads these variables when it starts; they are lines of a shell, of a Dockerfile after ENV, too. */
static void print_profiler_lines(const char *path)
{
	(void)puts("CORECLR_ENABLE_PROFILING=1\n"
		   "CORECLR_PROFILER={8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3}");
	(void)fputs("CORECLR_PROFILER_PATH=", stdout);
	if (path[strspn(path, SHELL_PLAIN)] == '\0') {
		(void)puts(path);
		return;
	}
	(void)putchar('\'');
	for (; *path; path++) {
		if (*path == '\'')
			(void)fputs("'\\'", stdout);
		(void)putchar(*path);
	}
	(void)puts("'");
}

/* Each of these files has an option that prints how to load it. */
struct installed {
	const char *option;
	void (*print)(const char *path);
	const char *places[2]; /* installed, and where it was built */
	const char *what;
};

static const struct installed all_installed[] = {
	{ "--print-gdbinit",
	  print_gdb_line,
	  { "../" HD_DATADIR "/heapdump/gdb/heapdump.py", "../gdb-plugin/heapdump.py" },
	  "plug-in" },
	{ "--print-lldbinit",
	  print_lldb_line,
	  { "../" HD_LIBDIR "/heapdump/libheapdump_lldb.so", "libheapdump_lldb.so" },
	  "plug-in" },
	{ "--print-profiler",
	  print_profiler_lines,
	  { "../" HD_LIBDIR "/heapdump/libheapdump_profiler.so", "libheapdump_profiler.so" },
	  "profiler" },
};

bool installed_find(const char *const places[2], char *ret)
{
	char directory[PATH_MAX], path[2 * PATH_MAX];
	if (!program_directory(directory, sizeof(directory)))
		return false;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, places[i]);
		if (access(path, R_OK) == 0 && realpath(path, ret) && !strpbrk(ret, "\r\n"))
			return true;
	}
	return false;
}

/* Print the lines with the first of the two places where it is. */
static int print_place(const struct installed *installed)
{
	char real[PATH_MAX];
	if (installed_find(installed->places, real)) {
		installed->print(real);
		return HD_EXIT_OK;
	}
	cli_say("the %s is not installed next to this program (%s)", installed->what,
		installed->places[0]);
	return HD_EXIT_INPUT;
}

int print_installed(const char *option)
{
	for (size_t i = 0; i < sizeof(all_installed) / sizeof(all_installed[0]); i++) {
		if (strcmp(option, all_installed[i].option) == 0)
			return print_place(&all_installed[i]);
	}
	return -1;
}
