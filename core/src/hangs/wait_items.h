/* SPDX-License-Identifier: MIT */
/* Which calls have the items of a thing, such as leases of a limiter, and whether they wait for it again. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/wait_things.h"
#include "mem/memory.h"

/** Objects that are looked at from one reference, the nearest first. */
#define ITEM_OBJECTS_MAX 64u

struct item_way {
	uint64_t address;
	unsigned int levels; /* that are left from there */
};

/** Zero-initialised, but for what is borrowed, levels, stops_at_others and the memory of the windows. */
struct wait_items {
	const struct waits *waits;
	struct wait_thing *thing;
	unsigned int
		levels; /**< so many fields may lie between what a call refers to and an item */
	/** wait_items_look() ends at the first call or thread that does not wait for the thing and has an item. */
	bool stops_at_others;
	bool is_with_others;    /**< it did so */
	struct wait_rows items; /**< node: unused */
	struct wait_rows
		held; /**< items, and the ends of the calls that have them and wait again */
	struct wait_rows seen; /**< items, and the ends of calls, or threads, that refer to them */
	struct window window, inner;
	struct item_way ways[ITEM_OBJECTS_MAX]; /* private */
};

void wait_items_deinit(struct wait_items *items);

/**
 * Take all links of that kind to the thing as its items.
 *
 * @param kind enum async_link_kind
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in links.
 */
HD_NODISCARD enum hd_status wait_items_find(struct wait_items *items, int kind,
					    struct hd_error *err);

/**
 * Set held and seen, and the thing's holder.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the references of async methods and threads; nothing without an item.
 */
HD_NODISCARD enum hd_status wait_items_look(struct wait_items *items, struct job *job,
					    struct hd_error *err);

/**
 * Take those away that no root keeps alive, unless a call that waits for the thing again has each of them, and nobody
 * else.
 *
 * @param[out] ret_is_known Has such a call each one that is left?
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the heap, where there is one that no such call has.
 */
HD_NODISCARD enum hd_status wait_items_keep(struct wait_items *items, struct job *job,
					    bool *ret_is_known, struct hd_error *err);
/** So many calls have them. */
uint64_t wait_items_holders(const struct wait_items *items);
