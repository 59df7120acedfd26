/* SPDX-License-Identifier: MIT */
#include "util/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/write_behind.h"

static void deinit(struct output_file *file)
{
	if (file->behind)
		(void)write_behind_end(file->behind);
	if (file->fd >= 0)
		(void)close(file->fd);
	mem_free(file->path);
	mem_free(file->temporary);
	*file = (struct output_file){ .fd = -1 };
}

static enum hd_status cannot(const char *path, int error, struct hd_error *err)
{
	errno = error;
	return fail(err, HD_ERR_OS, 0, "%s: cannot write: %s", path, strerrordesc_np(error));
}

#define NAMES_TRIED 100u
#define NAME_EXTRA  48u /* bytes that a temporary name has more than the path */

/* A name beside the final one. */
static void temporary_name(const struct output_file *file, unsigned int index, char *buf,
			   size_t size)
{
	(void)snprintf(buf, size, "%s.%ld-%u.part", file->path, (long)getpid(), index);
}

/* A file in the same folder without a name, or -1. */
static int open_unnamed(struct output_file *file, size_t size)
{
	const char *slash = strrchr(file->path, '/');
	(void)snprintf(file->temporary, size, "%.*s",
		       slash ? (int)(slash - file->path + (slash == file->path)) : 1,
		       slash ? file->path : ".");
	int fd = open(file->temporary, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	(void)snprintf(file->temporary, size, "/proc/self/fd/%d", fd);
	struct stat own, named;
	file->is_unnamed = !fstat(fd, &own) && !stat(file->temporary, &named) &&
			   own.st_ino == named.st_ino && own.st_dev == named.st_dev;
	if (file->is_unnamed)
		return fd;
	(void)close(fd); /* without /proc it could not get a name */
	return -1;
}

/* A new file beside the final one; it gets the permissions of the one that it will replace. */
static int open_temporary(struct output_file *file, const struct stat *old)
{
	size_t size = strlen(file->path) + NAME_EXTRA;
	file->temporary = mem_alloc(size, 1);
	if (!file->temporary)
		return -1;
	int fd = open_unnamed(file, size);
	for (unsigned int i = 0; fd < 0 && i < NAMES_TRIED; i++) {
		temporary_name(file, i, file->temporary, size);
		fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd >= 0 && old)
		(void)fchmod(fd, old->st_mode & 07777);
	return fd;
}

/* Give it a name in its folder; errno, or 0. */
static int name_it(struct output_file *file)
{
	size_t size = strlen(file->path) + NAME_EXTRA;
	char *name = mem_alloc(size, 1);
	if (!name)
		return ENOMEM;
	int error = EEXIST;
	for (unsigned int i = 0; error == EEXIST && i < NAMES_TRIED; i++) {
		temporary_name(file, i, name, size);
		error = 0;
		if (linkat(AT_FDCWD, file->temporary, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0)
			error = errno;
	}
	if (error) {
		mem_free(name);
		return error;
	}
	mem_free(file->temporary);
	file->temporary = name;
	file->is_unnamed = false;
	return 0;
}

#define LINKS_MAX 40u /* as many as Linux follows */

/* Replace @p name, of PATH_MAX bytes, by what the link of that name holds; false: it is none. */
static bool follow_link(char *name)
{
	char target[PATH_MAX];
	ssize_t got = readlink(name, target, sizeof(target));
	if (got <= 0)
		return false;
	const char *slash = *target == '/' ? NULL : strrchr(name, '/');
	size_t folder = slash ? (size_t)(slash - name) + 1 : 0;
	if (folder + (size_t)got >= PATH_MAX)
		return false;
	memcpy(name + folder, target, (size_t)got);
	name[folder + (size_t)got] = '\0';
	return true;
}

/* A symbolic link keeps pointing: what it points to is replaced, or made where nothing is. */
static char *followed(const char *path)
{
	char name[PATH_MAX], *real = realpath(path, NULL);
	const char *found = real ? real : path;
	size_t size = strlen(path);
	if (!real && size < sizeof(name) && access(path, F_OK) != 0) {
		memcpy(name, path, size + 1);
		for (unsigned int i = 0; i < LINKS_MAX && follow_link(name); i++)
			continue;
		found = name;
	}
	char *copy = mem_strndup(found, strlen(found));
	free(real);
	return copy;
}

enum hd_status output_file_open(struct output_file *file, const char *path, struct hd_error *err)
{
	*file = (struct output_file){ .fd = -1 };
	file->path = followed(path);
	if (!file->path)
		return fail_nomem(err);
	struct stat old;
	bool exists = stat(path, &old) == 0;
	int error = exists || errno == ENOENT ? 0 : errno; /* links that lead to themselves, ... */
	errno = 0;
	if (error) {
		errno = error;
	} else if (exists && S_ISDIR(old.st_mode)) {
		errno = EISDIR;
	} else if (!*path) {
		errno = ENOENT;
	} else if (exists && access(path, W_OK) != 0) {
		file->fd = -1; /* errno says why */
	} else if (exists && !S_ISREG(old.st_mode)) {
		file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	} else {
		file->fd = open_temporary(file, exists ? &old : NULL);
	}
	if (file->fd >= 0)
		return HD_OK;
	error = errno;
	enum hd_status status = error ? cannot(path, error, err) : fail_nomem(err);
	deinit(file);
	return status;
}

enum hd_status output_file_open_unnamed(struct output_file *file, struct hd_error *err)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it */
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/tmp";
	*file = (struct output_file){ .fd = -1 };
	file->path = mem_strndup(folder, strlen(folder));
	if (!file->path)
		return fail_nomem(err);
	errno = 0;
	file->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		size_t size = strlen(folder) + 24;
		char *name = mem_alloc(size, 1);
		if (name) {
			(void)snprintf(name, size, "%s/heapdump-XXXXXX", folder);
			file->fd = mkostemp(name, O_CLOEXEC);
			if (file->fd >= 0)
				(void)unlink(name);
		}
		mem_free(name);
	}
	if (file->fd >= 0)
		return HD_OK;
	int error = errno;
	enum hd_status status = error ? cannot(folder, error, err) : fail_nomem(err);
	deinit(file);
	return status;
}

void output_file_write_behind(struct output_file *file)
{
	if (file->temporary && !file->behind)
		file->behind = write_behind_begin(file->fd);
}

/* Wait until everything is written. */
static void end_behind(struct output_file *file)
{
	int error = file->behind ? write_behind_end(file->behind) : 0;
	file->behind = NULL;
	if (!file->error)
		file->error = error;
}

bool output_file_write(struct output_file *file, const char *bytes, size_t size)
{
	if (file->behind) {
		if (!write_behind_add(file->behind, bytes, size))
			end_behind(file);
	} else if (!file->error) {
		file->error = write_all(file->fd, bytes, size);
	}
	return !file->error;
}

enum hd_status output_file_commit(struct output_file *file, struct hd_error *err)
{
	end_behind(file);
	int error = file->error;
	if (!error && file->temporary && fsync(file->fd) != 0)
		error = errno;
	if (!error && file->temporary && file->is_unnamed)
		error = name_it(file);
	if (!error) {
		int fd = file->fd;
		file->fd = -1; /* closed even when close() fails */
		if (close(fd) != 0)
			error = errno;
	}
	if (!error && file->temporary && rename(file->temporary, file->path) != 0)
		error = errno;
	if (error) {
		enum hd_status status =
			error == ENOMEM ? fail_nomem(err) : cannot(file->path, error, err);
		output_file_abandon(file);
		return status;
	}
	deinit(file);
	return HD_OK;
}

void output_file_abandon(struct output_file *file)
{
	if (file->temporary && !file->is_unnamed)
		(void)unlink(file->temporary);
	deinit(file);
}
