/* SPDX-License-Identifier: MIT */
/*
 * While a GC moves objects (gc_heap::plan_phase(), gc.cpp of .NET 8 to 10): which unusual bytes
 * come from the GC, and which are damage? doc/collections.md has the details.
 *
 * The large and pinned object heaps come first: they are swept, or planned.  Then it plans
 * generations 0 to 2, one region after the other: beginning at the region's start, it clears the
 * mark of each surviving object, and writes the nodes of plugs over dead objects (heap/plug_node.h;
 * the walk knows these).  It writes nothing else in them.  In generations older than those that it
 * collects, it takes room from Free blocks, in which dead objects lie.  So while two neighbouring
 * objects have marks, in any heap (because the heaps wait for each other before they go on),
 * anything in the collected generations that is neither an object nor a node is damage.
 *
 * Then it compacts or sweeps: objects are copied over others, which then end anywhere.  Wrong
 * contents then need not be damage, unless a thread crashed with their address in a register.
 */
#include "verify/resolve.h"

/* How far from an address in a crashed thread's registers the damage may be. */
#define SUSPECT_REACH 64u

/* Was the part with the gap only planned so far, or not even that? */
static bool is_planning(const struct resolver *resolver, const struct verify_gap *gap)
{
	const struct segment *segment = gap->segment;
	return segment->generation == GENERATION_NONGC ||
	       (resolver->marks.is_planning &&
		segment_generation_at(segment, gap->damage.address) <=
			(enum generation)resolver->marks.condemned);
}

/* Is the gap at an address that the crashed thread had in a register? */
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
	/* A context without owner, a large object that is being allocated, or freed memory. */
	if (gap->is_zero || damage->kind == DAMAGE_ZERO_RUN)
		return true;
	/* The end of the region is moved before the objects are. */
	if (damage->kind == DAMAGE_BAD_SIZE && gap->end == segment->end &&
	    damage->size <= segment->committed - damage->address)
		return true;
	return !is_planning(resolver, gap);
}

enum hd_status resolve_moving(struct resolver *resolver, struct hd_error *err)
{
	/*
	 * Without a crash there is no reason to suspect the heap, and a guess about the phase may
	 * be wrong.
	 */
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
