/* SPDX-License-Identifier: MIT */
/* Addresses in a text that another tool has written: of perf script, of a crash log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A word of a line that is a hexadecimal number. */
struct code_word {
	size_t begin, end; /**< of the word, with its 0x */
	/** Where the words "[unknown]" end that follow it, as perf script has them; 0: none do. */
	size_t unknown_end;
	uint64_t value;
	/** Only blanks, colours and the number of a frame come before it: it is a frame of a list of frames. */
	bool is_first;
};

/**
 * The next one from *@p at on: 0x and 1 to 16 digits, or 8 to 16 digits alone, or as WinDbg writes it
 * (00007f04`9e0053e8: 1 to 8 digits, and 8); no letter, digit or underscore touches it, but for a colour's.
 *
 * @param[in,out] at Where to look, a place in the line; afterwards the end of the word.
 * @return false: there is no more
 * Cost: linear in the line for all of its words together.
 */
bool code_word_next(const char *line, size_t size, size_t *at, struct code_word *ret);
