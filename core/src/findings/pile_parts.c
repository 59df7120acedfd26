/* SPDX-License-Identifier: MIT */
/*
 * Counts a collection in all of its parts: ConcurrentQueue has its elements in segments that
 * dominate each other, and the nodes of a bucket do so too.  Each part that is large enough was
 * found as a pile.  Joins piles of one name: the levels of a tree, the trees of one field.  Nothing of it counts twice.
 */
#include "findings/accumulation.h"
#include "findings/typed.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

#define LEVELS 256u
/* So many objects are asked in all whether they are in a collection. */
#define ASKED_MAX  ((uint64_t)100 << 20)
#define LEVELS_MAX 1000000u
#define NO_PILE    SIZE_MAX

/* Does a member of another pile retain this one, as the levels of a tree do?  Yes if that is not known. */
static bool is_level(const struct report_facts *facts, const struct pile *pile)
{
	uint32_t at = pile->at;
	for (unsigned int i = 0; at != HD_NONE && i < LEVELS; i++) {
		if (at < facts->graph->object_count && facts->graph->node_types[at] == pile->type)
			return true;
		at = facts_idom(facts, at);
	}
	return at != HD_NONE;
}

/* The collection whose members some piles are. */
struct whole {
	uint32_t node;       /* HD_NONE: there is none, or several */
	bool is_counted;     /* it dominates its members: what it has can be counted */
	uint32_t part_count; /* piles that are its parts */
};

static struct whole whole_of(struct report_facts *facts, const struct pile *pile)
{
	struct whole whole = { .node = HD_NONE, .part_count = 1 };
	struct owners owners;
	if (pile->is_chain || pile->at == HD_NONE || !pile->sample_count)
		return whole;
	owners_find(facts, pile->at, pile->sample, pile->sample_count, &owners);
	if (owners.count != 1 || (owners.is_guess && is_level(facts, pile)))
		return whole;
	whole.node = owners.rows[0].node;
	whole.is_counted = !owners.is_guess;
	return whole;
}

/* Both have their samples from all of their parts: every other one of each stays. */
static void join_samples(struct pile *into, const struct pile *part)
{
	size_t kept = 0;
	for (size_t i = 0; i < into->sample_count; i += 2)
		into->sample[kept++] = into->sample[i];
	for (size_t i = 0; i < part->sample_count && kept < PILE_SAMPLE; i += 2)
		into->sample[kept++] = part->sample[i];
	into->sample_count = kept;
}

static void join_pile(struct pile *into, const struct pile *part)
{
	into->count += part->count;
	into->bytes += part->bytes;
	into->objects += part->objects;
	into->is_limited |= part->is_limited;
	for (unsigned int i = 0; i < FACT_GENERATIONS; i++)
		into->ages.of[i] += part->ages.of[i];
	into->ages.all += part->ages.all;
	into->ages.parts |= part->ages.parts;
	join_samples(into, part);
}

/* Make one of the piles that are parts of one collection; returns how many piles are left. */
static size_t join_parts(struct report_facts *facts, struct piles *piles, struct whole *wholes)
{
	size_t kept = 0;
	for (size_t i = 0; i < piles->rows_count; i++) {
		const struct pile *pile = &piles->rows[i];
		struct whole whole = whole_of(facts, pile);
		size_t same = whole.node == HD_NONE ? kept : 0;
		while (same < kept &&
		       (wholes[same].node != whole.node || piles->rows[same].type != pile->type))
			same++;
		if (same < kept) {
			join_pile(&piles->rows[same], pile);
			wholes[same].part_count++;
			continue;
		}
		if (kept != i)
			piles->rows[kept] = *pile;
		wholes[kept++] = whole;
	}
	return kept;
}

/*
 * Count all members that the collection has, also those in parts that are too small for a pile, or that are large
 * themselves.  With them belongs to it what its parts share, so its bytes are what it retains.
 */
static enum hd_status count_whole(struct report_facts *facts, const struct whole *whole,
				  struct pile *pile, struct hd_error *err)
{
	struct typed_nodes all = typed_nodes(facts, pile->type);
	struct member_ages ages = { .all = 0 };
	HD_CLEANUP(owners_inside) struct owners_inside inside = { 0 };
	TRY(owners_inside_init(&inside, facts, whole->node, err));
	for (uint32_t i = 0; i < all.count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (owners_inside_has(&inside, facts_idom(facts, all.nodes[i])))
			ages_add(&ages, facts, all.nodes[i]);
	}
	if (whole->part_count == 1 && ages.all <= pile->count)
		return HD_OK;
	pile->count = ages.all;
	pile->ages = ages;
	pile->bytes = facts_retained(facts, whole->node);
	pile->objects = facts->dominators->retained_count[whole->node];
	pile->whole = whole->node;
	return HD_OK;
}

enum hd_status piles_join(struct report_facts *facts, struct piles *piles, struct hd_error *err)
{
	HD_FREE struct whole *wholes = mem_calloc(piles->rows_count + 1, sizeof(*wholes));
	uint64_t asked = 0;
	TRY_MEMORY(wholes, err);
	piles->rows_count = join_parts(facts, piles, wholes);
	for (size_t i = 0; i < piles->rows_count; i++) {
		struct pile *pile = &piles->rows[i];
		const struct whole *whole = &wholes[i];
		uint32_t count = facts_live_count(facts, pile->type);
		if (!whole->is_counted || (whole->part_count == 1 && count == pile->count))
			continue;
		if (count > ASKED_MAX - asked) {
			pile->is_limited = true;
			continue;
		}
		asked += count;
		TRY(count_whole(facts, whole, pile, err));
	}
	/* Some piles have become larger by counting. */
	piles_sort(piles);
	return HD_OK;
}

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
