/* SPDX-License-Identifier: MIT */
/* Finds where dead objects are taken for live ones: these prove nothing. */
#include "verify/resolve.h"

/*
 * A thread that takes a new context, or a large object, clears its memory from the start
 * (gc_heap::adjust_limit_clr(), gc.cpp): after the part that is already zero there are old objects
 * from before earlier collections.
 */
static bool is_being_cleared(const struct resolver *resolver, const struct verify_gap *gap)
{
	if (!resolver->may_allocate)
		return false;
	return verify_is_large_or_pinned(gap->segment)
		       ? gap->damage.word == 0
		       : gap->damage.kind == DAMAGE_ZERO_RUN &&
				 verify_is_young(gap->segment, gap->damage.address);
}

static bool is_stale(const struct resolver *resolver, const struct verify_gap *gap)
{
	const struct object *last = &gap->damage.last_good;
	if (gap->finding == NO_FINDING)
		return false;
	if (is_being_cleared(resolver, gap))
		return true;
	if (gap->damage.kind == DAMAGE_BAD_SIZE) {
		/* Arrays of numbers may be made without being cleared. */
		return gap->damage.type && gap->damage.type->component_size &&
		       !gap->damage.type->has_pointers;
	}
	return gap->damage.kind == DAMAGE_BAD_METHOD_TABLE && last->type &&
	       last->type->component_size && !last->type->has_pointers && !last->type->is_string &&
	       last->address + last->step == gap->damage.address;
}

enum hd_status find_zones(struct resolver *resolver, struct scans *scans, struct hd_error *err)
{
	/* Other objects may refer to the block with the wrong size itself. */
	for (size_t i = 0; i < resolver->notes.gap_count && resolver->zones.count < ZONES_MAX;
	     i++) {
		const struct verify_gap *gap = &resolver->notes.gaps[i];
		const struct zone *last = resolver->zones.count
						  ? &resolver->zones.rows[resolver->zones.count - 1]
						  : NULL;
		if (is_stale(resolver, gap) && (!last || gap->damage.address >= last->end)) {
			resolver->zones.rows[resolver->zones.count++] =
				(struct zone){ gap->damage.address +
						       (gap->damage.kind == DAMAGE_BAD_SIZE),
					       gap->segment->end, gap->segment->end, i };
		}
	}
	if (!resolver->zones.count)
		return HD_OK;
	for (unsigned int i = 0; i < scans->count; i++) {
		memcpy(scans->rows[i].zones.rows, resolver->zones.rows,
		       sizeof(resolver->zones.rows));
		scans->rows[i].zones.count = resolver->zones.count;
	}
	TRY(scan_zones(scans, err));
	for (unsigned int i = 0; i < scans->count; i++) {
		for (size_t j = 0; j < resolver->zones.count; j++) {
			if (scans->rows[i].zones.rows[j].first < resolver->zones.rows[j].first)
				resolver->zones.rows[j].first = scans->rows[i].zones.rows[j].first;
		}
	}
	return HD_OK;
}

uint64_t zone_end(const struct resolver *resolver, const struct verify_gap *gap)
{
	for (size_t i = 0; i < resolver->zones.count; i++) {
		const struct zone *zone = &resolver->zones.rows[i];
		if (&resolver->notes.gaps[zone->gap] == gap && zone->first > gap->end)
			return zone->first;
	}
	return gap->end;
}

uint32_t zone_finding(const struct resolver *resolver, uint64_t address)
{
	for (size_t i = 0; i < resolver->zones.count; i++) {
		const struct zone *zone = &resolver->zones.rows[i];
		if (address > zone->begin && address < zone->first)
			return resolver->notes.gaps[zone->gap].finding;
	}
	return NO_FINDING;
}

enum hd_status resolve_zones(struct resolver *resolver, struct hd_error *err)
{
	if (!resolver->zones.count)
		return HD_OK;
	size_t kept = 0;
	for (size_t i = 0; i < resolver->notes.reference_count; i++) {
		const struct odd_reference *reference = &resolver->notes.references[i];
		uint32_t finding = zone_finding(resolver, reference->object);
		if (finding == NO_FINDING) {
			resolver->notes.references[kept++] = *reference;
		} else {
			TRY(finding_list_link(&resolver->found, finding, reference->object, err));
		}
	}
	resolver->notes.reference_count = kept;
	return HD_OK;
}
