/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/guard.h"

static inline bool string_begins_with(const char *string, const char *start)
{
	return strncmp(string, start, strlen(start)) == 0;
}

static inline bool string_ends_with(const char *string, const char *end)
{
	size_t size = strlen(string), length = strlen(end);
	return size >= length && strcmp(string + size - length, end) == 0;
}

/** A growing string; empty when zero-initialised.  After a failed append, failed stays set. */
struct text {
	char *bytes; /**< NUL-terminated when not NULL */
	size_t size, capacity;
	bool failed; /**< memory was exhausted: the text is incomplete */
};

void text_deinit(struct text *text);
/** The slow path of text_extend(), when there is not enough room. */
char *text_extend_more(struct text *text, size_t size);

/**
 * Append @p size bytes that the caller fills in; returns where, or NULL when memory is exhausted.
 */
static inline char *text_extend(struct text *text, size_t size)
{
	if (text->failed || text->capacity - text->size <= size)
		return text_extend_more(text, size);
	char *room = text->bytes + text->size;
	text->size += size;
	text->bytes[text->size] = '\0';
	return room;
}

static inline void text_append(struct text *text, const char *bytes, size_t size)
{
	char *room = size ? text_extend(text, size) : NULL;
	if (room)
		memcpy(room, bytes, size);
}

static inline void text_puts(struct text *text, const char *string)
{
	text_append(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** How many bytes at the beginning of @p bytes are printable ASCII: 0x20 to 0x7e. */
size_t printable_run(const char *bytes, size_t size);
/**
 * The same, but also neither a quote nor a backslash: what can be written unchanged between quotes.
 */
size_t quotable_run(const char *bytes, size_t size);

/** Append a number, decimal. */
void text_number(struct text *text, uint64_t value);
/** Append a number, hexadecimal, with at least @p digits (1 to 16) digits. */
void text_hex(struct text *text, uint64_t value, unsigned int digits, bool is_upper);

/** Bytes of the longest escape, and its NUL. */
#define ESCAPED_SIZE 11

/**
 * Write the character at @p bytes as an escape: \u001b, \u{e0041} beyond U+FFFF, or \xff for a
 * byte that is not UTF-8.
 *
 * @param[in] size Bytes from there to the end, > 0.
 * @param[out] ret The escape.
 * @return bytes of the character
 */
size_t escape_write(const char *bytes, size_t size, char ret[ESCAPED_SIZE]);

/** Bytes of the longest escape of JSON, and its NUL. */
#define ESCAPED_JSON_SIZE 13

/** Write the character of @p length bytes as JSON has it: \u001b, or two of these. */
void escape_write_json(const char *bytes, size_t length, char ret[ESCAPED_JSON_SIZE]);

/**
 * How the character at @p bytes is shown to a person: utf8_is_invisible() and what is not UTF-8 as
 * escapes.
 *
 * @param[in] size Bytes from there to the end, > 0.
 * @param[out] ret The escape; "" for a character that is shown unchanged.
 * @return bytes of the character
 */
size_t escape_of(const char *bytes, size_t size, char ret[ESCAPED_SIZE]);

/** Append @p size bytes for a person to read, with escapes from escape_of(). */
void text_escape(struct text *text, const char *bytes, size_t size);

/** Append text as UTF-8: each byte that is not becomes U+FFFD. */
void text_valid(struct text *text, const char *bytes, size_t size);

/** The character that @p length bytes (1 to 4) of UTF-8 encode. */
uint32_t utf8_character(const char *bytes, size_t length);

/** Is the UTF-8 character of @p length bytes on the list of what nobody sees (util/invisible.h)? */
bool utf8_is_invisible(const char *bytes, size_t length);

/**
 * Number of bytes of the UTF-8 character at @p bytes (1 to 4), or 0 when there is none; @p size >
 * 0.
 */
size_t utf8_length(const char *bytes, size_t size);
/** Does a character of UTF-8 that began earlier continue at this byte?  Text is not cut there. */
static inline bool utf8_continues(char c)
{
	return ((unsigned char)c & 0xc0u) == 0x80u;
}

/** Value of a hexadecimal digit, or -1. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#define NUMBER_SIZE 27u
/** Decimal with a comma between thousands; @p buf has NUMBER_SIZE.  Returns @p buf. */
const char *format_thousands(uint64_t value, char *buf);
/** "+1,234", "-5" or "0"; @p buf has NUMBER_SIZE + 1.  Returns @p buf. */
const char *format_change(uint64_t before, uint64_t after, char *buf);

#define COUNT_SIZE 64u
/** The same with the name of what is counted: "1 root", "2,345 roots".  @p buf has COUNT_SIZE. */
const char *format_count(uint64_t value, const char *noun, char *buf);
/**
 * "512 bytes", "1.5 MB" (1,024 KB are one); A @p buf of 32 bytes is always enough.  Returns @p buf.
 */
const char *format_bytes(uint64_t size, char *buf);
/** "44.8 %" of 0.448, a part of 1.  A @p buf of 32 bytes is enough up to 1e20.  Returns @p buf. */
const char *format_share(double share, char *buf);

/**
 * A real number with as few digits as give the same double (or float, when @p is_single) when read;
 * "NaN", "Infinity", "-Infinity".  A @p buf of 32 bytes is always enough.  Returns @p buf.
 */
const char *format_real(double value, bool is_single, char *buf, size_t size);

/**
 * Parse a number, decimal or 0x-hexadecimal, with an optional suffix K, M, G, T (powers of 1,024; KB and KiB mean the
 * same); before a suffix a decimal number may have up to six digits after a point, as in 1.5M.  False unless the whole
 * @p string is such a number.
 */
bool parse_number(const char *string, uint64_t *ret);

/** Bytes of the sequence for the colours of a terminal that @p text begins with, ESC [ 1;31 m; 0: none. */
size_t colour_size(const char *text, size_t size);

/** Parse hexadecimal, 0x allowed, words joined by + or -: 0x1ce000+56-8.  Sums wrap at 2^64. */
bool parse_address(const char *string, uint64_t *ret);
