/* SPDX-License-Identifier: MIT */
#include "util/output_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/background_writer.h"
#include "util/path_end.h"
#include "util/write_all.h"

enum hd_status output_file_open(struct output_file *file, const char *path, struct job *job,
				struct hd_error *err)
{
	*file = (struct output_file){ .fd = -1, .job = job };
	file->path = mem_strndup(path, strlen(path));
	TRY_MEMORY(file->path, err);
	enum hd_status status = output_place_open(path, job, &file->place, &file->fd, err);
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
