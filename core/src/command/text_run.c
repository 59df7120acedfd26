/* SPDX-License-Identifier: MIT */
/* A command's answer kept for a front end that takes it afterwards. */
#include <stdio.h>
#include <string.h>

#include <heapdump/command.h>

#include "util/alloc.h"
#include "util/text.h"

/* What is kept in memory; the rest goes to a file without a name. */
#define MEMORY_MAX ((size_t)32 << 20)

struct hd_text {
	struct text memory, warnings;
	FILE *file;
	size_t read; /* of memory */
	bool failed;
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
	text->failed = !text->file || fwrite(bytes, 1, size, text->file) != size;
	return text->failed;
}

static void keep_warning(void *arg, const char *line)
{
	struct hd_text *text = arg;
	text_puts(&text->warnings, line);
	text_puts(&text->warnings, "\n");
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
	struct hd_text *text = mem_calloc(1, sizeof(*text));
	*ret = text;
	if (!text) {
		if (err) {
			*err = (struct hd_error){ .status = HD_ERR_NOMEM,
						  .message = "out of memory" };
		}
		return HD_EXIT_INPUT;
	}
	text->sink = sink;
	struct hd_sink own = *sink;
	own.arg = text;
	own.write = keep;
	own.warn = keep_warning;
	own.cancelled = ask_cancelled;
	own.progress = sink->progress ? pass_progress : NULL;
	int status = hd_command_run(session, argc, argv, &own, err);
	text->sink = NULL;
	if (text->file)
		rewind(text->file);
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
