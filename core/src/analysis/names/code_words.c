/* SPDX-License-Identifier: MIT */
#include "analysis/names/code_words.h"

#include <string.h>

#include "util/text.h"

#define DIGITS_MAX   16u
#define DIGITS_ALONE 8u
#define HALF_DIGITS  8u /* after the backtick of 00007f04`9e0053e8 */

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter = (char)(letter | 0x20);
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static bool is_word_letter(char letter)
{
	char small = (char)(letter | 0x20);
	return (letter >= '0' && letter <= '9') || (small >= 'a' && small <= 'z') || letter == '_';
}

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t';
}

static size_t unknown_end(const char *line, size_t size, size_t at)
{
	static const char unknown[] = "[unknown]";
	while (at < size && is_blank(line[at]))
		at++;
	if (size - at < sizeof(unknown) - 1 || memcmp(line + at, unknown, sizeof(unknown) - 1) != 0)
		return 0;
	return at + sizeof(unknown) - 1;
}

static size_t word_end(const char *line, size_t size, size_t at)
{
	while (at < size && is_word_letter(line[at]))
		at++;
	return at;
}

static bool read_digits(const char *digits, size_t count, uint64_t *value)
{
	for (size_t i = 0; i < count; i++) {
		int digit = digit_of(digits[i]);
		if (digit < 0)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return true;
}

/* The number that the word [begin, *end) is, or begins as WinDbg writes it; false: it is none. */
static bool read_number(const char *line, size_t size, size_t begin, size_t *end, uint64_t *ret)
{
	bool has_prefix = *end - begin > 2 && line[begin] == '0' && (line[begin + 1] | 0x20) == 'x';
	size_t digits = *end - begin - (has_prefix ? 2 : 0), half = *end + 1;
	bool has_half = *end < size && line[*end] == '`' && digits && digits <= HALF_DIGITS &&
			word_end(line, size, half) == half + HALF_DIGITS;
	uint64_t value = 0;
	if (digits > DIGITS_MAX || (!has_prefix && !has_half && digits < DIGITS_ALONE) ||
	    !read_digits(line + *end - digits, digits, &value))
		return false;
	if (has_half) {
		if (!read_digits(line + half, HALF_DIGITS, &value))
			return false;
		*end = half + HALF_DIGITS;
	}
	*ret = value;
	return true;
}

/* Blanks and colours. */
static size_t skip_blanks(const char *line, size_t at, size_t end)
{
	size_t colour = 0;
	while (at < end && (is_blank(line[at]) || (colour = colour_size(line + at, end - at))))
		at += is_blank(line[at]) ? 1 : colour;
	return at;
}

static size_t skip_text(const char *line, size_t at, size_t end, const char *text)
{
	size_t size = strlen(text);
	return end - at >= size && memcmp(line + at, text, size) == 0 ? at + size : at;
}

/* Does nothing but the number of a frame come before @p end: "#1 " of GDB, "* frame #1: " of LLDB? */
static bool begins_frame(const char *line, size_t end)
{
	size_t at = skip_blanks(line, 0, end);
	at = skip_blanks(line, skip_text(line, at, end, "*"), end);
	at = skip_blanks(line, skip_text(line, at, end, "frame"), end);
	if (at < end && line[at] == '#') {
		at++;
		while (at < end && line[at] >= '0' && line[at] <= '9')
			at++;
		at = skip_blanks(line, skip_text(line, at, end, ":"), end);
	}
	return end && at == end;
}

bool code_word_next(const char *line, size_t size, size_t *at, struct code_word *ret)
{
	size_t place = *at;
	while (place < size) {
		size_t begin = place, colour = colour_size(line + place, size - place);
		place = word_end(line, size, place);
		if (place == begin) {
			place += colour ? colour : 1;
			continue;
		}
		uint64_t value;
		if (!read_number(line, size, begin, &place, &value))
			continue;
		*ret = (struct code_word){
			.begin = begin,
			.end = place,
			.unknown_end = unknown_end(line, size, place),
			.value = value,
			.is_first = !*at && begins_frame(line, begin),
		};
		*at = place;
		return true;
	}
	*at = size;
	return false;
}
