/* SPDX-License-Identifier: MIT */
#include "util/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/broker_set.h"
#include "util/opening.h"
#include "util/output_folder.h"
#include "util/path_end.h"

#define NAMES_TRIED   100u
#define NEW_MODE      0600
#define READER_MS     50 /* how often to check for a reader */
#define OPEN_STRAIGHT (O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct output_place {
	uint64_t id; /**< of the broker, which has it; 0: it is ours, and so is the rest */
	struct output_folder *folder; /**< it is this one */
	bool is_in_folder;            /**< it is a file in such a folder: nothing more is kept */
	struct path_end end;
	/** Its name in the folder until it is complete; "": it has none yet. */
	char part[OUTPUT_PART_SIZE];
};

void output_part_name(char part[OUTPUT_PART_SIZE])
{
	uint64_t number;
	struct timespec now;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
		/*
		 * Without random numbers: a name that nobody else uses now.  In any case, a name
		 * that is already taken is not used.
		 */
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		number = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^
			 (uint64_t)getpid() << 40;
	}
	(void)snprintf(part, OUTPUT_PART_SIZE, ".heapdump-%016" PRIx64 ".part", number);
}

/* Give an unnamed file a name in its folder, which @p part becomes; errno, or 0. */
static int name_it(int folder, int fd, char part[OUTPUT_PART_SIZE])
{
	char in_proc[40];
	(void)snprintf(in_proc, sizeof(in_proc), "/proc/self/fd/%d", fd);
	int code = EEXIST;
	for (unsigned int i = 0; code == EEXIST && i < NAMES_TRIED; i++) {
		code = 0;
		output_part_name(part);
		if (linkat(fd, "", folder, part, AT_EMPTY_PATH) == 0)
			continue;
		/* Before Linux 6.10 only root may do that. */
		code = errno;
		if (code != EEXIST &&
		    linkat(AT_FDCWD, in_proc, folder, part, AT_SYMLINK_FOLLOW) == 0) {
			code = 0;
		}
	}
	if (code)
		*part = '\0';
	return code;
}

static int open_nameless(int folder)
{
	return openat(folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, NEW_MODE);
}

/* Can such a file get a name there?  This must be tried now, because at the end it is too late. */
static bool can_be_named(int folder)
{
	char part[OUTPUT_PART_SIZE];
	int fd = open_nameless(folder);
	bool can = fd >= 0 && name_it(folder, fd, part) == 0;
	if (can)
		(void)unlinkat(folder, part, 0);
	if (fd >= 0)
		(void)close(fd);
	return can;
}

/* A new file in the folder, without a name where that is possible; -1 and errno. */
static int open_new(struct output_place *place)
{
	int folder = place->end.folder;
	int fd = can_be_named(folder) ? open_nameless(folder) : -1;
	for (unsigned int i = 0; fd < 0 && i < NAMES_TRIED; i++) {
		output_part_name(place->part);
		fd = openat(folder, place->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, NEW_MODE);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		*place->part = '\0';
	return fd;
}

/* The permissions of the caller's own file that it will replace. */
static void keep_mode(const struct path_end *end, int fd)
{
	struct stat new;
	mode_t mode = end->file.st_mode & 0777;
	if (!end->exists || !end->is_own_folder || end->file.st_uid != geteuid() ||
	    fstat(fd, &new) != 0)
		return;
	(void)fchmod(fd, new.st_gid == end->file.st_gid ? mode : mode & 0707);
}

static enum hd_status refuse_output(const char *path, const struct path_end *end,
				    struct hd_error *err)
{
	errno = EPERM;
	return fail(err, HD_ERR_OS, 0,
		    "%.200s: cannot write: it belongs to user %u, or may have been put there by "
		    "others: remove it, or give another name",
		    path, (unsigned int)end->file.st_uid);
}

/* May the caller write there, according to the kernel? */
static enum hd_status check_output_file(const char *path, const struct path_end *end,
					struct hd_error *err)
{
	if (!end->exists)
		return HD_OK;
	int flags = AT_EACCESS | (end->is_proc_link ? 0 : AT_SYMLINK_NOFOLLOW);
	if (faccessat(end->folder, end->name, W_OK, flags) != 0)
		return path_end_fail(path, errno, err);
	bool is_foreign = !end->is_own_folder && end->is_sticky && end->file.st_uid != geteuid();
	bool is_refused = S_ISREG(end->file.st_mode) ? is_foreign : !path_end_is_trusted(end);
	return is_refused ? refuse_output(path, end, err) : HD_OK;
}

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Open the existing and checked file, to write into it; a FIFO when it has a reader. */
static enum hd_status open_existing(const char *path, const struct path_end *end, int flags,
				    struct job *job, int *ret, struct hd_error *err)
{
	struct stat file;
	int fd;
	job_begin(job, "Waiting for a reader", 0);
	for (;;) {
		fd = openat(end->folder, end->name,
			    flags | OPEN_STRAIGHT | (end->is_proc_link ? 0 : O_NOFOLLOW));
		if (fd >= 0 || !(errno == EINTR || (errno == ENXIO && S_ISFIFO(end->file.st_mode))))
			break;
		(void)poll(NULL, 0, READER_MS);
		if (!job_step(job, 0, 0))
			return path_end_fail(path, ECANCELED, err);
	}
	if (fd < 0)
		return path_end_fail(path, errno, err);
	if (fstat(fd, &file) == 0 && is_same_inode(&file, &end->file)) {
		*ret = fd;
		return HD_OK;
	}
	(void)close(fd);
	errno = ESTALE;
	return fail(err, HD_ERR_OS, 0, "%.300s: cannot write: it was replaced just now: try again",
		    path);
}

static enum hd_status open_new_place(const char *path, const struct path_end *end,
				     struct output_place **ret, int *ret_fd, struct hd_error *err)
{
	struct output_place *place = mem_calloc(1, sizeof(*place));
	TRY_MEMORY(place, err);
	place->end = *end;
	int fd = open_new(place);
	if (fd < 0) {
		int code = errno;
		mem_free(place);
		return path_end_fail(path, code, err);
	}
	keep_mode(end, fd);
	*ret = place;
	*ret_fd = fd;
	return HD_OK;
}

static int output_is_stopped(void *arg)
{
	return !job_step(arg, 0, 0);
}

static enum hd_status open_by(const struct hd_broker *broker, const char *path, struct job *job,
			      struct output_place **ret, int *ret_fd, struct hd_error *err)
{
	struct output_place *place = mem_calloc(1, sizeof(*place));
	TRY_MEMORY(place, err);
	struct hd_error reason = { .status = HD_ERR_OS };
	int fd = broker->create(broker->arg, path, output_is_stopped, job, &place->id, &reason);
	if (fd < 0) {
		mem_free(place);
		if (err)
			*err = reason;
		return (enum hd_status)reason.status;
	}
	/* A file that is written directly has no place. */
	*ret = place->id ? place : NULL;
	if (!place->id)
		mem_free(place);
	*ret_fd = fd;
	return HD_OK;
}

static enum hd_status open_folder(const char *path, struct output_place **ret, int *ret_fd,
				  struct hd_error *err)
{
	struct output_place *place = mem_calloc(1, sizeof(*place));
	TRY_MEMORY(place, err);
	enum hd_status status = output_folder_begin(path, &place->folder, ret_fd, err);
	if (status == HD_OK) {
		*ret = place;
	} else {
		mem_free(place);
	}
	return status;
}

/* A file in a folder that was begun; @p fd or errno are of output_folder_file(). */
static enum hd_status open_in_folder(const char *path, int fd, struct output_place **ret,
				     int *ret_fd, struct hd_error *err)
{
	if (fd < 0)
		return path_end_fail(path, errno, err);
	struct output_place *place = mem_calloc(1, sizeof(*place));
	if (!place) {
		(void)close(fd);
		return fail_nomem(err);
	}
	place->is_in_folder = true;
	*ret = place;
	*ret_fd = fd;
	return HD_OK;
}

enum hd_status output_place_open(const char *path, struct job *job, struct output_place **ret,
				 int *ret_fd, struct hd_error *err)
{
	const struct hd_broker *broker = broker_current();
	if (broker)
		return open_by(broker, path, job, ret, ret_fd, err);
	if (output_folder_is_meant(path))
		return open_folder(path, ret, ret_fd, err);
	int fd = output_folder_file(path);
	if (fd >= 0 || errno != ENOENT)
		return open_in_folder(path, fd, ret, ret_fd, err);
	struct path_end end;
	TRY(path_end_find(path, &end, err));
	enum hd_status status = check_output_file(path, &end, err);
	bool is_straight = end.exists && !S_ISREG(end.file.st_mode);
	if (status == HD_OK && is_straight) {
		status = open_existing(path, &end, 0, job, ret_fd, err);
		if (status == HD_OK)
			*ret = NULL;
	} else if (status == HD_OK) {
		status = open_new_place(path, &end, ret, ret_fd, err);
	}
	/* Otherwise the place owns it. */
	if (status != HD_OK || is_straight)
		path_end_deinit(&end);
	return status;
}

enum hd_status output_place_check(const char *path, bool *ret_straight, struct hd_error *err)
{
	const struct hd_broker *broker = broker_current();
	int straight = 0;
	if (broker) {
		TRY(broker->check(broker->arg, path, &straight, err));
		*ret_straight = straight != 0;
		return HD_OK;
	}
	struct path_end end;
	struct output_place *place;
	int fd;
	TRY(path_end_find(path, &end, err));
	enum hd_status status = check_output_file(path, &end, err);
	bool is_straight = end.exists && !S_ISREG(end.file.st_mode);
	if (status == HD_OK && !is_straight)
		status = open_new_place(path, &end, &place, &fd, err);
	if (status != HD_OK || is_straight) {
		path_end_deinit(&end);
	} else {
		(void)close(fd);
		output_place_abandon(place);
	}
	if (status == HD_OK)
		*ret_straight = is_straight;
	return status;
}

int output_place_commit(struct output_place *place, int fd)
{
	const struct hd_broker *broker = place->id ? broker_current() : NULL;
	if (broker) {
		int error = broker->commit(broker->arg, place->id);
		mem_free(place);
		return error;
	}
	if (place->folder || place->is_in_folder) {
		int error = place->folder ? output_folder_end(place->folder, true) : 0;
		mem_free(place);
		return error;
	}
	const struct path_end *end = &place->end;
	int code = *place->part ? 0 : name_it(end->folder, fd, place->part);
	if (!code && renameat(end->folder, place->part, end->folder, end->name) != 0)
		code = errno;
	if (!code)
		*place->part = '\0'; /* nothing has that name any more */
	output_place_abandon(place);
	return code;
}

void output_place_abandon(struct output_place *place)
{
	if (!place)
		return;
	const struct hd_broker *broker = place->id ? broker_current() : NULL;
	if (broker) {
		broker->abandon(broker->arg, place->id);
		mem_free(place);
		return;
	}
	if (place->folder || place->is_in_folder) {
		if (place->folder)
			(void)output_folder_end(place->folder, false);
		mem_free(place);
		return;
	}
	if (*place->part)
		(void)unlinkat(place->end.folder, place->part, 0);
	path_end_deinit(&place->end);
	mem_free(place);
}

/* Only now, when it is certain what it is: empty it, and let writing to it block. */
static int prepare_stream(const struct path_end *end, int fd, bool append)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
		return errno;
	if (end->exists && S_ISREG(end->file.st_mode) && !append && ftruncate(fd, 0) != 0)
		return errno;
	return 0;
}

enum hd_status output_place_open_stream(const char *path, bool append, struct job *job, int *ret_fd,
					struct hd_error *err)
{
	struct path_end end;
	int fd = -1, code = 0, flags = append ? O_APPEND : 0;
	TRY(path_end_find(path, &end, err));
	enum hd_status status = HD_OK;
	if (end.exists && !path_end_is_trusted(&end)) {
		status = refuse_output(path, &end, err);
	} else if (end.exists) {
		status = open_existing(path, &end, flags, job, &fd, err);
	} else {
		fd = openat(end.folder, end.name, flags | OPEN_STRAIGHT | O_CREAT | O_EXCL,
			    NEW_MODE);
		code = fd < 0 ? errno : 0;
	}
	if (fd >= 0)
		code = prepare_stream(&end, fd, append);
	path_end_deinit(&end);
	if (code) {
		status = path_end_fail(path, code, err);
		if (fd >= 0)
			(void)close(fd);
	} else if (status == HD_OK) {
		*ret_fd = fd;
	}
	return status;
}

int output_place_open_unnamed(const char **ret_folder)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it */
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/tmp";
	*ret_folder = folder;
	return open_as(HD_OPEN_TEMPORARY, folder);
}
