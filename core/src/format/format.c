/* SPDX-License-Identifier: MIT */
#include "format/format.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/gcdump/gcdump.h"
#include "format/hprof/hprof_files.h"
#include "format/nettrace/nettrace.h"
#include "format/other_formats.h"
#include "format/raw/raw_graph.h"
#include "format/rpm/rpm_reader.h"
#include "format/viewers/viewers.h"
#include "mem/mapped_file.h"
#include "util/opening.h"
#include "util/read_at.h"
#include "util/text.h"

#define DETECT_SIZE ((size_t)512)

const struct format rpm_format = {
	.name = "rpm",
	.summary = "text log v2 of RPM and XNA",
	.detect = rpm_detect,
	.read = rpm_read,
	.write = rpm_write,
	.extension = ".heap",
	.has_dead = true,
	.has_weak = true,
	.roots_once = true,
};

const struct format gcdump_format = {
	.name = "gcdump",
	.summary = ".gcdump of dotnet-gcdump, PerfView and Visual Studio",
	.detect = gcdump_detect,
	.read = gcdump_read,
	.write = gcdump_write,
	.extension = ".gcdump",
	.is_binary = true,
	.uses_life = true,
	.has_dead = true,
};

const struct format nettrace_format = {
	.name = "nettrace",
	.summary = "heap snapshot in an EventPipe trace",
	.detect = nettrace_detect,
	.read = nettrace_read,
	.extension = ".nettrace",
	.is_binary = true,
};

const struct format heapsnapshot_format = {
	.name = "heapsnapshot",
	.summary = "V8 heap snapshot for Chrome's and Edge's DevTools",
	.write = heapsnapshot_write,
	.extension = ".heapsnapshot",
	.uses_life = true,
	.has_dead = true,
	.has_weak = true,
	.roots_once = true,
};

const struct format folded_format = {
	.name = "folded",
	.summary = "folded stacks of retained bytes along the dominator tree",
	.write = folded_write,
	.extension = ".folded",
	.uses_life = true,
	.uses_dominators = true,
};

const struct format speedscope_format = {
	.name = "speedscope",
	.summary = "speedscope JSON of retained bytes along the dominator tree",
	.write = speedscope_write,
	.extension = ".speedscope.json",
	.uses_life = true,
	.uses_dominators = true,
};

const struct format hprof_format = {
	.name = "hprof",
	.summary = "HPROF of Java and Android; for VisualVM, with contents of a core or process",
	.detect = hprof_detect,
	.read = hprof_read,
	.write = hprof_write,
	.extension = ".hprof",
	.is_binary = true,
	.has_dead = true,
	.roots_once = true,
};

static const struct format *const formats[] = {
	&gcdump_format,       &nettrace_format, &hprof_format,
	&rpm_format, /* accepts any text */
	&heapsnapshot_format, &folded_format,   &speedscope_format,
};

const struct format *format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

const struct format *format_find(const char *name)
{
	for (size_t i = 0; format_at(i); i++) {
		if (strcmp(format_at(i)->name, name) == 0)
			return format_at(i);
	}
	return NULL;
}

const struct format *format_of_path(const char *path)
{
	size_t size = strlen(path);
	for (size_t i = 0; format_at(i); i++) {
		size_t extension = strlen(format_at(i)->extension);
		if (size > extension &&
		    strcasecmp(path + size - extension, format_at(i)->extension) == 0)
			return format_at(i);
	}
	return NULL;
}

static enum hd_status unknown(const char *path, const char *head, size_t size, struct hd_error *err)
{
	if (!size) {
		return fail(err, HD_ERR_UNSUPPORTED, 0, "%s: the file is empty, not a heap dump",
			    path);
	}
	const struct format *format = format_of_path(path);
	if (format && !format->read) {
		return fail(err, HD_ERR_UNSUPPORTED, 0, "%s: a %s is only written, not read", path,
			    format->extension);
	}
	HD_CLEANUP(text) struct text text = { 0 };
	text_escape(&text, head, size < 16 ? size : 16);
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "%s: not a heap dump (a text log begins with \"a 2 NAME\"); it begins with "
		    "\"%s\"",
		    path, text.bytes ? text.bytes : "");
}

static enum hd_status open_regular(const char *path, int *ret_fd, struct stat *ret_info,
				   struct hd_error *err)
{
	int fd = open_as(HD_OPEN_INPUT, path);
	struct stat stat;
	if (fd < 0 && (errno == EISDIR || errno == EINVAL)) {
		return fail(err, HD_ERR_OS, 0, "%s: %s, not a heap dump file", path,
			    errno == EISDIR ? "is a directory" : "not a regular file");
	}
	if (fd < 0 || fstat(fd, &stat) != 0) {
		int error = errno;
		if (fd >= 0)
			(void)close(fd);
		errno = error;
		return fail(err, HD_ERR_OS, 0, "%s: cannot open: %s", path, open_reason(error));
	}
	if (S_ISFIFO(stat.st_mode)) {
		(void)close(fd);
		return fail(err, HD_ERR_OS, 0, "%s: not a regular file, not a heap dump file",
			    path);
	}
	*ret_fd = fd;
	*ret_info = stat;
	return HD_OK;
}

static enum hd_status read_file_head(int fd, const char *path, char *head, size_t *ret,
				     struct hd_error *err)
{
	ssize_t got = read_at(fd, head, DETECT_SIZE, 0);
	if (got < 0)
		return fail(err, HD_ERR_OS, 0, "%s: cannot read: %s", path, strerrordesc_np(errno));
	*ret = (size_t)got;
	return HD_OK;
}

enum hd_status format_open_fd(const struct dump_input *input, const struct format_options *options,
			      struct job *job, struct hd_graph **ret,
			      const struct format **ret_format, struct hd_error *err)
{
	const char *path = input->path;
	int fd = input->fd;
	struct stat info;
	if (fstat(fd, &info) != 0)
		return fail(err, HD_ERR_OS, 0, "%s: cannot read: %s", path, strerrordesc_np(errno));
	char head[DETECT_SIZE];
	size_t head_size = 0;
	TRY(read_file_head(fd, path, head, &head_size, err));
	const char *other = other_format_of(path, head, head_size);
	if (other)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "%s: %s", path, other);
	const struct format *format = NULL;
	for (size_t i = 0; !format && format_at(i); i++) {
		if (format_at(i)->detect && format_at(i)->detect(head, head_size))
			format = format_at(i);
	}
	if (!format)
		return unknown(path, head, head_size, err);
	const struct dump_input whole = { .path = path, .fd = fd, .size = (uint64_t)info.st_size };
	TRY(format->read(&whole, options, job, ret, err));
	if (file_was_written(fd, &info)) {
		graph_destroy(*ret);
		*ret = NULL;
		return fail(err, HD_ERR_OS, 0, "%s: the file was changed while it was read", path);
	}
	graph_use_ranges(*ret);
	if (format == &gcdump_format || format == &nettrace_format) {
		enum hd_status status = raw_graph_frozen(*ret, NULL, err);
		if (status != HD_OK) {
			graph_destroy(*ret);
			*ret = NULL;
			return status;
		}
	}
	if (ret_format)
		*ret_format = format;
	return HD_OK;
}

enum hd_status format_open(const char *path, const struct format_options *options, struct job *job,
			   struct hd_graph **ret, const struct format **ret_format,
			   struct hd_error *err)
{
	int fd = -1;
	struct stat info = { 0 };
	TRY(open_regular(path, &fd, &info, err));
	const struct dump_input input = { .path = path, .fd = fd };
	enum hd_status status = format_open_fd(&input, options, job, ret, ret_format, err);
	(void)close(fd);
	return status;
}
