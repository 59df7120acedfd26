/* SPDX-License-Identifier: MIT */
#include "when.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "amount.h"
#include "write_line.h"

#define WORD_SHOWN 100

static bool parse_signal(struct word word, struct when *ret)
{
	uint64_t number = SIGNAL_DEFAULT;
	if (!word_take(&word, "signal") ||
	    (word_take(&word, ":") && !word_take_number(&word, &number)))
		return false;
	if (word.at != word.end || number > (uint64_t)(SIGRTMAX - SIGRTMIN))
		return false;
	ret->signal = SIGRTMIN + (int)number;
	return true;
}

static bool parse_every(struct word word, struct when *ret)
{
	const char *before;
	if (!word_take(&word, "every"))
		return false;
	before = word.at;
	word_skip_blanks(&word);
	return word.at != before && word_take_time(&word, &ret->seconds) && word.at == word.end;
}

/* Take the name of the measure and the sign; the amount follows. */
static bool take_above(struct word *word, const char *measure)
{
	if (!word_take(word, measure))
		return false;
	word_skip_blanks(word);
	if (!word_take(word, ">"))
		return false;
	word_skip_blanks(word);
	return true;
}

static bool take_percent(struct word word, unsigned *ret)
{
	uint64_t amount;
	if (!word_take_number(&word, &amount) || !word_is(word, "%") || amount >= 100)
		return false;
	*ret = (unsigned)amount;
	return true;
}

static bool parse_rss(struct word word, struct when *ret)
{
	if (!take_above(&word, "rss"))
		return false;
	return take_percent(word, &ret->rss_percent) ||
	       (word_take_size(&word, &ret->rss_bytes) && word.at == word.end);
}

static bool parse_heap(struct word word, struct when *ret)
{
	return take_above(&word, "heap") && word_take_size(&word, &ret->heap_bytes) &&
	       word.at == word.end;
}

static bool parse_pressure(struct word word, struct when *ret)
{
	return take_above(&word, "pressure") && take_percent(word, &ret->pressure_percent);
}

static bool parse_growth(struct word word, struct when *ret)
{
	uint64_t count;
	if (!word_take(&word, "growth:") || !word_take_number(&word, &count) ||
	    word.at != word.end || count > GROWTH_MOST)
		return false;
	ret->growth = (unsigned)count;
	return true;
}

/* Words that stand for themselves. */
static bool parse_plain(struct word word, struct when *ret)
{
	bool *const places[] = { &ret->at_exit, &ret->at_oom, &ret->at_high };
	static const char *const plain[] = { "exit", "oom", "high" };
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (word_is(word, plain[i])) {
			*places[i] = true;
			return true;
		}
	}
	return false;
}

static bool parse_any(struct word word, struct when *ret)
{
	return parse_signal(word, ret) || parse_rss(word, ret) || parse_every(word, ret) ||
	       parse_heap(word, ret) || parse_pressure(word, ret) || parse_growth(word, ret) ||
	       parse_plain(word, ret);
}

/* Does one ask for what another one asks for already? */
static bool is_twice(const struct when *one, const struct when *other)
{
	return (one->at_exit && other->at_exit) || (one->at_oom && other->at_oom) ||
	       (one->signal && other->signal) || (one->rss_bytes && other->rss_bytes) ||
	       (one->rss_percent && other->rss_percent) || (one->heap_bytes && other->heap_bytes) ||
	       (one->growth && other->growth) || (one->at_high && other->at_high) ||
	       (one->pressure_percent && other->pressure_percent) ||
	       (one->seconds && other->seconds);
}

static bool parse_word(struct word word, const struct when_source *source, struct when *ret)
{
	size_t size = (size_t)(word.end - word.at);
	int shown = size < WORD_SHOWN ? (int)size : WORD_SHOWN;
	struct when alone = { 0 };
	if (!parse_any(word, &alone)) {
		write_line(
			"%s: '%.*s' is not exit, oom, high, signal, signal:N (1 to %d), rss>N%%, pressure>N%%, rss>N "
			"or heap>N and K, M or G, growth:N (1 to %u), or every N and s, m or h: %s",
			source->name, shown, word.at, SIGRTMAX - SIGRTMIN, GROWTH_MOST,
			source->outcome);
		return false;
	}
	if (is_twice(&alone, ret)) {
		write_line("%s: '%.*s': it can be there only once: %s", source->name, shown,
			   word.at, source->outcome);
		return false;
	}
	return parse_any(word, ret);
}

/*
 * The text up to the next comma, without the blanks around it; @p text is then at that comma, or at
 * the end.
 */
static struct word next_word(const char **text)
{
	struct word word = { *text, *text + strcspn(*text, ",") };
	*text = word.end;
	word_skip_blanks(&word);
	while (word.end > word.at && (word.end[-1] == ' ' || word.end[-1] == '\t'))
		word.end--;
	return word;
}

bool when_parse(const char *text, const struct when_source *source, struct when *ret)
{
	*ret = (struct when){ 0 };
	for (;; text++) {
		if (!parse_word(next_word(&text), source, ret))
			return false;
		if (!*text)
			return true;
	}
}

int when_signal(const char *text)
{
	struct when when = { 0 };
	for (;; text++) {
		if (parse_signal(next_word(&text), &when) || !*text)
			return when.signal;
	}
}
