/* SPDX-License-Identifier: MIT */
/*
 * Joins piles of one name: the levels of a tree, the trees of one field.  Nothing of it counts
 * twice.
 */
#include "findings/accumulation.h"
#include "util/bitmap.h"

#define LEVELS_MAX 1000000u
#define NO_PILE    SIZE_MAX

/* The pile of the same group that has all that @p index has; of two with the same, the first one. */
static size_t pile_around(const struct report_facts *facts, const uint64_t *wholes,
			  const struct grouped_pile *rows, size_t count, size_t index)
{
	const struct pile *pile = rows[index].pile;
	uint32_t at = pile->whole != HD_NONE ? pile->whole : pile->at;
	for (uint32_t i = 0; i < LEVELS_MAX && at != HD_NONE; i++) {
		bool is_whole = bitmap_has(wholes, at);
		for (size_t other = 0; is_whole && other < count; other++) {
			bool is_around = at != pile->whole || other < index;
			if (is_around && other != index && rows[other].pile->whole == at &&
			    rows[other].group == rows[index].group)
				return other;
		}
		at = facts_idom(facts, at);
	}
	return NO_PILE;
}

enum hd_status piles_find_parts(const struct report_facts *facts, struct grouped_pile *rows,
				size_t count, struct hd_error *err)
{
	uint64_t nodes = facts->graph->node_count, *wholes = bitmap_alloc(nodes);
	TRY_MEMORY(wholes, err);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].pile->whole != HD_NONE)
			(void)bitmap_add(wholes, rows[i].pile->whole);
	}
	for (size_t i = 0; i < count; i++) {
		struct grouped_pile *row = &rows[i];
		size_t around = pile_around(facts, wholes, rows, count, i);
		row->is_part = around != NO_PILE;
		/* A chain, and what hangs on it, may have members in common. */
		bool has_chain =
			row->pile->is_chain || (row->is_part && rows[around].pile->is_chain);
		row->members = row->is_part && has_chain ? 0 : row->pile->count;
	}
	bitmap_free(wholes, nodes);
	return HD_OK;
}
