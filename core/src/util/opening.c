/* SPDX-License-Identifier: MIT */
#include "util/opening.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/broker_set.h"
#include "util/peer.h"

/* Connections that wait to be accepted. */
#define BACKLOG 64

/* Close the descriptor of a failed attempt, and keep its errno. */
static int give_up_opening(int fd)
{
	int code = errno;
	if (fd >= 0)
		(void)close(fd);
	errno = code;
	return -1;
}

#define OWN_FILES "/proc/self/fd"
/* A file that is there cannot be opened, for there is no /proc: open() has no such error. */
#define NO_PROC ENOSYS

const char *open_reason(int error)
{
	return error == NO_PROC ? "there is no /proc here, by which files are opened: mount it"
				: strerrordesc_np(error);
}

/*
 * Opening a FIFO would wait, and opening a device may do something: so check the file before
 * opening it.
 */
static int open_input(const char *path)
{
	char place[40];
	struct stat info;
	int fd = -1, found = open(path, O_PATH | O_CLOEXEC);
	if (found < 0 || fstat(found, &info) != 0)
		return give_up_opening(found);
	errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
	/* The standard input is open already, so that a pipe there does not wait. */
	if (S_ISREG(info.st_mode) ||
	    (S_ISFIFO(info.st_mode) && strcmp(path, STANDARD_INPUT) == 0)) {
		(void)snprintf(place, sizeof(place), "/proc/self/fd/%d", found);
		fd = open(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 && errno == ENOENT)
			errno = access(OWN_FILES, F_OK) == 0 ? ENOENT : NO_PROC;
	}
	(void)give_up_opening(found);
	return fd;
}

/* A file without a name; one that loses its name at once where the file system cannot do that. */
static int open_temporary(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	size_t size = strlen(folder) + 24;
	HD_FREE char *name = mem_alloc(size, 1);
	if (!name) {
		errno = ENOMEM;
		return -1;
	}
	(void)snprintf(name, size, "%s/heapdump-XXXXXX", folder);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(name);
	int code = errno;
	errno = code;
	return fd;
}

/*
 * The address of @p path; if the path is too long, it goes through its folder, open as *@p ret_fd.
 */
static bool address_of(const char *path, struct sockaddr_un *ret, socklen_t *ret_size, int *ret_fd)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*ret_size = sizeof(*ret);
	*ret_fd = -1;
	size_t size = strlen(path);
	if (*path == '@' && size < sizeof(ret->sun_path)) {
		memcpy(ret->sun_path + 1, path + 1, size - 1);
		*ret_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
		return true;
	}
	if (size < sizeof(ret->sun_path)) {
		memcpy(ret->sun_path, path, size);
		return true;
	}
	const char *slash = strrchr(path, '/');
	HD_FREE char *folder = slash ? mem_strndup(path, (size_t)(slash - path) + 1) : NULL;
	if (folder)
		*ret_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0) {
		errno = slash ? errno : ENAMETOOLONG;
		return false;
	}
	int length = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", *ret_fd,
			      slash + 1);
	errno = ENAMETOOLONG;
	return length > 0 && (size_t)length < sizeof(ret->sun_path);
}

/* connect() or bind(). */
static int open_socket(const char *path,
		       int (*use)(int fd, const struct sockaddr *address, socklen_t size))
{
	struct sockaddr_un address;
	socklen_t size;
	int folder = -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* Only for the owner: a process that connects to our socket is asked for its heap. */
	(void)fchmod(fd, 0600);
	bool good = address_of(path, &address, &size, &folder) &&
		    use(fd, (const struct sockaddr *)&address, size) == 0;
	(void)give_up_opening(folder);
	return good ? fd : give_up_opening(fd);
}

/*
 * A connection to the diagnostics socket of a process.  If others can change the path, the last
 * name may be a link, or lead to somebody else's socket: so exactly the checked socket is connected
 * to.
 */
static int open_connection(const char *path)
{
	char place[40];
	struct stat info;
	if (*path == '@')
		return open_socket(path, connect);
	int found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1;
	if (found < 0 || fstat(found, &info) != 0)
		return give_up_opening(found);
	errno = ECONNREFUSED;
	if (S_ISSOCK(info.st_mode)) {
		(void)snprintf(place, sizeof(place), "/proc/self/fd/%d", found);
		fd = open_socket(place, connect);
	}
	const char *slash = strrchr(path, '/');
	int code = fd < 0 ? 0 : peer_check(fd, slash ? slash + 1 : path, info.st_uid);
	if (code) {
		errno = code;
		fd = give_up_opening(fd);
	}
	(void)give_up_opening(found);
	return fd;
}

/* Nobody listens at a socket that an earlier program has left: it may be removed. */
static void remove_stale(const char *path)
{
	struct stat info;
	if (*path == '@' || lstat(path, &info) != 0 || !S_ISSOCK(info.st_mode))
		return;
	int fd = open_socket(path, connect);
	if (fd < 0 && errno == ECONNREFUSED)
		(void)unlink(path);
	if (fd >= 0)
		(void)close(fd);
}

static int open_listener(const char *path)
{
	remove_stale(path);
	int fd = open_socket(path, bind);
	if (fd < 0 || listen(fd, BACKLOG) == 0)
		return fd;
	/* Its name is free, because bind() has succeeded: it must not look as if it were in use. */
	if (errno == EADDRINUSE)
		errno = EIO;
	return give_up_opening(fd);
}

void close_listener(const char *path)
{
	if (!broker_current())
		(void)unlink(path);
}

int open_directly(enum hd_open_as as, const char *path)
{
	switch (as) {
	case HD_OPEN_INPUT:
		return open_input(path);
	case HD_OPEN_FOLDER:
		return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	case HD_OPEN_SYSTEM:
		return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	case HD_OPEN_PLACE:
		return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	case HD_OPEN_TEMPORARY:
		return open_temporary(path);
	case HD_OPEN_CONNECT:
		return open_connection(path);
	case HD_OPEN_LISTEN:
		return open_listener(path);
	case HD_OPEN_MODULE:
	case HD_OPEN_ANY_MODULE:
	case HD_OPEN_PDB:
		break;
	}
	errno = EINVAL;
	return -1;
}

int open_as(enum hd_open_as as, const char *path)
{
	const struct hd_broker *broker = broker_current();
	return broker ? broker->open(broker->arg, (int)as, path, NULL) : open_directly(as, path);
}

DIR *open_system_folder(const char *path)
{
	int fd = open_as(HD_OPEN_SYSTEM, path);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder)
		(void)give_up_opening(fd);
	return folder;
}

bool user_name_directly(uint32_t uid, char *buf, size_t size)
{
	char space[1024];
	struct passwd entry, *found = NULL;
	if (getpwuid_r((uid_t)uid, &entry, space, sizeof(space), &found) != 0 || !found)
		return false;
	int length = snprintf(buf, size, "%s", entry.pw_name);
	return length > 0 && (size_t)length < size;
}

bool user_name(uint32_t uid, char *buf, size_t size)
{
	const struct hd_broker *broker = broker_current();
	return broker ? broker->user_name(broker->arg, uid, buf, size) == 0
		      : user_name_directly(uid, buf, size);
}
