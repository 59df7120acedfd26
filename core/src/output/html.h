/* SPDX-License-Identifier: MIT */
#pragma once

#include "output/out.h"

/** Bytes that the texts of one page take, as they are written; names that come after that are cut short. */
#define HTML_NAMES_SIZE ((size_t)600 << 10)

/**
 * Writes HTML to an out.  Markup is only what html_puts() and html_printf() are given; everything
 * from a target goes through html_text() or html_name(), which leave no character that has a
 * meaning in content or in a quoted attribute, and show what a reader cannot see as \u202e.
 */
struct html {
	struct out *out;
	size_t names_left; /**< of HTML_NAMES_SIZE */
};

static inline void html_init(struct html *html, struct out *out)
{
	*html = (struct html){ .out = out, .names_left = HTML_NAMES_SIZE };
}

/** Write markup of our own. */
static inline void html_puts(struct html *html, const char *markup)
{
	out_puts(html->out, markup);
}
/** The same with numbers, or with texts of our own. */
void html_printf(struct html *html, const char *format, ...) HD_PRINTF(2, 3);

/** Write text, in content or in an attribute that is in double quotes. */
void html_text(struct html *html, const char *bytes, size_t size);
/** The same up to NUL; NULL is nothing. */
void html_string(struct html *html, const char *string);

/**
 * Write a name of the target: its first and last bytes if it has more than @p most, or fewer once
 * all names together are long.
 */
void html_name(struct html *html, const char *bytes, size_t size, size_t most);

/** Write the first @p most bytes of a name, for a place where there is no room for the rest. */
void html_beginning(struct html *html, const char *bytes, size_t size, size_t most);
