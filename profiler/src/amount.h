/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The words of settings: what is taken is removed from the beginning, what is not stays. */

/** The rest of a word. */
struct word {
	const char *at, *end;
};

struct word word_of(const char *text);

/** Take blanks. */
void word_skip_blanks(struct word *word);

/** Take a text that must come next; false: it does not. */
bool word_take(struct word *word, const char *text);

/** Is this text all that is left? */
bool word_is(struct word word, const char *text);

/** Take a number of at most 9 digits; false: there is none, or it is 0. */
bool word_take_number(struct word *word, uint64_t *ret);

/** Take a number and K, M or G: bytes. */
bool word_take_size(struct word *word, uint64_t *ret);

/** Take a number and s, m or h, of at most 366 days: seconds. */
bool word_take_time(struct word *word, unsigned *ret);
