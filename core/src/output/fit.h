/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/text.h"

/**
 * Marks in the text of an answer around a name that may be shortened where its line is too long for the terminal.
 * They are control characters, which no escaped name holds; fit_line() takes all of them out.
 */
#define FIT_TYPE   '\016' /**< the name of a type follows */
#define FIT_METHOD '\020' /**< the name of a method, with its arguments, follows */
#define FIT_PATH   '\021' /**< the path of a file follows */
#define FIT_END    '\017' /**< here the name ends */
/**
 * A mark in front of a sentence, the last part of its line: where the line is too long, the sentence goes on in further
 * lines, each of which begins in the column of the mark.
 */
#define FIT_WRAP '\022'

/**
 * Append @p line without marks to @p ret.  Where it has more than @p width columns, the marked names are shortened:
 * first paths lose their folders, type arguments and parameters their namespaces, then the names themselves, at last characters in the
 * middle give way to an ellipsis.  A line with FIT_WRAP is broken at blanks instead, and loses nothing.  What is not
 * marked stays, so the result may still be too long.
 *
 * @param[in] line One line of UTF-8 text without its end; colour codes take no column.
 * @param[in] width 0: nothing is shortened.
 * Cost: linear in @p size.
 */
void fit_line(struct text *ret, const char *line, size_t size, uint32_t width);

/**
 * Append the name of a type, a method or a file as it is shown in few columns.
 *
 * @param[in] kind FIT_TYPE, FIT_METHOD or FIT_PATH.
 * @param[in] whole Shorten the name itself, too, and not only its type arguments and parameters.
 */
void fit_name(struct text *ret, const char *name, size_t size, char kind, bool whole);

/** Append the first columns of @p text, which has more than @p columns, and an ellipsis: @p columns together. */
void fit_text(struct text *ret, const char *text, size_t size, size_t columns);

/** Columns of a line of text: characters, without colour codes and marks. */
size_t fit_columns(const char *line, size_t size);
