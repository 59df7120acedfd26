/* SPDX-License-Identifier: MIT */
#include "analysis/names/code_words.h"

#include <string.h>

#define DIGITS_MAX   16u
#define DIGITS_ALONE 8u

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

/* The number that the word [begin, end) is; false: it is none. */
static bool read_number(const char *line, size_t begin, size_t end, uint64_t *ret)
{
	bool has_prefix = end - begin > 2 && line[begin] == '0' && (line[begin + 1] | 0x20) == 'x';
	size_t digits = end - begin - (has_prefix ? 2 : 0);
	uint64_t value = 0;
	if (digits > DIGITS_MAX || (!has_prefix && digits < DIGITS_ALONE))
		return false;
	for (size_t i = end - digits; i < end; i++) {
		int digit = digit_of(line[i]);
		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return true;
}

bool code_word_next(const char *line, size_t size, size_t *at, struct code_word *ret)
{
	size_t place = *at;
	while (place < size) {
		size_t begin = place;
		while (place < size && is_word_letter(line[place]))
			place++;
		if (place == begin) {
			place++;
			continue;
		}
		uint64_t value;
		if (!read_number(line, begin, place, &value))
			continue;
		size_t blanks = 0;
		while (blanks < begin && is_blank(line[blanks]))
			blanks++;
		*ret = (struct code_word){
			.begin = begin,
			.end = place,
			.unknown_end = unknown_end(line, size, place),
			.value = value,
			.is_first = blanks == begin && begin,
		};
		*at = place;
		return true;
	}
	*at = size;
	return false;
}
