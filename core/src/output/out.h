/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>

#include <heapdump/session.h>

#include "output/fit.h"
#include "util/text.h"

/** The kind of a piece of text; it decides the colour. */
enum style {
	STYLE_ADDRESS,
	STYLE_TYPE,
	STYLE_HEAD,
	STYLE_NOTE,
	STYLE_END, /**< ends each of the other styles; only for out.c */
};

/** The answer as text for a sink: buffered, cut to a width, and coloured if that is on. */
struct out {
	const struct hd_sink *sink;
	struct text text;
	uint32_t
		width; /**< columns of a line: names in a longer one are shortened (report/fit.h); 0: any */
	bool is_full; /**< text that shortens no name and no value, even where there is a limit */
	bool color;
	bool stopped;     /**< the sink wants no more, or memory is exhausted: the command has to
			   * end */
	bool is_document; /**< JSON: a document that was begun is always completed */
	bool ends_crlf;   /**< lines end with CR LF: CSV */
	bool keeps_text;  /**< a text of the user's: its tabs, colours and CR LF get through, too */
	bool wrote;       /**< the sink has received something */
};

void out_init(struct out *out, const struct hd_sink *sink, uint32_t width, bool color);
/** SOS's columns need more columns than this; a narrower terminal gets shorter ones. */
#define OUT_NARROW 100u
static inline bool out_has_fewer(const struct out *out, uint32_t columns)
{
	return out->width && out->width < columns;
}
static inline bool out_is_narrow(const struct out *out)
{
	return out_has_fewer(out, OUT_NARROW);
}
/** Digits of an address that SOS fills up with zeros; a narrow terminal gets only the 12 that addresses have. */
static inline int out_address_digits(const struct out *out)
{
	return out_is_narrow(out) ? 12 : 16;
}
/**
 * Give the buffered text to the sink; afterwards out->stopped says whether the sink took it all.
 */
void out_flush(struct out *out);
/** The same, and free everything. */
void out_deinit(struct out *out);
/**
 * Most bytes that are buffered before they are passed on; text that is cut to a width is passed on
 * only in complete lines.
 */
#define OUT_FLUSH_SIZE ((size_t)64 << 10)
/** Call out_flush() when enough is buffered. */
static inline void out_flush_if_full(struct out *out)
{
	if ((out->text.size >= OUT_FLUSH_SIZE &&
	     (!out->width || out->text.bytes[out->text.size - 1] == '\n')) ||
	    out->text.failed)
		out_flush(out);
}

void out_printf(struct out *out, const char *format, ...) HD_PRINTF(2, 3);
void out_vprintf(struct out *out, const char *format, va_list args) HD_PRINTF(2, 0);
static inline void out_puts(struct out *out, const char *string)
{
	text_puts(&out->text, string);
	out_flush_if_full(out);
}
/** The same in the colour of @p style. */
void out_styled(struct out *out, enum style style, const char *format, ...) HD_PRINTF(3, 4);
/** Begin and end the colour of @p style, around text that is appended to out->text. */
void out_begin_style(struct out *out, enum style style);
void out_end_style(struct out *out);
/** Begin a name that may be shortened: @p kind is FIT_TYPE, FIT_METHOD or FIT_PATH; and end it. */
void out_begin_name(struct out *out, char kind);
void out_end_name(struct out *out);
/** The rest of the line is a sentence, which may go on in further lines that begin in this column. */
void out_begin_sentence(struct out *out);
/** A type name, escaped and in its colour; NULL is shown as <unknown type ID>. */
void out_type(struct out *out, const char *name, size_t size, uint64_t id);
/** Write @p count spaces. */
void out_pad(struct out *out, size_t count);
