/* SPDX-License-Identifier: MIT */
#include "kept_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out_path.h"
#include "write_line.h"

#define FILES_MOST 65536u /* in one folder that are looked at */

struct kept_file {
	struct timespec time;
	char name[NAME_MAX + 1];
};

/* The files of a folder. */
struct kept_files {
	struct kept_file *files;
	size_t count, capacity;
};

static int compare_files(const void *left, const void *right)
{
	const struct kept_file *a = left, *b = right;
	if (a->time.tv_sec != b->time.tv_sec)
		return a->time.tv_sec < b->time.tv_sec ? 1 : -1;
	if (a->time.tv_nsec != b->time.tv_nsec)
		return a->time.tv_nsec < b->time.tv_nsec ? 1 : -1;
	return strcmp(a->name, b->name);
}

static bool is_ours(int folder, const char *name, struct timespec *ret)
{
	struct stat status;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid())
		return false;
	*ret = status.st_mtim;
	return true;
}

static bool add_file(struct kept_files *files, const char *name, const struct timespec *time)
{
	if (files->count == files->capacity) {
		size_t capacity = files->capacity ? files->capacity * 2 : 64;
		struct kept_file *more = realloc(files->files, capacity * sizeof(*more));
		if (!more)
			return false;
		files->files = more;
		files->capacity = capacity;
	}
	struct kept_file *file = &files->files[files->count++];
	file->time = *time;
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	return true;
}

/*
 * List what the pattern could have named, but not @p own; errno, or 0.  Where our own is not, there is nothing of ours:
 * somebody has put another folder in the place of the one in which it was written.
 */
static int list_files(DIR *names, const char *pattern, const char *own, struct kept_files *ret)
{
	const struct dirent *name;
	struct timespec time;
	if (!is_ours(dirfd(names), own, &time))
		return ESTALE;
	while (ret->count < FILES_MOST) {
		errno = 0;
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is our own */
		name = readdir(names);
		if (!name)
			return errno;
		if (strcmp(name->d_name, own) != 0 && out_path_matches(pattern, name->d_name) &&
		    is_ours(dirfd(names), name->d_name, &time) &&
		    !add_file(ret, name->d_name, &time))
			return ENOMEM;
	}
	return 0;
}

static void remove_file(int folder, const char *name)
{
	char page[NAME_MAX + sizeof(".html")];
	struct timespec time;
	if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
		write_line("%s cannot be removed: %s", name, strerrordesc_np(errno));
	(void)snprintf(page, sizeof(page), "%s.html", name);
	if (is_ours(folder, page, &time))
		(void)unlinkat(folder, page, 0);
}

void kept_files_trim(const struct settings *settings, const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct kept_files files = { 0 };
	if (!settings->keep || !slash)
		return;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	DIR *names = opendir(folder);
	/* The new one stays also when the clock has been set back. */
	int error = names ? list_files(names, settings->out, slash + 1, &files) : errno;
	if (error) {
		write_line("older files stay, %s cannot be read: %s", folder,
			   strerrordesc_np(error));
	} else if (files.count) {
		qsort(files.files, files.count, sizeof(*files.files), compare_files);
		for (size_t i = settings->keep - 1; i < files.count; i++)
			remove_file(dirfd(names), files.files[i].name);
	}
	free(files.files);
	if (names)
		(void)closedir(names);
}
