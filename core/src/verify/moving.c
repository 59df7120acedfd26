/* SPDX-License-Identifier: MIT */
/*
 * A GC that moves objects (gc_heap::plan_phase(), gc.cpp of .NET 8 to 10): what of the heap is its work, and
 * what is damage?  doc/collections.md has the whole.
 *
 * The large and pinned object heaps come first: they are swept, or planned.  Then it plans generations 0 to 2,
 * one region after the other: from its begin on, it takes the mark off each object that survives, and writes the
 * nodes of plugs over dead objects (heap/plug_node.h; the walk knows those).  Nothing else of them is written.
 * In an older generation than it collects it takes room from Free blocks, in which dead objects lie.
 * So while two objects there that are next to each other carry marks, of any heap, for they wait for each other
 * before they go on, what is no object and no node in the generations that it collects is damage.
 *
 * Then it compacts, or sweeps: objects are copied over others, which end anywhere.  What is odd then need not be
 * damage, unless a thread crashed with its address in a register.
 */
#include "verify/resolve.h"

/* So far from an address that a crashed thread had may the damage be. */
#define SUSPECT_REACH 64u

/* Was what is at the gap only planned so far, or not even that? */
static bool is_planning(const struct resolver *resolver, const struct verify_gap *gap)
{
	const struct segment *segment = gap->segment;
	return segment->generation == GENERATION_NONGC ||
	       (resolver->marks.is_planning &&
		segment_generation_at(segment, gap->damage.address) <=
			(enum generation)resolver->marks.condemned);
}

/* Is the gap at an address that the thread that crashed had in a register? */
static bool is_suspect(const struct resolver *resolver, const struct verify_gap *gap)
{
	const struct verify_options *options = resolver->options;
	for (size_t i = 0; i < options->suspect_count; i++) {
		uint64_t address = options->suspects[i];
		if (address + SUSPECT_REACH >= gap->damage.address &&
		    address < gap->damage.address + SUSPECT_REACH)
			return true;
	}
	return false;
}

/* Can the GC have left the gap? */
static bool may_be_moving(struct resolver *resolver, const struct verify_gap *gap)
{
	const struct damage *damage = &gap->damage;
	const struct segment *segment = gap->segment;
	if (is_suspect(resolver, gap) ||
	    (is_planning(resolver, gap) && gap_covers_objects(resolver, gap)))
		return false;
	/* A context without owner, a large object in the making, memory that was given back. */
	if (gap->is_zero || damage->kind == DAMAGE_ZERO_RUN)
		return true;
	/* Where the region ends is moved before the objects are. */
	if (damage->kind == DAMAGE_BAD_SIZE && gap->end == segment->end &&
	    damage->size <= segment->committed - damage->address)
		return true;
	return !is_planning(resolver, gap);
}

enum hd_status resolve_moving(struct resolver *resolver, struct hd_error *err)
{
	/* Without a crash there is no reason to doubt the heap, and a guess about the phase may be wrong. */
	if (!resolver->options->crashed)
		return HD_OK;
	TRY(finding_list_index(&resolver->found, err));
	for (size_t i = 0; i < resolver->notes.gap_count; i++) {
		struct verify_gap *gap = &resolver->notes.gaps[i];
		if (gap->finding == NO_FINDING ||
		    resolver->found.rows[gap->finding].verdict != VERDICT_GC_IN_PROGRESS ||
		    may_be_moving(resolver, gap))
			continue;
		resolver->found.rows[gap->finding].verdict = VERDICT_DAMAGE;
		if (gap_covers_objects(resolver, gap))
			TRY(gap_blame_last(resolver, gap, err));
	}
	return HD_OK;
}
