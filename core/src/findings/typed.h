/* SPDX-License-Identifier: MIT */
/* Live objects by type, for rules about certain classes. */
#pragma once

#include "findings/growth.h"

struct type;

/** The live objects of a type. */
struct typed_nodes {
	const uint32_t *nodes;
	uint32_t count;
};

static inline struct typed_nodes typed_nodes(const struct report_facts *facts, uint32_t type)
{
	return (struct typed_nodes){ facts->type_nodes + facts->type_begin[type],
				     facts_live_count(facts, type) };
}

/** The next type after @p type (HD_NONE: the first) whose class is @p name, and that has live objects; HD_NONE: none. */
uint32_t typed_next(const struct report_facts *facts, uint32_t type, const char *name);

/** Some of the nodes, from all parts; returns how many. */
size_t typed_sample(const struct typed_nodes *from, uint32_t *ret, size_t limit);

/** The ages of nodes. */
struct member_ages typed_ages(const struct report_facts *facts, const uint32_t *nodes,
			      size_t count);

/** The runtime's type of a type; NULL: it is not known, or this is a dump file. */
const struct type *typed_class(const struct report_facts *facts, uint32_t type);

/** Does the program's code have the fields of a type: of a class, or of an async method's box?  Not of an array. */
bool typed_is_own(const struct report_facts *facts, const struct graph_type *type);

/** Claim a node, and what dominates it directly as long as that is one of @p classes (NULL ends) or in one, @p levels at most; returns the last. */
uint32_t typed_claim_up(struct report_facts *facts, uint32_t node, const char *const *classes,
			unsigned int levels);

/** Counts by a number: a few keys, in the order in which they were met. */
#define TALLY_MAX 64u
struct tally {
	uint64_t keys[TALLY_MAX], counts[TALLY_MAX], bytes[TALLY_MAX];
	uint32_t first[TALLY_MAX]; /**< a node with that key */
	size_t count;
	bool is_full; /**< there were more keys */
};
/** Count one; returns the position of its key, or TALLY_MAX: there is no room for it. */
size_t tally_add(struct tally *tally, uint64_t key, uint32_t node, uint64_t bytes);
/** The position of the key with the largest count; tally->count: none. */
size_t tally_top(const struct tally *tally);
