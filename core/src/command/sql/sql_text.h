/* SPDX-License-Identifier: MIT */
/* The functions of SQLite that compare two texts, in a time that is linear or that Ctrl-C ends. */
#pragma once

#include <sqlite3.h>

/** May a function go on?  It is asked once for many steps. */
typedef int sql_text_stops(void *arg);

/** Give what each of these functions takes with it: sqlite3_user_data(). */
struct sql_text_user {
	sql_text_stops *stops; /**< nonzero: end, with SQLITE_INTERRUPT */
	void *arg;
	int text_max; /**< bytes of a text */
};

/**
 * Put instr(), replace(), trim(), ltrim(), rtrim(), like() and glob() in place of SQLite's own, which compare every place of the
 * one text with all of the other, and ask nobody.  They answer the same, but that LIKE and GLOB refuse a text and a pattern that
 * are too large together, and LIKE a wildcard as its escape character.
 *
 * @param user Stays in use as long as @p handle is.
 * @return a result code of SQLite
 */
int sql_text_add(sqlite3 *handle, struct sql_text_user *user);
