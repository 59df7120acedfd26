/* SPDX-License-Identifier: MIT */
#include "output/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/fit.h"

static const char *const codes[] = {
	[STYLE_ADDRESS] = "\033[33m", [STYLE_TYPE] = "\033[36m", [STYLE_HEAD] = "\033[1m",
	[STYLE_NOTE] = "\033[2m",     [STYLE_END] = "\033[0m",
};

void out_init(struct out *out, const struct hd_sink *sink, uint32_t width, bool color)
{
	*out = (struct out){ .sink = sink, .width = width, .color = color };
}

/*
 * In pieces, so that Ctrl-C works while a long text goes to a slow terminal; the code that writes a
 * document also completes it.
 */
static void send(struct out *out, const char *bytes, size_t size)
{
	const struct hd_sink *sink = out->sink;
	while (size && !out->stopped) {
		size_t piece = size < OUT_FLUSH_SIZE ? size : OUT_FLUSH_SIZE;
		out->stopped =
			(!out->is_document && sink->cancelled && sink->cancelled(sink->arg)) ||
			sink->write(sink->arg, bytes, piece) != 0;
		out->wrote = true;
		bytes += piece;
		size -= piece;
	}
}

/* Bytes of the colour code at @p bytes, or 0. */
static size_t color_code_at(const struct out *out, const char *bytes, size_t size)
{
	for (size_t i = 0; out->color && i < sizeof(codes) / sizeof(codes[0]); i++) {
		size_t length = strlen(codes[i]);
		if (size >= length && memcmp(bytes, codes[i], length) == 0)
			return length;
	}
	return 0;
}

/*
 * How many bytes of @p bytes can be written unchanged: up to the first that a terminal would act
 * on.
 */
static size_t harmless(const struct out *out, const char *bytes, size_t size)
{
	for (size_t i = printable_run(bytes, size); i < size;
	     i += printable_run(bytes + i, size - i)) {
		unsigned char c = (unsigned char)bytes[i];
		size_t length = 1;
		if (c == '\033') {
			length = out->keeps_text ? colour_size(bytes + i, size - i)
						 : color_code_at(out, bytes + i, size - i);
			if (!length)
				return i;
		} else if (c == '\r' && (out->ends_crlf || out->keeps_text) && i + 1 < size &&
			   bytes[i + 1] == '\n') {
			length = 2;
		} else if (c != '\n' && !(c == '\t' && out->keeps_text)) {
			length = utf8_length(bytes + i, size - i);
			if (!length || utf8_is_invisible(bytes + i, length))
				return i;
		}
		i += length;
	}
	return size;
}

/*
 * Code that writes a name escapes it; this catches what was forgotten.  Of everything that a
 * terminal would act on, only line ends and our own colours get through.
 */
static void escape_rest(struct out *out)
{
	const char *bytes = out->text.bytes;
	size_t size = out->text.size, at = harmless(out, bytes, size);
	if (at == size)
		return;
	struct text safe = { 0 };
	text_append(&safe, bytes, at);
	while (at < size) {
		char escape[ESCAPED_SIZE];
		at += escape_of(bytes + at, size - at, escape);
		text_puts(&safe, escape);
		size_t run = harmless(out, bytes + at, size - at);
		text_append(&safe, bytes + at, run);
		at += run;
	}
	text_deinit(&out->text);
	out->text = safe;
}

/* Fit the buffered text into the width, line by line. */
static void fit_buffered(struct out *out)
{
	struct text fitted = { 0 };
	const char *at = out->text.bytes, *end = at + out->text.size;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		fit_line(&fitted, at, (size_t)((newline ? newline : end) - at), out->width);
		if (newline)
			text_puts(&fitted, "\n");
		at = newline ? newline + 1 : end;
	}
	fitted.failed |= out->text.failed;
	text_deinit(&out->text);
	out->text = fitted;
}

/* Only complete lines are passed on while there is a width to cut to. */
void out_flush(struct out *out)
{
	if (out->width)
		fit_buffered(out);
	if (out->text.size)
		escape_rest(out);
	if (out->text.failed)
		out->stopped = true;
	send(out, out->text.bytes, out->text.size);
	out->text.size = 0;
}

void out_deinit(struct out *out)
{
	out_flush(out);
	text_deinit(&out->text);
}

HD_PRINTF(2, 0) static void vprint(struct out *out, const char *format, va_list args)
{
	char small[512];
	va_list again;
	va_copy(again, args);
	int size = vsnprintf(small, sizeof(small), format, args);
	if (size > 0 && (size_t)size < sizeof(small)) {
		text_append(&out->text, small, (size_t)size);
	} else if (size > 0) {
		/* Names may have any length: what is cut off would be the end of the line, too. */
		char *room = text_extend(&out->text, (size_t)size);
		if (room)
			(void)vsnprintf(room, (size_t)size + 1, format, again);
	}
	va_end(again);
}

void out_vprintf(struct out *out, const char *format, va_list args)
{
	vprint(out, format, args);
	out_flush_if_full(out);
}

void out_printf(struct out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vprint(out, format, args);
	va_end(args);
	out_flush_if_full(out);
}

void out_begin_style(struct out *out, enum style style)
{
	if (out->color)
		text_puts(&out->text, codes[style]);
}

void out_end_style(struct out *out)
{
	if (out->color)
		text_puts(&out->text, codes[STYLE_END]);
}

void out_styled(struct out *out, enum style style, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	out_begin_style(out, style);
	vprint(out, format, args);
	out_end_style(out);
	va_end(args);
	out_flush_if_full(out);
}

void out_begin_name(struct out *out, char kind)
{
	if (out->width)
		text_append(&out->text, &kind, 1);
}

void out_end_name(struct out *out)
{
	const char end = FIT_END;
	if (out->width)
		text_append(&out->text, &end, 1);
}

void out_begin_sentence(struct out *out)
{
	const char mark = FIT_WRAP;
	if (out->width)
		text_append(&out->text, &mark, 1);
}

void out_type(struct out *out, const char *name, size_t size, uint64_t id)
{
	if (!name) {
		out_styled(out, STYLE_NOTE, "<unknown type %" PRIx64 ">", id);
		return;
	}
	out_begin_style(out, STYLE_TYPE);
	out_begin_name(out, FIT_TYPE);
	text_escape(&out->text, name, size);
	out_end_name(out);
	out_end_style(out);
	out_flush_if_full(out);
}

void out_pad(struct out *out, size_t count)
{
	static const char blanks[] = "                                ";
	while (count) {
		size_t now = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
		text_append(&out->text, blanks, now);
		count -= now;
	}
}
