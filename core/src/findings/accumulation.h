/* SPDX-License-Identifier: MIT */
/* Piles: objects of one type that one object dominates, and that retain much together. */
#pragma once

#include "findings/growth.h"
#include "findings/owners.h"

#define PILE_SAMPLE 100u

struct pile {
	uint32_t at; /**< what dominates the members; of a chain its first; HD_NONE: nothing does */
	uint32_t type; /**< of the members */
	uint32_t
		whole; /**< bytes are all that this object retains, which may hold other piles; HD_NONE: what the members do */
	uint64_t count, bytes; /**< members, and what they retain together */
	uint64_t objects;      /**< all objects that they retain */
	struct member_ages ages;
	uint32_t sample[PILE_SAMPLE]; /**< some of the members, from all parts */
	size_t sample_count;
	bool is_chain;   /**< each dominates the next */
	bool is_limited; /**< too many to look at all */
	/**
	 * So many objects of owner_type have the members in collections of one field (field_piles.h), of which the
	 * largest is @c at, and sum adds up what all of them say; 0: it is another pile.
	 */
	uint64_t owners;
	uint32_t owner_type;
	struct counted sum;
};

struct piles {
	struct pile *rows; /**< most bytes first */
	size_t rows_count, rows_capacity;
	bool is_limited; /**< there are more piles than are looked at */
};

/**
 * Find piles of @p limit bytes or more.
 *
 * @param[out] ret To be given to piles_deinit(), also on failure.
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 * Cost: some passes over what is alive, and over the children of objects that retain @p limit.
 */
HD_NODISCARD enum hd_status piles_find(const struct report_facts *facts, uint64_t limit,
				       struct piles *ret, struct hd_error *err);
/**
 * Make one pile of those that are parts of one collection, and have members of one type; then the largest come first.
 *
 * @retval HD_OK  @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status piles_join(struct report_facts *facts, struct piles *piles,
				       struct hd_error *err);
/** A pile, and the others that are told together with it. */
struct grouped_pile {
	const struct pile *pile;
	size_t group;     /**< the same for all of them */
	bool is_part;     /**< another one of the group has all of its bytes */
	uint64_t members; /**< how many it adds to those of its group */
};

/**
 * Find out which piles are parts of others of their group.
 *
 * @param rows Gets is_part and members.
 * @retval HD_OK  @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status piles_find_parts(const struct report_facts *facts,
					     struct grouped_pile *rows, size_t count,
					     struct hd_error *err);
/** Note a member; every @p stride of them is kept as a sample. */
void pile_add(const struct report_facts *facts, struct pile *pile, uint32_t node, uint64_t stride);
/** Most bytes first. */
void piles_sort(struct piles *piles);
void piles_deinit(struct piles *piles);
