/* SPDX-License-Identifier: MIT */
#include "util/path_end.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/job.h"

#define PATH_LINKS_MAX 40u /* as many as Linux follows */

/* One walk. */
struct path_walk {
	const char *path;    /* the whole, for messages */
	char rest[PATH_MAX]; /* the rest of the path */
	unsigned int links;
	struct stat folder; /* status of end->folder */
};

enum hd_status path_end_fail(const char *path, int code, struct hd_error *err)
{
	if (code == ECANCELED)
		return fail_cancelled(err);
	errno = code;
	return fail(err, HD_ERR_OS, 0, "%s: cannot write: %s", path, strerrordesc_np(code));
}

static bool is_own_folder(const struct stat *folder)
{
	return (folder->st_uid == geteuid() || folder->st_uid == 0) &&
	       !(folder->st_mode & (S_IWGRP | S_IWOTH));
}

/* In a folder that is not the caller's own. */
static bool is_of_caller(const struct stat *file)
{
	return (file->st_uid == geteuid() || file->st_uid == 0) && file->st_nlink == 1;
}

bool path_end_is_trusted(const struct path_end *end)
{
	return end->is_own_folder || is_of_caller(&end->file);
}

/* Enter the folder @p fd, which the walk then owns; returns errno, or 0. */
static int enter(struct path_walk *walk, struct path_end *end, int fd)
{
	if (fd < 0)
		return errno;
	if (fstat(fd, &walk->folder) != 0 || !S_ISDIR(walk->folder.st_mode)) {
		(void)close(fd);
		return ENOTDIR;
	}
	if (end->folder >= 0)
		(void)close(end->folder);
	end->folder = fd;
	return 0;
}

static int enter_start(struct path_walk *walk, struct path_end *end)
{
	return enter(walk, end,
		     open(*walk->rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Put the text of the link @p fd in front of the rest; returns errno, or 0. */
static int take_link(struct path_walk *walk, struct path_end *end, int fd)
{
	char text[PATH_MAX];
	ssize_t got = readlinkat(fd, "", text, sizeof(text));
	size_t rest = strlen(walk->rest) + 1;
	if (got <= 0)
		return got ? errno : ENOENT;
	if ((size_t)got + rest > sizeof(walk->rest))
		return ENAMETOOLONG;
	memmove(walk->rest + got, walk->rest, rest);
	memcpy(walk->rest, text, (size_t)got);
	return *walk->rest == '/' ? enter_start(walk, end) : 0;
}

/*
 * The kernel follows the links of /proc, because their texts may not be paths. *@p ret_end: the
 * path ends there.
 */
static int take_proc_link(struct path_walk *walk, struct path_end *end, int link, bool *ret_end)
{
	struct stat file;
	int fd = openat(end->folder, end->name, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &file) != 0) {
		int code = errno;
		if (fd >= 0)
			(void)close(fd);
		return code;
	}
	if (S_ISDIR(file.st_mode))
		return enter(walk, end, fd);
	(void)close(fd);
	if (S_ISREG(file.st_mode))
		return file.st_nlink ? take_link(walk, end, link) : ENOENT;
	if (*walk->rest)
		return ENOTDIR;
	end->file = file;
	end->exists = end->is_proc_link = *ret_end = true;
	return 0;
}

static bool is_in_proc(int fd)
{
	struct statfs system;
	return fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

static enum hd_status refuse_link(const struct path_walk *walk, const struct path_end *end,
				  const struct stat *link, struct hd_error *err)
{
	errno = EPERM;
	return fail(err, HD_ERR_OS, 0,
		    "%.200s: cannot write: the link %.100s on the way belongs to user %u, or may "
		    "have been put there by others: give the name that it leads to",
		    walk->path, end->name, (unsigned int)link->st_uid);
}

static enum hd_status follow_path_link(struct path_walk *walk, struct path_end *end, int fd,
				       const struct stat *link, bool *ret_end, struct hd_error *err)
{
	int code = ELOOP;
	/* In a folder that is not sticky, others may have moved one of our links there. */
	if (!is_own_folder(&walk->folder) &&
	    !(walk->folder.st_mode & S_ISVTX && is_of_caller(link)))
		return refuse_link(walk, end, link, err);
	if (walk->links++ < PATH_LINKS_MAX) {
		code = is_in_proc(fd) ? take_proc_link(walk, end, fd, ret_end)
				      : take_link(walk, end, fd);
	}
	return code ? path_end_fail(walk->path, code, err) : HD_OK;
}

/* Take the next name from the rest; then the rest begins with a slash, or is empty. */
static bool take_path_name(struct path_walk *walk, struct path_end *end)
{
	size_t slashes = strspn(walk->rest, "/");
	size_t size = strcspn(walk->rest + slashes, "/");
	if (size > NAME_MAX)
		return false;
	memcpy(end->name, walk->rest + slashes, size);
	end->name[size] = '\0';
	memmove(walk->rest, walk->rest + slashes + size, strlen(walk->rest + slashes + size) + 1);
	return true;
}

/* Follow one more name. */
static enum hd_status step_along_path(struct path_walk *walk, struct path_end *end, bool *ret_end,
				      struct hd_error *err)
{
	if (!take_path_name(walk, end))
		return path_end_fail(walk->path, ENAMETOOLONG, err);
	if (!*end->name) /* a slash, or a link to a folder, was the last */
		return path_end_fail(walk->path, EISDIR, err);
	bool is_last = !*walk->rest;
	int fd = openat(end->folder, end->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && is_last) {
		*ret_end = true;
		return HD_OK;
	}
	struct stat file;
	if (fd < 0 || fstat(fd, &file) != 0) {
		int code = errno;
		if (fd >= 0)
			(void)close(fd);
		return path_end_fail(walk->path, code, err);
	}
	if (S_ISDIR(file.st_mode)) {
		int code = enter(walk, end, fd);
		return code ? path_end_fail(walk->path, code, err) : HD_OK;
	}
	enum hd_status status = HD_OK;
	if (S_ISLNK(file.st_mode)) {
		status = follow_path_link(walk, end, fd, &file, ret_end, err);
	} else if (is_last) {
		end->file = file;
		end->exists = *ret_end = true;
	} else {
		status = path_end_fail(walk->path, ENOTDIR, err);
	}
	(void)close(fd);
	return status;
}

enum hd_status path_end_find(const char *path, struct path_end *ret, struct hd_error *err)
{
	struct path_walk walk = { .path = path };
	struct path_end end = { .folder = -1 };
	size_t size = strlen(path);
	if (!size || size >= sizeof(walk.rest))
		return path_end_fail(path, size ? ENAMETOOLONG : ENOENT, err);
	memcpy(walk.rest, path, size + 1);
	int code = enter_start(&walk, &end);
	enum hd_status status = code ? path_end_fail(path, code, err) : HD_OK;
	for (bool is_end = false; status == HD_OK && !is_end;)
		status = step_along_path(&walk, &end, &is_end, err);
	if (status != HD_OK) {
		path_end_deinit(&end);
		return status;
	}
	end.is_own_folder = is_own_folder(&walk.folder);
	end.is_sticky = walk.folder.st_mode & S_ISVTX;
	*ret = end;
	return HD_OK;
}

void path_end_deinit(struct path_end *end)
{
	if (end->folder >= 0)
		(void)close(end->folder);
	*end = (struct path_end){ .folder = -1 };
}
