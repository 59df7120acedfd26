/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "analysis/names/code_words.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "gc/heap.h"
#include "runtime/code.h"
#include "runtime/runtime_ops.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/opening.h"

#define PIECE_SIZE    ((size_t)64 << 10)
#define LINE_SIZE_MAX ((size_t)1 << 20)
#define POLL_MS       100
#define KEPT_NAMES    4096u /* a power of two */

#define NAMED_LIST(X)                                                                              \
	X(NAMED_LINE, "line", NULL, KIND_NUMBER, 0, 0, "number of the line, from 1 on")            \
	X(NAMED_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the address in it")                 \
	X(NAMED_METHOD_DESC, "method_desc", NULL, KIND_ADDRESS, 0, 0,                              \
	  "the method whose code is there")                                                        \
	X(NAMED_NAME, "name", NULL, KIND_TEXT, 0, 0, "its name, with arguments")                   \
	X(NAMED_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "bytes from the beginning of its code") \
	X(NAMED_FILE, "file", NULL, KIND_TEXT, 0, 0, "source file, from a PDB; null: not known")   \
	X(NAMED_SOURCE_LINE, "source_line", NULL, KIND_NUMBER, 0, 0, "and the line in it")

COLUMNS(named, NAMED_COLUMNS, NAMED_LIST);

SCHEMA(named, .name = "addresses", .is_main = true);

static const struct table_options no_heading = { .no_heading = true };

/* A name that was asked for, "" if there is none; they come again and again. */
struct kept_name {
	uint64_t method_desc;
	struct text text;
};

struct naming {
	struct call *call;
	const char *path;
	int fd;
	struct text line;        /* what of a line has been read */
	struct text shown;       /* the line with its names */
	uint64_t number;         /* of the line */
	bool is_among_frames;    /* the line before was a frame */
	struct kept_name *names; /* by a hash of method_desc */
};

static const struct text *name_of(struct naming *naming, uint64_t method_desc)
{
	struct runtime *runtime = naming->call->heap->runtime;
	char unused[2];
	struct kept_name *kept =
		&naming->names[(method_desc >> 3) * 0x9e3779b97f4a7c15u >> 52 & (KEPT_NAMES - 1)];
	if (kept->method_desc != method_desc) {
		kept->text.size = 0;
		kept->method_desc = method_desc;
		/* Functions that the compiler of a NativeAOT program has made itself have none. */
		if (runtime_capabilities(runtime) & RUNTIME_METADATA ||
		    runtime_method_name(runtime, method_desc, unused, sizeof(unused), NULL))
			runtime_method_signature(runtime, method_desc, &kept->text);
	}
	return &kept->text;
}

/*
 * The code at @p address.  The address of a caller is the one to which a call returns, so that the call itself is
 * before it, perhaps at the end of another method.
 */
static bool find_code(struct naming *naming, uint64_t address, bool is_caller,
		      struct code_info *ret)
{
	struct runtime *runtime = naming->call->heap->runtime;
	return address && runtime_code_at(runtime, address - is_caller, ret);
}

/* An address of code, and what is known of it. */
struct named {
	struct code_word word;
	struct code_info code;
	const struct text *name;
	struct cell file, line; /* of the source; null: not known */
};

static void write_named(struct naming *naming, const struct named *named)
{
	const struct code_word *word = &named->word;
	const struct code_info *code = &named->code;
	const struct cell cells[NAMED_COLUMNS] = {
		[NAMED_LINE] = cell_number(naming->number),
		[NAMED_ADDRESS] = cell_number(word->value),
		[NAMED_METHOD_DESC] = cell_number(code->method_desc),
		[NAMED_NAME] = cell_text(named->name->bytes, named->name->size),
		[NAMED_OFFSET] = cell_number(word->value - code->start),
		[NAMED_FILE] = named->file,
		[NAMED_SOURCE_LINE] = named->line,
	};
	answer_row(&naming->call->answer, cells);
}

/*
 * The name after its address, in the place of [unknown] if that is there: other tools read what perf writes, so it gets
 * no source line then.
 */
static void put_name(struct naming *naming, const struct named *named)
{
	struct text *shown = &naming->shown;
	const bool is_perf = named->word.unknown_end;
	text_puts(shown, is_perf ? " " : " <");
	text_escape(shown, named->name->bytes, named->name->size);
	text_printf(shown, "+0x%" PRIx64, named->word.value - named->code.start);
	if (!is_perf && named->file.is_there) {
		text_puts(shown, " [");
		text_escape(shown, named->file.text.bytes, named->file.text.size);
		text_printf(shown, " @ %" PRIu64 "]", named->line.number);
	}
	text_puts(shown, is_perf ? "" : ">");
}

/* Bytes at @p at that a terminal may get as they are, though they are no text: a tab, a colour, the CR of a line's end. */
static size_t kept_size(const struct text *line, size_t at)
{
	const char *bytes = line->bytes + at;
	size_t left = line->size - at;
	return *bytes == '\t' || (*bytes == '\r' && left == 1) ? 1 : colour_size(bytes, left);
}

static void put_part(struct naming *naming, size_t begin, size_t end)
{
	const struct text *line = &naming->line;
	for (size_t at = begin; at < end;) {
		size_t kept = kept_size(line, at);
		if (!kept) {
			at++;
			continue;
		}
		text_escape(&naming->shown, line->bytes + begin, at - begin);
		text_append(&naming->shown, line->bytes + at, kept);
		begin = at += kept;
	}
	if (begin < end)
		text_escape(&naming->shown, line->bytes + begin, end - begin);
}

static enum hd_status name_line(struct naming *naming)
{
	struct call *call = naming->call;
	bool is_text = answer_is_text(&call->answer), is_frame = false;
	struct named named = { .name = NULL };
	struct code_word *word = &named.word;
	size_t at = 0, done = 0;
	naming->number++;
	naming->shown.size = 0;
	while (code_word_next(naming->line.bytes, naming->line.size, &at, word)) {
		bool is_caller = word->is_first && naming->is_among_frames;
		is_frame |= word->is_first;
		if (!find_code(naming, word->value, is_caller, &named.code))
			continue;
		named.name = name_of(naming, named.code.method_desc);
		if (named.name->failed)
			return fail_nomem(call->err);
		if (!named.name->size)
			continue;
		named.file = named.line = cell_null();
		source_text_cells(call, named.code.method_desc, word->value - is_caller,
				  &named.file, &named.line);
		if (!is_text) {
			write_named(naming, &named);
			continue;
		}
		put_part(naming, done, word->end);
		put_name(naming, &named);
		done = at = word->unknown_end ? word->unknown_end : word->end;
	}
	naming->is_among_frames = is_frame;
	if (is_text) {
		put_part(naming, done, naming->line.size);
		text_puts(&naming->shown, "\n");
		text_append(&call->out.text, naming->shown.bytes, naming->shown.size);
		out_flush_if_full(&call->out);
	}
	naming->line.size = 0;
	if (naming->shown.failed)
		return fail_nomem(call->err);
	return call_check(call);
}

/* A line that has no end: its part up to the last blank becomes one. */
static enum hd_status cut_line(struct naming *naming)
{
	struct text *line = &naming->line;
	const char *blank = memrchr(line->bytes, ' ', line->size);
	size_t size = line->size, cut = blank ? (size_t)(blank - line->bytes) + 1 : size;
	line->size = cut;
	TRY(name_line(naming));
	memmove(line->bytes, line->bytes + cut, size - cut);
	line->size = size - cut;
	return HD_OK;
}

static enum hd_status take_piece(struct naming *naming, const char *piece, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		const char *end = memchr(piece + at, '\n', size - at);
		size_t until = end ? (size_t)(end - piece) : size;
		text_append(&naming->line, piece + at, until - at);
		if (naming->line.failed)
			return fail_nomem(naming->call->err);
		if (end) {
			TRY(name_line(naming));
		} else if (naming->line.size > LINE_SIZE_MAX) {
			TRY(cut_line(naming));
		}
		at = until;
	}
	return HD_OK;
}

/* Waits for input, and looks meanwhile whether the user has had enough. */
static enum hd_status read_piece(struct naming *naming, char *piece, ssize_t *ret)
{
	struct call *call = naming->call;
	for (;;) {
		struct pollfd ready = { .fd = naming->fd, .events = POLLIN };
		TRY(call_check(call));
		TRY(job_check(&call->job, 0, call->err));
		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		*ret = read(naming->fd, piece, PIECE_SIZE);
		if (*ret >= 0)
			return HD_OK;
		if (errno != EINTR && errno != EAGAIN) {
			return fail(call->err, HD_ERR_OS, 0, "cannot read %s: %s", naming->path,
				    strerrordesc_np(errno));
		}
	}
}

static enum hd_status name_all(struct naming *naming)
{
	HD_FREE char *piece = mem_alloc(1, PIECE_SIZE);
	naming->names = mem_calloc(KEPT_NAMES, sizeof(*naming->names));
	TRY_MEMORY(piece && naming->names, naming->call->err);
	for (;;) {
		ssize_t got;
		TRY(read_piece(naming, piece, &got));
		if (!got)
			break;
		TRY(take_piece(naming, piece, (size_t)got));
	}
	if (naming->line.size)
		TRY(name_line(naming));
	if (naming->number || naming->call->words[0].given)
		return HD_OK;
	return call_usage(naming->call, "nothing came from the standard input: name a file");
}

static enum hd_status open_text(struct naming *naming)
{
	struct call *call = naming->call;
	const struct value *word = &call->words[0];
	bool is_named = word->given && strcmp(word->text, "-") != 0;
	naming->path = is_named ? word->text : STANDARD_INPUT;
	if (!is_named && runtime_target(call->heap->runtime)->debugger.route)
		return call_usage(call, "a debugger has the standard input: a file is missing");
	naming->fd = open_as(HD_OPEN_INPUT, naming->path);
	if (naming->fd < 0) {
		return fail(call->err, HD_ERR_OS, 0, "cannot open %s: %s", naming->path,
			    open_reason(errno));
	}
	if (isatty(naming->fd)) {
		(void)close(naming->fd);
		return call_usage(call, "name a file, or let another program write to this one");
	}
	return HD_OK;
}

static enum hd_status run_symbolize(struct call *call)
{
	struct naming naming = { .call = call };
	TRY(open_text(&naming));
	call->out.keeps_text = answer_is_text(&call->answer);
	answer_table(&call->answer, &named_schema, &no_heading);
	enum hd_status status = name_all(&naming);
	if (status == HD_OK)
		(void)answer_table_end(&call->answer);
	for (size_t i = 0; naming.names && i < KEPT_NAMES; i++)
		text_deinit(&naming.names[i].text);
	mem_free(naming.names);
	text_deinit(&naming.line);
	text_deinit(&naming.shown);
	(void)close(naming.fd);
	return status;
}

COMMAND(symbolize, .has_rows = true,
	.summary = "name the addresses of managed code in a text, such as that of perf script",
	.description =
		"The text comes from FILE, or without it (or for -) from the standard input. It is\n"
		"written again with a name after each address of code that the JIT has made, of\n"
		"ReadyToRun code, or of a method of a NativeAOT program. perf cannot name such addresses, and neither can what writes a\n"
		"native crash log; where PDBs are found, a source line follows, but not in frames of\n"
		"perf, which other tools read. The names are those of now: code that was replaced since,\n"
		"by tiered compilation, may have none. Tabs, colours and the ends of lines stay; other\n"
		"characters that nobody sees are written as escapes.\n",
	.example = "symbolize perf-script.txt", .top_level = TOP_LEVEL_NEVER,
	.needs = NEEDS_RUNTIME, .words = { { "FILE", VALUE_STREAM, true } });
