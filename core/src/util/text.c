/* SPDX-License-Identifier: MIT */
#include "util/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/error.h>

#include "util/alloc.h"
#include "util/invisible.h"

void text_deinit(struct text *text)
{
	mem_free(text->bytes);
	*text = (struct text){ 0 };
}

/* Make room for @p size more bytes and the NUL. */
static bool text_reserve(struct text *text, size_t size)
{
	if (text->failed)
		return false;
	if (text->capacity - text->size > size)
		return true;
	size_t capacity = text->capacity + text->capacity / 2;
	if (capacity < text->size + size + 1)
		capacity = text->size + size + 64;
	char *bytes = mem_realloc(text->bytes, capacity, 1);
	if (!bytes) {
		text->failed = true;
		return false;
	}
	text->bytes = bytes;
	text->capacity = capacity;
	return true;
}

char *text_extend_more(struct text *text, size_t size)
{
	if (!text_reserve(text, size))
		return NULL;
	char *room = text->bytes + text->size;
	text->size += size;
	text->bytes[text->size] = '\0';
	return room;
}

void text_printf(struct text *text, const char *format, ...)
{
	char small[256];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (size < 0)
		return;
	if ((size_t)size < sizeof(small)) {
		text_append(text, small, (size_t)size);
		return;
	}
	if (!text_reserve(text, (size_t)size))
		return;
	va_start(args, format);
	(void)vsnprintf(text->bytes + text->size, (size_t)size + 1, format, args);
	va_end(args);
	text->size += (size_t)size;
}

/* A byte of each eight. */
#define EACH(byte) (0x0101010101010101u * (byte))

/* The highest bit of at least one byte is set if a byte of @p word is @p c. */
static uint64_t marks_of(uint64_t word, uint64_t c)
{
	uint64_t other = word ^ EACH(c);
	return (other - EACH(1)) & ~other & EACH(0x80);
}

/* The same if a byte is less than 0x20, or 0x7f or more. */
static uint64_t marks_of_unprintable(uint64_t word)
{
	return ((((word - EACH(0x20)) & ~word) | word) & EACH(0x80)) | marks_of(word, 0x7f);
}

static uint64_t word_at(const char *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	return word;
}

size_t printable_run(const char *bytes, size_t size)
{
	size_t i = 0;
	while (i + 8 <= size && !marks_of_unprintable(word_at(bytes + i)))
		i += 8;
	while (i < size && bytes[i] >= 0x20 && bytes[i] < 0x7f)
		i++;
	return i;
}

size_t quotable_run(const char *bytes, size_t size)
{
	size_t i = 0;
	while (i + 8 <= size) {
		uint64_t word = word_at(bytes + i);
		if (marks_of_unprintable(word) | marks_of(word, '"') | marks_of(word, '\\'))
			break;
		i += 8;
		/* The last word begins before the end of the one before it. */
		if (i < size && i + 8 > size)
			i = size - 8;
	}
	while (i < size && bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '"' &&
	       bytes[i] != '\\')
		i++;
	return i;
}

size_t utf8_length(const char *bytes, size_t size)
{
	unsigned char first = (unsigned char)bytes[0];
	if (first < 0x80)
		return 1;
	size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || length > size)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (!utf8_continues(bytes[i]))
			return 0;
	}
	unsigned char second = (unsigned char)bytes[1];
	bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
	bool surrogate = first == 0xed && second > 0x9f;
	bool beyond = first == 0xf4 && second > 0x8f;
	return overlong || surrogate || beyond ? 0 : length;
}

void text_valid(struct text *text, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t run = printable_run(bytes + i, size - i);
		text_append(text, bytes + i, run);
		i += run;
		size_t length = i < size ? utf8_length(bytes + i, size - i) : 1;
		if (i < size && length) {
			text_append(text, bytes + i, length);
		} else if (i < size) {
			text_append(text, "\xef\xbf\xbd", 3);
		}
		i += length ? length : 1;
	}
}

uint32_t utf8_character(const char *bytes, size_t length)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)bytes[0] & masks[length];
	for (size_t i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)bytes[i] & 0x3fu);
	return c;
}

bool utf8_is_invisible(const char *bytes, size_t length)
{
	return is_invisible(utf8_character(bytes, length));
}

size_t escape_write(const char *bytes, size_t size, char ret[ESCAPED_SIZE])
{
	size_t length = utf8_length(bytes, size);
	unsigned int c = length ? utf8_character(bytes, length) & 0x1fffff : (unsigned char)*bytes;
	(void)snprintf(ret, ESCAPED_SIZE,
		       !length      ? "\\x%02x"
		       : length < 4 ? "\\u%04x"
				    : "\\u{%x}",
		       c);
	return length ? length : 1;
}

void escape_write_json(const char *bytes, size_t length, char ret[ESCAPED_JSON_SIZE])
{
	unsigned int c = utf8_character(bytes, length);
	if (length < 4) {
		(void)snprintf(ret, ESCAPED_JSON_SIZE, "\\u%04x", c & 0xffff);
	} else {
		unsigned int beyond = c - 0x10000;
		(void)snprintf(ret, ESCAPED_JSON_SIZE, "\\u%04x\\u%04x",
			       0xd800 + (beyond >> 10 & 0x3ff), 0xdc00 + (beyond & 0x3ff));
	}
}

size_t escape_of(const char *bytes, size_t size, char ret[ESCAPED_SIZE])
{
	size_t length = utf8_length(bytes, size);
	if (!length || utf8_is_invisible(bytes, length))
		return escape_write(bytes, size, ret);
	*ret = '\0';
	return length;
}

void text_escape(struct text *text, const char *bytes, size_t size)
{
	if (!size)
		return; /* perhaps without any bytes */
	size_t plain =
		printable_run(bytes, size); /* bytes before i that will be appended unchanged */
	for (size_t i = plain; i < size;) {
		char escape[ESCAPED_SIZE];
		size_t length = escape_of(bytes + i, size - i, escape);
		if (*escape) {
			text_append(text, bytes + i - plain, plain);
			text_puts(text, escape);
			plain = 0;
		} else {
			plain += length;
		}
		i += length;
	}
	text_append(text, bytes + size - plain, plain);
}

size_t hd_escape(const char *text, size_t size, char *buf, size_t capacity)
{
	size_t used = 0;
	for (size_t i = 0; text && i < size && text[i];) {
		char escape[ESCAPED_SIZE];
		size_t length = escape_of(text + i, size - i, escape);
		const char *from = *escape ? escape : text + i;
		size_t count = *escape ? strlen(escape) : length;
		if (!buf || capacity - used <= count || !capacity)
			break;
		memcpy(buf + used, from, count);
		used += count;
		i += length;
	}
	if (buf && capacity)
		buf[used] = '\0';
	return used;
}

const char *format_thousands(uint64_t value, char *buf)
{
	char digits[21];
	int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	char *out = buf;
	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

const char *format_change(uint64_t before, uint64_t after, char *buf)
{
	bool grown = after >= before;
	buf[0] = grown ? '+' : '-';
	if (before == after)
		return format_thousands(0, buf);
	(void)format_thousands(grown ? after - before : before - after, buf + 1);
	return buf;
}

const char *format_count(uint64_t value, const char *noun, char *buf)
{
	char number[NUMBER_SIZE];
	(void)snprintf(buf, COUNT_SIZE, "%s %s%s", format_thousands(value, number), noun,
		       value == 1 ? "" : "s");
	return buf;
}

const char *format_bytes(uint64_t size, char *buf)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB", "PB", "EB" };
	unsigned int unit = 0;
	uint64_t tenths = 0;
	for (; size >= 1024; unit++) {
		tenths = size % 1024 * 10 / 1024;
		size /= 1024;
	}
	if (tenths) {
		(void)snprintf(buf, 32, "%u.%u %s", (unsigned int)size, (unsigned int)tenths,
			       units[unit]);
	} else {
		(void)snprintf(buf, 32, "%u %s", (unsigned int)size, units[unit]);
	}
	return buf;
}

const char *format_share(double share, char *buf)
{
	(void)snprintf(buf, 32, "%.1f %%", 100 * share);
	return buf;
}

/*
 * The host program may have set a locale with another decimal point, which may have several bytes.
 */
static void use_point(char *number)
{
	char *out = number;
	for (const char *at = number; *at; at++) {
		bool own = (*at >= '0' && *at <= '9') || *at == '-' || *at == '+' || *at == 'e';
		if (own) {
			*out++ = *at;
		} else if (out == number || out[-1] != '.') {
			*out++ = '.';
		}
	}
	*out = '\0';
}

const char *format_real(double value, bool is_single, char *buf, size_t size)
{
	if (!isfinite(value)) {
		(void)snprintf(buf, size, "%s",
			       isnan(value) ? "NaN"
			       : value > 0  ? "Infinity"
					    : "-Infinity");
		return buf;
	}
	int most = is_single ? 9 : 17;
	for (int digits = is_single ? 6 : 15; digits <= most; digits++) {
		(void)snprintf(buf, size, "%.*g", digits, value);
		if (is_single ? strtof(buf, NULL) == (float)value : strtod(buf, NULL) == value)
			break;
	}
	use_point(buf);
	return buf;
}

static bool parse_digits(const char **string, unsigned int base, uint64_t *ret)
{
	uint64_t value = 0;
	const char *at = *string;
	for (; hex_value(*at) >= 0 && (unsigned int)hex_value(*at) < base; at++) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (unsigned int)hex_value(*at), &value))
			return false;
	}
	if (at == *string)
		return false;
	*string = at;
	*ret = value;
	return true;
}

static bool skip_0x(const char **string)
{
	if ((*string)[0] != '0' || ((*string)[1] | 0x20) != 'x')
		return false;
	*string += 2;
	return true;
}

/* The digits after a point: @p ret_value of @p ret_parts.  With at most six, a product with a unit fits. */
static bool parse_fraction(const char **string, uint64_t *ret_value, uint64_t *ret_parts)
{
	const char *begin = *string;
	if (!parse_digits(string, 10, ret_value) || *string - begin > 6)
		return false;
	for (*ret_parts = 1; begin < *string; begin++)
		*ret_parts *= 10;
	return true;
}

/* "K", "kB", "KiB": the bytes of the unit that *@p string begins with, or 0. */
static uint64_t parse_unit(const char **string)
{
	static const char units[] = "kmgt";
	const char *at = *string, *unit = *at ? strchr(units, *at | 0x20) : NULL;
	if (!unit)
		return 0;
	at++;
	if ((at[0] | 0x20) == 'i' && (at[1] | 0x20) == 'b') {
		at += 2;
	} else {
		at += (at[0] | 0x20) == 'b';
	}
	*string = at;
	return (uint64_t)1 << (10 * (unit - units + 1));
}

bool parse_number(const char *string, uint64_t *ret)
{
	uint64_t value, fraction = 0, parts = 1;
	unsigned int base = skip_0x(&string) ? 16 : 10;
	if (!parse_digits(&string, base, &value))
		return false;
	bool is_fraction = base == 10 && *string == '.';
	if (is_fraction) {
		string++;
		if (!parse_fraction(&string, &fraction, &parts))
			return false;
	}
	uint64_t unit = parse_unit(&string);
	if (*string || (is_fraction && !unit))
		return false;
	unit = unit ? unit : 1;
	if (__builtin_mul_overflow(value, unit, &value) ||
	    __builtin_add_overflow(value, fraction * unit / parts, &value))
		return false;
	*ret = value;
	return true;
}

bool parse_address(const char *string, uint64_t *ret)
{
	uint64_t sum = 0;
	char sign = '+';
	for (;;) {
		uint64_t value;
		(void)skip_0x(&string);
		if (!parse_digits(&string, 16, &value))
			return false;
		sum = sign == '+' ? sum + value : sum - value;
		if (!*string)
			break;
		sign = *string++;
		if (sign != '+' && sign != '-')
			return false;
	}
	*ret = sum;
	return true;
}

size_t colour_size(const char *text, size_t size)
{
	size_t at = 2;
	if (size < 3 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (at < size && ((text[at] >= '0' && text[at] <= '9') || text[at] == ';'))
		at++;
	return at < size && text[at] == 'm' ? at + 1 : 0;
}

void text_number(struct text *text, uint64_t value)
{
	char buf[20];
	size_t at = sizeof(buf);
	do {
		buf[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_append(text, buf + at, sizeof(buf) - at);
}

void text_hex(struct text *text, uint64_t value, unsigned int digits, bool is_upper)
{
	const char *names = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char buf[16];
	size_t at = sizeof(buf);
	do {
		buf[--at] = names[value & 15];
		value >>= 4;
	} while (value || (at && sizeof(buf) - at < digits));
	text_append(text, buf + at, sizeof(buf) - at);
}
