/* SPDX-License-Identifier: MIT */
#include "analysis/name_similar.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX 64u

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static char small_letter(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Letters to add, drop or change to make one word the other, @p limit + 1 at the most (Levenshtein). */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size, size_t limit)
{
	uint8_t row[WORD_MAX + 1];
	for (size_t k = 0; k <= b_size; k++)
		row[k] = (uint8_t)k;
	for (size_t i = 0; i < a_size; i++) {
		uint8_t diagonal = row[0];
		size_t least = row[0] = (uint8_t)(i + 1);
		for (size_t k = 0; k < b_size; k++) {
			bool is_same = small_letter(a[i]) == small_letter(b[k]);
			size_t best = (size_t)diagonal + !is_same;
			diagonal = row[k + 1];
			best = best < diagonal + 1u ? best : diagonal + 1u;
			best = best < row[k] + 1u ? best : row[k] + 1u;
			row[k + 1] = (uint8_t)best;
			least = best < least ? best : least;
		}
		if (least > limit)
			return limit + 1;
	}
	return row[b_size];
}

/* The last word of @p part; its size, 0: it has none that is looked for. */
static size_t last_word(const char *part, const char **ret)
{
	size_t end = strlen(part);
	while (end && !is_of_word(part[end - 1]))
		end--;
	size_t begin = end;
	while (begin && is_of_word(part[begin - 1]))
		begin--;
	*ret = part + begin;
	return end - begin;
}

unsigned int name_difference(const char *name, size_t size, const char *part)
{
	const char *wanted;
	size_t wanted_size = last_word(part, &wanted);
	size_t limit = wanted_size > 5 ? 2 : 1;
	if (wanted_size < 3 || wanted_size > WORD_MAX)
		return NAME_DIFFERS;
	size_t least = NAME_DIFFERS;
	for (size_t begin = 0, end; begin < size; begin = end + 1) {
		end = begin;
		while (end < size && is_of_word(name[end]))
			end++;
		size_t length = end - begin;
		if (length + limit < wanted_size || length > wanted_size + limit ||
		    length > WORD_MAX)
			continue;
		size_t found = distance(name + begin, length, wanted, wanted_size, limit);
		least = found <= limit && found < least ? found : least;
	}
	return (unsigned int)least;
}
