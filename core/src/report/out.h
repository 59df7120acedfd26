/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_REPORT_OUT_H
#define HEAPDUMP_SRC_REPORT_OUT_H

#include <stdarg.h>

#include <heapdump/session.h>

#include "report/fit.h"
#include "util/text.h"

/** What a piece of text is, for colours. */
enum style {
	STYLE_ADDRESS,
	STYLE_TYPE,
	STYLE_HEAD,
	STYLE_NOTE,
	STYLE_END, /**< what ends each of them; for out.c only */
};

/** The answer on its way to a sink: buffered, cut to a width, coloured when that is on. */
struct out {
	const struct hd_sink *sink;
	struct text text;
	uint32_t
		width; /**< columns of a line: names in a longer one are shortened (report/fit.h); 0: any */
	bool color;
	bool stopped;     /**< the sink takes no more, or memory is exhausted: end the command */
	bool is_document; /**< JSON: what is begun is written to its end */
	bool ends_crlf;   /**< lines end with CR LF: CSV */
	bool wrote;       /**< something has reached the sink */
};

void out_init(struct out *out, const struct hd_sink *sink, uint32_t width, bool color);
/** Where SOS's columns take more than this, a terminal of fewer columns has shorter ones. */
#define OUT_NARROW 100u
static inline bool out_has_fewer(const struct out *out, uint32_t columns)
{
	return out->width && out->width < columns;
}
static inline bool out_is_narrow(const struct out *out)
{
	return out_has_fewer(out, OUT_NARROW);
}
/** Digits of an address that SOS fills up with zeros; in few columns there are only those that addresses have. */
static inline int out_address_digits(const struct out *out)
{
	return out_is_narrow(out) ? 12 : 16;
}
/** Hand what is buffered to the sink: out->stopped then tells whether all was taken. */
void out_flush(struct out *out);
/** Same, and free. */
void out_deinit(struct out *out);
/** What is buffered, at most, before it is handed on; of a text that is cut to a width only whole lines are. */
#define OUT_FLUSH_SIZE ((size_t)64 << 10)
/** out_flush() when enough is buffered. */
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
/** Same in the colour of @p style. */
void out_styled(struct out *out, enum style style, const char *format, ...) HD_PRINTF(3, 4);
/** Begin the colour of @p style, and end it: around text that is appended to out->text. */
void out_begin_style(struct out *out, enum style style);
void out_end_style(struct out *out);
/** Begin a name that may be shortened: @p kind is FIT_TYPE or FIT_METHOD; and end it. */
void out_begin_name(struct out *out, char kind);
void out_end_name(struct out *out);
/** A type name, escaped and in its colour; NULL is shown as <unknown type ID>. */
void out_type(struct out *out, const char *name, size_t size, uint64_t id);
/** @p count blanks. */
void out_pad(struct out *out, size_t count);

#endif
