/* SPDX-License-Identifier: MIT */
/* A command's answer kept for a front end that takes it afterwards. */
#include <errno.h>
#include <string.h>

#include <heapdump/command.h>

#include "command/call.h"
#include "util/alloc.h"
#include "util/fail.h"
#include "util/output_file.h"
#include "util/read_at.h"
#include "util/signal_hold.h"
#include "util/sink.h"
#include "util/text.h"

/* So much stays in memory; the rest goes to a file without a name. */
#define MEMORY_MAX ((size_t)32 << 20)

struct hd_text {
	struct text memory, warnings;
	struct output_file file;
	bool has_file;
	uint64_t size; /* of it */
	uint64_t read; /* of memory, then of it */
	int error;     /* errno of what failed first with it, or 0 */
	const struct hd_sink *sink;
};

static int keep_output(void *arg, const char *bytes, size_t size)
{
	struct hd_text *text = arg;
	if (!text->has_file && text->memory.size + size <= MEMORY_MAX) {
		text_append(&text->memory, bytes, size);
		return text->memory.failed;
	}
	struct hd_error unused;
	if (!text->has_file && output_file_open_unnamed(&text->file, &unused) != HD_OK)
		return text->error = unused.status == HD_ERR_NOMEM ? ENOMEM : errno;
	text->has_file = true;
	text->size += size;
	if (!output_file_write(&text->file, bytes, size))
		text->error = text->file.error;
	return text->error;
}

static enum hd_status not_kept(const struct hd_text *text, struct hd_error *err)
{
	errno = text->error;
	return fail(err, HD_ERR_OS, 0, "cannot keep the answer in a temporary file: %s",
		    strerrordesc_np(text->error));
}

static void keep_run_warning(void *arg, const char *line)
{
	struct hd_text *text = arg;
	text_puts(&text->warnings, line);
	text_puts(&text->warnings, "\n");
}

static void pass_run_note(void *arg, const char *line)
{
	const struct hd_text *text = arg;
	text->sink->note(text->sink->arg, line);
}

static int ask_run_cancelled(void *arg)
{
	const struct hd_text *text = arg;
	return text->sink->cancelled ? text->sink->cancelled(text->sink->arg) : 0;
}

static void pass_run_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	const struct hd_text *text = arg;
	text->sink->progress(text->sink->arg, what, done, total);
}

int hd_text_run(struct hd_session *session, int argc, const char *const *argv,
		const struct hd_sink *sink, struct hd_text **ret, struct hd_error *err)
{
	if (!ret) {
		(void)fail(err, HD_ERR_ARGUMENT, 0, "there is no place for the answer");
		return HD_EXIT_USAGE;
	}
	*ret = NULL;
	struct hd_sink given;
	if (sink_read(sink, false, &given, err) != HD_OK)
		return HD_EXIT_USAGE;
	struct hd_text *text = mem_calloc(1, sizeof(*text));
	*ret = text;
	if (!text) {
		(void)fail_nomem(err);
		return HD_EXIT_INPUT;
	}
	text->sink = &given;
	struct hd_sink own = given;
	own.arg = text;
	own.write = keep_output;
	own.warn = keep_run_warning;
	own.note = given.note ? pass_run_note : NULL;
	own.cancelled = ask_run_cancelled;
	own.progress = given.progress ? pass_run_progress : NULL;
	struct signal_hold too_large;
	signal_hold_begin(&too_large, HOLD_TOO_LARGE);
	int status = hd_command_run(session, argc, argv, &own, err);
	text->sink = NULL;
	signal_hold_end(&too_large);
	if (status != HD_EXIT_INTERRUPTED && !text->error)
		return status;
	if (text->memory.failed) {
		(void)fail_nomem(err);
		return HD_EXIT_INPUT;
	}
	if (text->error) {
		(void)not_kept(text, err);
		return HD_EXIT_INPUT;
	}
	return status;
}

size_t hd_text_read(struct hd_text *text, char *buf, size_t size)
{
	if (!text || !buf)
		return 0;
	bool is_memory = text->read < text->memory.size;
	uint64_t at = is_memory ? text->read : text->read - text->memory.size;
	uint64_t left = (is_memory ? text->memory.size : text->size) - at;
	size_t now = left < size ? (size_t)left : size;
	if (text->error || !now)
		return 0;
	if (is_memory) {
		memcpy(buf, text->memory.bytes + at, now);
	} else {
		ssize_t got = read_at(text->file.fd, buf, now, (off_t)at);
		if (got <= 0)
			text->error = got ? errno : EIO;
		now = got > 0 ? (size_t)got : 0;
	}
	text->read += now;
	return now;
}

enum hd_status hd_text_check(const struct hd_text *text, struct hd_error *err)
{
	if (!text)
		return fail(err, HD_ERR_ARGUMENT, 0, "there is no text");
	return text->error ? not_kept(text, err) : HD_OK;
}

const char *hd_text_warnings(const struct hd_text *text)
{
	return text && text->warnings.bytes ? text->warnings.bytes : "";
}

void hd_text_free(struct hd_text *text)
{
	if (!text)
		return;
	if (text->has_file)
		output_file_abandon(&text->file);
	text_deinit(&text->memory);
	text_deinit(&text->warnings);
	mem_free(text);
}
