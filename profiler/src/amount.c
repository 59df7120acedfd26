/* SPDX-License-Identifier: MIT */
#include "amount.h"

#include <stddef.h>
#include <string.h>

#define LONGEST_SECONDS (UINT64_C(366) * 24 * 3600)

/* A letter that may follow a number, and its factor; a zero byte ends the list. */
struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{ 'K', UINT64_C(1) << 10 }, { 'M', UINT64_C(1) << 20 }, { 'G', UINT64_C(1) << 30 }, { 0 }
};
static const struct unit times[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 0 } };

struct word word_of(const char *text)
{
	return (struct word){ text, text + strlen(text) };
}

void word_skip_blanks(struct word *word)
{
	while (word->at < word->end && (*word->at == ' ' || *word->at == '\t'))
		word->at++;
}

bool word_take(struct word *word, const char *text)
{
	size_t size = strlen(text);
	if ((size_t)(word->end - word->at) < size || memcmp(word->at, text, size) != 0)
		return false;
	word->at += size;
	return true;
}

bool word_is(struct word word, const char *text)
{
	return word_take(&word, text) && word.at == word.end;
}

bool word_take_number(struct word *word, uint64_t *ret)
{
	const char *begin = word->at;
	for (*ret = 0; word->at < word->end && *word->at >= '0' && *word->at <= '9'; word->at++) {
		if (word->at - begin == 9)
			return false;
		*ret = *ret * 10 + (uint64_t)(*word->at - '0');
	}
	return *ret > 0;
}

/* Take a number and its unit. */
static bool take_amount(struct word *word, const struct unit *units, uint64_t *ret)
{
	if (!word_take_number(word, ret))
		return false;
	for (; units->letter; units++) {
		if (word->at < word->end && *word->at == units->letter) {
			word->at++;
			*ret *= units->factor;
			return true;
		}
	}
	return false;
}

bool word_take_size(struct word *word, uint64_t *ret)
{
	return take_amount(word, sizes, ret);
}

bool word_take_time(struct word *word, unsigned *ret)
{
	uint64_t seconds;
	if (!take_amount(word, times, &seconds) || seconds > LONGEST_SECONDS)
		return false;
	*ret = (unsigned)seconds;
	return true;
}
