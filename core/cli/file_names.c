/* SPDX-License-Identifier: MIT */
/*
 * The names of files that can complete a word.  A name may hold any bytes: it must be quoted to be
 * shown.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* The folder that @p word names up to its last /, "" for none; ~/ is the user's home. */
static char *folder_of(const char *word)
{
	const char *slash = strrchr(word, '/'), *home = getenv("HOME");
	int size = slash ? (int)(slash - word) + 1 : 0;
	char *folder;
	bool of_user = word[0] == '~' && word[1] == '/' && home;
	int length = of_user ? asprintf(&folder, "%s%.*s", home, size - 1, word + 1)
			     : asprintf(&folder, "%.*s", size, word);
	return length < 0 ? NULL : folder;
}

static bool is_folder(DIR *directory, const char *name)
{
	struct stat stat;
	return fstatat(dirfd(directory), name, &stat, 0) == 0 && S_ISDIR(stat.st_mode);
}

/* Does @p name, a name in the folder, begin with @p start? */
static bool file_name_fits(const char *name, const char *start)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (*name == '.' && *start != '.'))
		return false;
	return strncmp(name, start, strlen(start)) == 0;
}

static int compare_file_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void file_names_complete(const char *word, void (*add)(void *arg, const char *candidate), void *arg)
{
	char *folder = folder_of(word);
	DIR *directory = folder ? opendir(*folder ? folder : ".") : NULL;
	const char *slash = strrchr(word, '/'), *start = slash ? slash + 1 : word;
	char **names = NULL;
	size_t count = 0;
	const struct dirent *entry;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own */
	while (directory && (entry = readdir(directory)) != NULL) {
		if (!file_name_fits(entry->d_name, start))
			continue;
		char **more = realloc(names, (count + 1) * sizeof(*names));
		if (!more)
			break;
		names = more;
		/* Without a folder, a dash would make it an option. */
		const char *before = !*folder && entry->d_name[0] == '-' ? "./" : folder;
		const char *after = is_folder(directory, entry->d_name) ? "/" : "";
		if (asprintf(&names[count], "%s%s%s", before, entry->d_name, after) < 0)
			break;
		count++;
	}
	if (count)
		qsort(names, count, sizeof(*names), compare_file_names);
	for (size_t i = 0; i < count; i++) {
		add(arg, names[i]);
		free(names[i]);
	}
	free(names);
	if (directory)
		(void)closedir(directory);
	free(folder);
}
