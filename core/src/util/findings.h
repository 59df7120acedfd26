/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_FINDINGS_H
#define HEAPDUMP_SRC_UTIL_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/finding_kind.h"

/** Rows of one kind that are listed; further ones are counted in one more row. */
#define FINDINGS_LISTED 64u

/** Something that `info` says about a target: what is missing or odd, what it costs, what to do. */
struct finding {
	enum finding_kind kind;
	char *detail;   /**< one line: what, and what that costs */
	char *advice;   /**< one line: what the user can do; or NULL */
	uint64_t count; /**< of what detail is about, 0: not counted */
	bool is_rest;   /**< the last row of its kind: count further ones, which are not listed */
};

/** A growing list of findings; zero-initialised is empty.  An addition that finds no memory is lost. */
struct findings {
	struct finding *rows;
	size_t count, capacity;
};

/**
 * Add one; @p advice NULL: what the table of kinds advises, which may be nothing.  An equal finding
 * (kind and detail) is not added again.  From FINDINGS_LISTED of its kind on it is only counted, so
 * that a list is short whatever a file holds.
 */
void findings_add(struct findings *findings, enum finding_kind kind, const char *advice,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
/** The same, about @p count things: bytes, references, stacks. */
void findings_add_counted(struct findings *findings, enum finding_kind kind, uint64_t count,
			  const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/** Take away those from index @p count on. */
void findings_cut(struct findings *findings, size_t count);
bool findings_has(const struct findings *findings, enum finding_kind kind);
void findings_deinit(struct findings *findings);

#endif
