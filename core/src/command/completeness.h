/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/** Does the graph have all roots and references, as far as was found out until now? */
bool call_is_complete(const struct call *call);

/**
 * One line of text: what the graph lacks, and what follows, @p consequence; nothing where it lacks
 * nothing, and in JSON.
 */
void completeness_write(struct call *call, const char *consequence);

/** The consequence of losses for objects that are listed as dead. */
#define DEAD_PERHAPS "what has no root here may still be alive"
/** The consequence of losses for retained sizes. */
#define RETAINED_ROUGHLY "retained sizes may be too high or too low"

/** The members "complete" and "findings" (kinds) of the document. */
void completeness_json(struct call *call);

/**
 * The same where an answer calls objects dead: a file that a runtime sent may have no roots for frozen
 * objects, which live as long as the process.
 */
bool call_knows_dead(const struct call *call);
void dead_completeness_write(struct call *call, const char *consequence);
void dead_completeness_json(struct call *call);

/** Is a file open that has no roots for frozen objects, and does not tell which ones these are? */
bool call_lacks_frozen(const struct call *call);

/**
 * Are roots of one kind that lead to one object one root in the file that is open, as in a .gcdump?
 * Then counts of roots are counts of objects.
 */
bool call_merges_roots(const struct call *call);
/** One line of text that says so, where it is so; nothing in JSON. */
void merged_roots_write(struct call *call, const char *indent);

/** The same where no root matters, but only what objects refer to. */
void links_completeness_write(struct call *call, const char *consequence);
void links_completeness_json(struct call *call);
