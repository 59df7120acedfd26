/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/finding_kind.h"

/** How many rows of one kind are listed; further ones are counted in one more row. */
#define FINDINGS_LISTED 64u

/**
 * Something that `info` says about a target: what is missing or wrong, the consequence, and what to
 * do.
 */
struct finding {
	enum finding_kind kind;
	char *detail;   /**< one line: what it is, and the consequence */
	char *advice;   /**< one line: what the user can do; or NULL */
	uint64_t count; /**< number of the things that detail is about, 0: not counted */
	bool is_told;   /**< a warning has told it */
	bool is_rest;   /**< the last row of its kind: count is the number of those that are not
			 * listed */
};

/**
 * A growing list of findings; zero-initialised is empty.  If memory is exhausted, an addition is
 * lost.
 */
struct findings {
	struct finding *rows;
	size_t count, capacity;
};

/**
 * Add one; @p advice NULL: use the advice in the table of kinds, if there is any.  An equal finding
 * (kind and detail) is not added again.  After FINDINGS_LISTED of one kind, more are only counted,
 * so that the list stays short for any file.
 */
void findings_add(struct findings *findings, enum finding_kind kind, const char *advice,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
/** The same, about @p count things: bytes, references, stacks. */
void findings_add_counted(struct findings *findings, enum finding_kind kind, uint64_t count,
			  const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/** Remove the findings with index @p count and higher. */
void findings_cut(struct findings *findings, size_t count);
bool findings_has(const struct findings *findings, enum finding_kind kind);
void findings_deinit(struct findings *findings);
