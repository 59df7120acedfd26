/* SPDX-License-Identifier: MIT */
/* Collections as their own fields tell: how many, room for how many, and whether anything was ever removed. */
#pragma once

#include "findings/facts.h"

struct collection_layout;
struct type;

/** Remembers what collection each type is. */
struct counted_type {
	const struct collection_layout *layout; /**< NULL: it is not one that is known */
	const struct type *holder; /**< the class that has the fields; NULL: a dump file */
	bool is_asked;
};

/** A collection. */
struct counted {
	uint32_t node;
	const struct collection_layout *layout;
	bool has_count, has_version, has_room;
	bool took_out; /**< its own state says that elements were taken out; false: nothing says so */
	bool took_nothing; /**< the same: that none ever was */
	uint64_t count, version;
	uint64_t room;  /**< elements of its array */
	uint32_t array; /**< node of that one, or HD_NONE */
	uint32_t slot;  /**< bytes of an element */
};

/** Is a type a collection that is known?  Asks one of its objects, once; in a dump file its name. */
const struct counted_type *counted_type_of(struct report_facts *facts, uint32_t node);

/** Read a collection; false: it is not one.  Constant time; a count that contradicts the array is left out, and a dump file has none. */
bool counted_read(struct report_facts *facts, uint32_t node, struct counted *ret);

/** Does the collection, or what wraps it, have a limit that was set?  *@p ret gets it. */
bool counted_limit(struct report_facts *facts, uint32_t node, uint64_t *ret);

/** Has it given back elements?  Only if its version is known. */
bool counted_turns(const struct counted *counted);
/** Was every element put in and none taken out? */
bool counted_only_grew(const struct counted *counted);
