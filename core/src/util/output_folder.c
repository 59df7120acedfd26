/* SPDX-License-Identifier: MIT */
#include "util/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/output_place.h"

#define FILES_MAX   16u
#define NAME_SIZE   48u
#define NAMES_TRIED 100u
#define FOLDER_MODE 0700
#define FILE_MODE   0600

struct output_folder {
	char *path;           /* without slashes at its end */
	struct path_end end;  /* where it will be */
	char part[NAME_SIZE]; /* its name there until then */
	int fd;               /* O_PATH */
	char files[FILES_MAX][NAME_SIZE];
	size_t count;
	struct output_folder *next;
};

/* All folders that were begun. */
static struct output_folder *begun;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool output_folder_is_meant(const char *path)
{
	size_t size = strlen(path);
	return size > 1 && path[size - 1] == '/';
}

static enum hd_status find_end(const char *path, struct path_end *ret, struct hd_error *err)
{
	struct hd_error reason = { 0 };
	enum hd_status status = path_end_find(path, ret, &reason);
	if (status == HD_OK && !ret->exists)
		return HD_OK;
	if (status == HD_OK || reason.os_errno == EISDIR) {
		errno = EEXIST;
		return fail(err, HD_ERR_OS, 0,
			    "%.300s: cannot write: it is there already: remove it, or give another "
			    "name",
			    path);
	}
	if (err)
		*err = reason;
	return status;
}

static int make_folder(struct output_folder *folder)
{
	int code = EEXIST;
	for (unsigned int i = 0; code == EEXIST && i < NAMES_TRIED; i++) {
		output_part_name(folder->part);
		code = mkdirat(folder->end.folder, folder->part, FOLDER_MODE) == 0 ? 0 : errno;
	}
	if (code) {
		*folder->part = '\0';
		return code;
	}
	folder->fd = openat(folder->end.folder, folder->part,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return folder->fd < 0 ? errno : 0;
}

/* Delete it with its files, if it has not got its name; free it. */
static void destroy_folder(struct output_folder *folder)
{
	for (size_t i = 0; *folder->part && folder->fd >= 0 && i < folder->count; i++)
		(void)unlinkat(folder->fd, folder->files[i], 0);
	if (*folder->part)
		(void)unlinkat(folder->end.folder, folder->part, AT_REMOVEDIR);
	if (folder->fd >= 0)
		(void)close(folder->fd);
	path_end_deinit(&folder->end);
	mem_free(folder->path);
	mem_free(folder);
}

static char *without_slashes(const char *path)
{
	size_t size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	return mem_strndup(path, size);
}

enum hd_status output_folder_begin(const char *path, struct output_folder **ret, int *ret_fd,
				   struct hd_error *err)
{
	struct output_folder *folder = mem_calloc(1, sizeof(*folder));
	TRY_MEMORY(folder, err);
	folder->fd = folder->end.folder = -1;
	folder->path = without_slashes(path);
	enum hd_status status =
		folder->path ? find_end(folder->path, &folder->end, err) : fail_nomem(err);
	int code = status == HD_OK ? make_folder(folder) : 0;
	int fd = status == HD_OK && !code ? fcntl(folder->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (status == HD_OK && fd < 0)
		status = path_end_fail(folder->path, code ? code : errno, err);
	if (status != HD_OK) {
		destroy_folder(folder);
		return status;
	}
	(void)pthread_mutex_lock(&lock);
	folder->next = begun;
	begun = folder;
	(void)pthread_mutex_unlock(&lock);
	*ret = folder;
	*ret_fd = fd;
	return HD_OK;
}

int output_folder_end(struct output_folder *folder, bool is_complete)
{
	int code = 0;
	(void)pthread_mutex_lock(&lock);
	struct output_folder **at = &begun;
	while (*at != folder)
		at = &(*at)->next;
	*at = folder->next;
	(void)pthread_mutex_unlock(&lock);
	/* It does not replace what has got the name meanwhile, but for an empty folder. */
	if (is_complete &&
	    renameat(folder->end.folder, folder->part, folder->end.folder, folder->end.name) != 0) {
		code = errno;
	} else if (is_complete) {
		*folder->part = '\0';
	}
	destroy_folder(folder);
	return code;
}

/* The name of the file of @p path in a folder; NULL: it is not in it. */
static const char *name_in(const struct output_folder *folder, const char *path)
{
	size_t size = strlen(folder->path);
	if (strncmp(path, folder->path, size) != 0 || path[size] != '/')
		return NULL;
	const char *name = path + size + 1;
	return *name && !strchr(name, '/') && *name != '.' ? name : NULL;
}

int output_folder_file(const char *path)
{
	int fd = -1, code = ENOENT;
	(void)pthread_mutex_lock(&lock);
	for (struct output_folder *i = begun; i; i = i->next) {
		const char *name = name_in(i, path);
		if (!name)
			continue;
		if (i->count == FILES_MAX || strlen(name) >= NAME_SIZE) {
			code = ENAMETOOLONG;
			break;
		}
		fd = openat(i->fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
		code = fd < 0 ? errno : 0;
		if (fd >= 0)
			(void)snprintf(i->files[i->count++], NAME_SIZE, "%s", name);
		break;
	}
	(void)pthread_mutex_unlock(&lock);
	errno = code;
	return fd;
}
