/* SPDX-License-Identifier: MIT */
/* Which methods of the program have called the one that waits? */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;
struct waits;

/** Most callers that are named. */
#define WAIT_CALLERS_MAX 2u

/** The nearest callers first. */
struct wait_callers {
	uint64_t methods
		[WAIT_CALLERS_MAX]; /**< of a thread MethodDescs, of a call rows of waits->async */
	size_t count;
	bool is_call; /**< of an async method, and not of a thread */
};

/**
 * Find the methods of the program that have called the method in which @p node waits: on the stack of a thread outside of
 * wait_method(), of an async method those that await it.  One that calls itself counts once.
 *
 * Cost: constant, as farther frames and methods are not looked at.
 */
void wait_callers_find(const struct waits *waits, uint32_t node, struct wait_callers *ret);

/** Keep of @p callers those that @p other begins with, too. */
void wait_callers_keep(const struct waits *waits, struct wait_callers *callers,
		       const struct wait_callers *other);

/** Append "Shop.Teller.Serve <- Shop.Program.Main"; nothing: there are none. */
void wait_callers_append(struct text *text, const struct waits *waits,
			 const struct wait_callers *callers);
