/* SPDX-License-Identifier: MIT */
#include "util/output_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/output_folder.h"
#include "util/path_end.h"
#include "util/write_all.h"

#define SLOTS     4u
#define SLOT_SIZE ((size_t)512 << 10)

/* A thread that writes to a file while another one makes the next bytes. */
struct background_writer {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* used by the thread that adds: */
	size_t used; /* of the slot that is being filled */
	/* used by both threads, with the lock: */
	unsigned int filled, written; /* numbers of slots so far; those between wait */
	bool is_over;
	int error;
	/*
	 * a slot belongs to the thread that adds until it is filled, then to the writer until it is
	 * written:
	 */
	size_t sizes[SLOTS];
	char slots[SLOTS][SLOT_SIZE];
};

/* The next slot that is full; false: there will be none. */
static bool await_slot(struct background_writer *writer, unsigned int *ret)
{
	(void)pthread_mutex_lock(&writer->lock);
	while (writer->filled == writer->written && !writer->is_over)
		(void)pthread_cond_wait(&writer->changed, &writer->lock);
	bool is_there = writer->filled != writer->written;
	*ret = writer->written % SLOTS;
	(void)pthread_mutex_unlock(&writer->lock);
	return is_there;
}

static void *write_slots(void *arg)
{
	struct background_writer *writer = arg;
	int error = 0;
	for (unsigned int slot; await_slot(writer, &slot);) {
		/* After an error the other slots are only skipped. */
		if (!error) {
			error = write_all(writer->fd, writer->slots[slot], writer->sizes[slot],
					  NULL);
		}
		(void)pthread_mutex_lock(&writer->lock);
		writer->error = error;
		writer->written++;
		(void)pthread_cond_signal(&writer->changed);
		(void)pthread_mutex_unlock(&writer->lock);
	}
	return NULL;
}

/* Pass on the current slot, and wait for a free one; false: a write failed. */
static bool hand_over(struct background_writer *writer)
{
	(void)pthread_mutex_lock(&writer->lock);
	writer->sizes[writer->filled % SLOTS] = writer->used;
	writer->filled++;
	writer->used = 0;
	(void)pthread_cond_signal(&writer->changed);
	while (writer->filled - writer->written == SLOTS)
		(void)pthread_cond_wait(&writer->changed, &writer->lock);
	bool is_good = !writer->error;
	(void)pthread_mutex_unlock(&writer->lock);
	return is_good;
}

/*
 * Begin to write to @p fd, which the caller keeps; NULL: memory is exhausted, or no thread can be
 * started.
 */
static struct background_writer *background_writer_begin(int fd)
{
	struct background_writer *writer = mem_alloc(1, sizeof(*writer));
	if (!writer)
		return NULL;
	memset(writer, 0, offsetof(struct background_writer, slots));
	writer->fd = fd;
	(void)pthread_mutex_init(&writer->lock, NULL);
	(void)pthread_cond_init(&writer->changed, NULL);
	sigset_t all, old; /* signals stay with the calling thread */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int code = pthread_create(&writer->thread, NULL, write_slots, writer);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!code)
		return writer;
	(void)pthread_cond_destroy(&writer->changed);
	(void)pthread_mutex_destroy(&writer->lock);
	mem_free(writer);
	return NULL;
}

/* Take a copy of the bytes; false: an earlier write failed. */
static bool background_writer_add(struct background_writer *writer, const char *bytes, size_t size)
{
	while (size) {
		size_t some = SLOT_SIZE - writer->used;
		if (some > size)
			some = size;
		memcpy(writer->slots[writer->filled % SLOTS] + writer->used, bytes, some);
		writer->used += some;
		bytes += some;
		size -= some;
		if (writer->used == SLOT_SIZE && !hand_over(writer))
			return false;
	}
	return true;
}

/* Wait until everything is written, and free @p writer.  Returns the errno of a failed write, or 0. */
static int background_writer_end(struct background_writer *writer)
{
	if (writer->used)
		(void)hand_over(writer);
	(void)pthread_mutex_lock(&writer->lock);
	writer->is_over = true;
	(void)pthread_cond_signal(&writer->changed);
	(void)pthread_mutex_unlock(&writer->lock);
	(void)pthread_join(writer->thread, NULL);
	int error = writer->error;
	(void)pthread_cond_destroy(&writer->changed);
	(void)pthread_mutex_destroy(&writer->lock);
	mem_free(writer);
	return error;
}

/* A path that ends with a slash is that of a folder, if it is the path of anything. */
static enum hd_status refuse_folder(const char *path, struct hd_error *err)
{
	bool is_straight;
	TRY(output_place_check(path, &is_straight, err));
	return path_end_fail(path, EISDIR, err);
}

enum hd_status output_file_open(struct output_file *file, const char *path, struct job *job,
				struct hd_error *err)
{
	*file = (struct output_file){ .fd = -1, .job = job };
	file->path = mem_strndup(path, strlen(path));
	TRY_MEMORY(file->path, err);
	enum hd_status status =
		output_folder_is_meant(path)
			? refuse_folder(path, err)
			: output_place_open(path, job, &file->place, &file->fd, err);
	if (status != HD_OK)
		output_file_abandon(file);
	return status;
}

enum hd_status output_file_open_unnamed(struct output_file *file, struct hd_error *err)
{
	const char *folder;
	*file = (struct output_file){ .fd = output_place_open_unnamed(&folder) };
	if (file->fd < 0)
		return errno == ENOMEM ? fail_nomem(err) : path_end_fail(folder, errno, err);
	file->path = mem_strndup(folder, strlen(folder));
	if (file->path)
		return HD_OK;
	output_file_abandon(file);
	return fail_nomem(err);
}

void output_file_write_in_background(struct output_file *file)
{
	if (file->place && !file->writer)
		file->writer = background_writer_begin(file->fd);
}

/* Wait until everything is written. */
static void end_writer(struct output_file *file)
{
	int error = file->writer ? background_writer_end(file->writer) : 0;
	file->writer = NULL;
	if (!file->error)
		file->error = error;
}

bool output_file_write(struct output_file *file, const char *bytes, size_t size)
{
	file->size += size;
	if (file->writer) {
		if (!background_writer_add(file->writer, bytes, size))
			end_writer(file);
	} else if (!file->error) {
		file->error = write_all(file->fd, bytes, size, file->job);
	}
	return !file->error;
}

enum hd_status output_file_commit(struct output_file *file, struct hd_error *err)
{
	end_writer(file);
	int error = file->error;
	while (!error && file->place && fsync(file->fd) != 0)
		error = errno == EINTR ? 0 : errno;
	if (!error && file->place) {
		error = output_place_commit(file->place, file->fd);
		file->place = NULL;
	} else if (!error) {
		int fd = file->fd;
		file->fd = -1; /* closed even when close() fails */
		if (close(fd) != 0 && errno != EINTR)
			error = errno;
	}
	enum hd_status status = HD_OK;
	if (error)
		status = error == ENOMEM ? fail_nomem(err) : path_end_fail(file->path, error, err);
	output_file_abandon(file);
	return status;
}

void output_file_abandon(struct output_file *file)
{
	end_writer(file);
	output_place_abandon(file->place);
	if (file->fd >= 0)
		(void)close(file->fd);
	mem_free(file->path);
	*file = (struct output_file){ .fd = -1 };
}
