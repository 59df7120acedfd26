/* SPDX-License-Identifier: MIT */
/* The collections that members of a group are in. */
#pragma once

#include "findings/counted.h"

#define OWNERS_MAX 2u

struct owners {
	struct counted rows[OWNERS_MAX];
	size_t count;
	bool is_guess; /**< by a vote of some members */
};

/**
 * Find them.
 *
 * @param at What dominates all members; HD_NONE: nothing does.
 * @param members Some of them, @p count.
 */
void owners_find(struct report_facts *facts, uint32_t at, const uint32_t *members, size_t count,
		 struct owners *ret);

/** The collection that has @p node inside, without objects of the program in between, or is it; HD_NONE: none. */
uint32_t owners_above(struct report_facts *facts, uint32_t node);

/** Which objects are inside of one collection: remembers the answers. */
struct owners_inside {
	struct report_facts *facts;
	uint32_t owner;
	uint64_t *known, *inside; /**< bitmaps of nodes */
};

/** @retval HD_OK  @retval HD_ERR_NOMEM */
HD_NODISCARD enum hd_status owners_inside_init(struct owners_inside *ret,
					       struct report_facts *facts, uint32_t owner,
					       struct hd_error *err);
/** Is owners_above() of @p node the owner?  All questions together take at most two steps for each object, however deep. */
bool owners_inside_has(struct owners_inside *inside, uint32_t node);
void owners_inside_deinit(struct owners_inside *inside);

/** The type of what a node of a framework's collection holds, for @p type; else @p type itself. */
uint32_t owners_item_type(const struct report_facts *facts, uint32_t type, const uint32_t *members,
			  size_t count);
/** The object of that type that a member holds: itself, or what it refers to; HD_NONE: none. */
uint32_t owners_item_node(const struct report_facts *facts, uint32_t member, uint32_t item_type);

/**
 * The type of the program of which each of @p count members of a library keeps an object, over a few objects that each
 * dominates the next: subscriptions keep those that subscribed.  HD_NONE: the members are of the program themselves, or keep
 * nothing of it, or different things.
 */
uint32_t owners_kept_type(const struct report_facts *facts, const uint32_t *members, size_t count);

/** The object of the program that a closure keeps, which says more than the closure; else @p node itself. */
uint32_t owners_captured(const struct report_facts *facts, uint32_t node);

/**
 * Is the object a part of an open connection: one of the framework's sockets, streams and pipes, or kept by one, without an
 * object of the program in between?
 */
bool owners_is_connection(const struct report_facts *facts, uint32_t node);

/** How many sockets are alive. */
uint64_t owners_count_sockets(const struct report_facts *facts);
