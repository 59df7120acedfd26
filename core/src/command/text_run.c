/* SPDX-License-Identifier: MIT */
/* A command's answer kept for a front end that takes it afterwards. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <heapdump/command.h>

#include "command/command.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text.h"

/* What is kept in memory; the rest goes to a file without a name. */
#define MEMORY_MAX ((size_t)32 << 20)

struct hd_text {
	struct text memory, warnings;
	FILE *file;
	size_t read; /* of memory */
	int error;   /* errno of the first failed write to it, or 0 */
	const struct hd_sink *sink;
};

static int keep(void *arg, const char *bytes, size_t size)
{
	struct hd_text *text = arg;
	if (!text->file && text->memory.size + size <= MEMORY_MAX) {
		text_append(&text->memory, bytes, size);
		return text->memory.failed;
	}
	if (!text->file)
		text->file = tmpfile();
	if (!text->file || fwrite(bytes, 1, size, text->file) != size)
		text->error = errno ? errno : EIO;
	return text->error;
}

static void keep_warning(void *arg, const char *line)
{
	struct hd_text *text = arg;
	text_puts(&text->warnings, line);
	text_puts(&text->warnings, "\n");
}

static void pass_note(void *arg, const char *line)
{
	const struct hd_text *text = arg;
	text->sink->note(text->sink->arg, line);
}

static int ask_cancelled(void *arg)
{
	const struct hd_text *text = arg;
	return text->sink->cancelled ? text->sink->cancelled(text->sink->arg) : 0;
}

static void pass_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	const struct hd_text *text = arg;
	text->sink->progress(text->sink->arg, what, done, total);
}

int hd_text_run(struct hd_session *session, int argc, const char *const *argv,
		const struct hd_sink *sink, struct hd_text **ret, struct hd_error *err)
{
	*ret = NULL;
	if (sink_check(sink, err) != HD_OK)
		return HD_EXIT_USAGE;
	struct hd_text *text = mem_calloc(1, sizeof(*text));
	*ret = text;
	if (!text) {
		(void)fail_nomem(err);
		return HD_EXIT_INPUT;
	}
	text->sink = sink;
	struct hd_sink own = *sink;
	own.arg = text;
	own.write = keep;
	own.warn = keep_warning;
	own.note = sink->note ? pass_note : NULL;
	own.cancelled = ask_cancelled;
	own.progress = sink->progress ? pass_progress : NULL;
	int status = hd_command_run(session, argc, argv, &own, err);
	text->sink = NULL;
	if (text->file)
		rewind(text->file);
	if (status != HD_EXIT_INTERRUPTED)
		return status;
	if (text->memory.failed) {
		(void)fail_nomem(err);
		return HD_EXIT_INPUT;
	}
	if (text->error) {
		errno = text->error;
		(void)fail(err, HD_ERR_OS, 0, "cannot keep the answer in a temporary file: %s",
			   strerrordesc_np(text->error));
		return HD_EXIT_INPUT;
	}
	return status;
}

size_t hd_text_read(struct hd_text *text, char *buf, size_t size)
{
	size_t left = text->memory.size - text->read;
	if (left) {
		size_t now = left < size ? left : size;
		memcpy(buf, text->memory.bytes + text->read, now);
		text->read += now;
		return now;
	}
	return text->file ? fread(buf, 1, size, text->file) : 0;
}

const char *hd_text_warnings(const struct hd_text *text)
{
	return text->warnings.bytes ? text->warnings.bytes : "";
}

void hd_text_free(struct hd_text *text)
{
	if (!text)
		return;
	if (text->file)
		(void)fclose(text->file);
	text_deinit(&text->memory);
	text_deinit(&text->warnings);
	mem_free(text);
}
