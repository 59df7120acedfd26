/* SPDX-License-Identifier: MIT */
/* An answer as lines of JSON that another program makes rows of again (--serve): doc/python.md 8. */
#include "serve_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <heapdump/answer.h>

/* Bytes of a number, and of a piece of text that is written at once. */
#define NUMBER_SIZE 64
#define PIECE_SIZE  512

/* An answer on its way. */
struct serving {
	const struct hd_sink *sink;
	uint64_t tables; /* that have begun */
	int failed;      /* what the sink's write has returned */
};

static void put(struct serving *serving, const char *text, size_t size)
{
	if (!serving->failed && size)
		serving->failed = serving->sink->write(serving->sink->arg, text, size);
}

static void put_format(struct serving *serving, const char *format, ...) HD_PRINTF(2, 3);

static void put_format(struct serving *serving, const char *format, ...)
{
	char buf[NUMBER_SIZE * 4];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(buf, sizeof(buf), format, args);
	va_end(args);
	if (size > 0 && (size_t)size < sizeof(buf))
		put(serving, buf, (size_t)size);
}

/* A string whose characters are the bytes of the text: nothing of them is lost. */
static void put_text(struct serving *serving, const char *text, size_t size)
{
	char piece[PIECE_SIZE];
	size_t used = 0;
	put(serving, "\"", 1);
	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];
		if (used + 6 >= sizeof(piece)) {
			put(serving, piece, used);
			used = 0;
		}
		if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
			piece[used++] = (char)byte;
		} else {
			(void)snprintf(piece + used, sizeof(piece) - used, "\\u00%02x", byte);
			used += 6;
		}
	}
	put(serving, piece, used);
	put(serving, "\"", 1);
}

static void put_string(struct serving *serving, const char *text)
{
	put_text(serving, text, strlen(text));
}

/* The names that Python's JSON has for what is not a number; a point tells reals from other numbers. */
static void put_real(struct serving *serving, double real)
{
	char buf[NUMBER_SIZE];
	if (!isfinite(real)) {
		put_format(serving, "%s",
			   isnan(real)  ? "NaN"
			   : real > 0.0 ? "Infinity"
					: "-Infinity");
		return;
	}
	(void)snprintf(buf, sizeof(buf), "%.17g", real);
	put_format(serving, strpbrk(buf, ".e") ? "%s" : "%s.0", buf);
}

/* An address is in brackets, and a set in braces. */
static void put_value(struct serving *serving, const struct hd_value *value)
{
	switch (value->kind) {
	case HD_KIND_FLAG:
		put_format(serving, value->number ? "true" : "false");
		break;
	case HD_KIND_NUMBER:
	case HD_KIND_BYTES:
		put_format(serving, "%" PRIu64, value->number);
		break;
	case HD_KIND_SIGNED:
		put_format(serving, "%" PRId64, value->signed_number);
		break;
	case HD_KIND_ADDRESS:
		put_format(serving, "[%" PRIu64 "]", value->number);
		break;
	case HD_KIND_REAL:
	case HD_KIND_PERCENT:
		put_real(serving, value->real);
		break;
	case HD_KIND_TEXT:
	case HD_KIND_TYPE:
		put_text(serving, value->text, value->size);
		break;
	case HD_KIND_SET:
		put_format(serving, "{\"s\":");
		put_text(serving, value->text, value->size);
		put_format(serving, "}");
		break;
	default:
		put_format(serving, "null");
	}
}

static int take_row(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	struct serving *serving = arg;
	put_format(serving, "[\"r\",%u,[", table->index);
	for (uint32_t i = 0; i < table->column_count; i++) {
		put(serving, ",", i > 0);
		put_value(serving, &values[i]);
	}
	put_format(serving, "]]\n");
	return serving->failed;
}

static void take_table(void *arg, const struct hd_table *table)
{
	struct serving *serving = arg;
	if (table->index < serving->tables) {
		put_format(serving, "[\"b\",%u]\n", table->index);
		return;
	}
	serving->tables = (uint64_t)table->index + 1;
	put_format(serving, "[\"t\",%u,%" PRId64 ",%u,%u,", table->index,
		   table->parent ? (int64_t)table->parent->index : (int64_t)-1, table->shape,
		   table->is_main);
	put_string(serving, table->name);
	for (uint32_t i = 0; i < table->column_count; i++) {
		put_format(serving, ",");
		put_string(serving, table->columns[i].name);
	}
	put_format(serving, "]\n");
}

static void take_warning(void *arg, const char *line)
{
	struct serving *serving = arg;
	put_format(serving, "[\"w\",");
	put_string(serving, line);
	put_format(serving, "]\n");
}

static int is_cancelled(void *arg)
{
	const struct serving *serving = arg;
	const struct hd_sink *sink = serving->sink;
	return serving->failed || (sink->cancelled && sink->cancelled(sink->arg));
}

/* Who waits must see it now. */
static void take_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct serving *serving = arg;
	put_format(serving, "[\"p\",");
	if (what) {
		put_string(serving, what);
	} else {
		put_format(serving, "null");
	}
	put_format(serving, ",%" PRIu64 ",%" PRIu64 "]\n", done, total);
	if (!serving->failed)
		serving->failed = serving->sink->write(serving->sink->arg, "", 0);
}

int serve_rows(struct hd_session *session, int argc, const char *const *argv,
	       const struct hd_sink *sink, struct hd_error *err)
{
	struct serving serving = { .sink = sink };
	const struct hd_visitor visitor = { .struct_size = sizeof(visitor),
					    .arg = &serving,
					    .row = take_row,
					    .begin = take_table };
	const struct hd_sink inner = { .struct_size = sizeof(inner),
				       .arg = &serving,
				       .warn = take_warning,
				       .cancelled = is_cancelled,
				       .progress = take_progress };
	int status = hd_query(session, argc, argv, &visitor, &inner, err);
	if (status > HD_EXIT_FINDINGS) {
		put_format(&serving, "[\"e\",%u,", err->status);
		put_string(&serving, err->message);
		put_format(&serving, "]\n");
		err->is_told = 1;
	}
	return status;
}
