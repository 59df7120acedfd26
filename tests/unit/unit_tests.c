/* SPDX-License-Identifier: MIT */
/*
 * unit_tests NAME: run the tests of test_NAME.c.  All files are one program, since two hundred programs with a copy of
 * the library each took minutes to link and gigabytes to keep.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"

static struct test_file *files;

void test_file_add(struct test_file *file)
{
	file->next = files;
	files = file;
}

/* Is @path that of test_NAME.c? */
static bool is_of(const char *path, const char *name)
{
	static const char begin[] = "test_";
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	size_t length = strlen(name);
	return strncmp(file, begin, sizeof(begin) - 1) == 0 &&
	       strncmp(file + sizeof(begin) - 1, name, length) == 0 &&
	       strcmp(file + sizeof(begin) - 1 + length, ".c") == 0;
}

int main(int argc, char **argv)
{
	for (const struct test_file *file = files; argc == 2 && file; file = file->next) {
		if (is_of(file->path, argv[1]))
			return file->run();
	}
	(void)fprintf(stderr,
		      argc == 2 ? "there is no tests/unit/test_%s.c\n"
				: "usage: unit_tests NAME, for tests/unit/test_NAME.c%.0s\n",
		      argc == 2 ? argv[1] : "");
	return 2;
}
