/* SPDX-License-Identifier: MIT */
/* The passes over the heap: streaming, one worker per segment at a time. */
#include "verify/scan.h"

#include "gc/heap.h"
#include "gc/references.h"

#define MARKS_KEPT 4u
#define STEP       4096u

enum hd_status scans_init(struct scans *scans, struct heap *heap,
			  const struct verify_options *options, struct address_map *map,
			  struct job *job, struct hd_error *err)
{
	scans->count = job_workers(job);
	scans->rows = mem_calloc(scans->count, sizeof(*scans->rows));
	TRY_MEMORY(scans->rows, err);
	for (unsigned int i = 0; i < scans->count; i++) {
		scans->rows[i] =
			(struct verify_scan){ .heap = heap,
					      .options = options,
					      .map = map,
					      .job = job,
					      .worker = i,
					      .any_sync = runtime_has_sync_table(heap->runtime),
					      .knows_threads = verify_knows_threads(heap->runtime),
					      .window = { .memory = heap->memory } };
	}
	return HD_OK;
}

void scans_deinit(struct scans *scans)
{
	for (unsigned int i = 0; scans->rows && i < scans->count; i++) {
		struct verify_scan *scan = &scans->rows[i];
		pages_free(scan->notes.gaps, scan->notes.gaps_capacity, sizeof(*scan->notes.gaps));
		pages_free(scan->notes.references, scan->notes.references_capacity,
			   sizeof(*scan->notes.references));
		pages_free(scan->notes.objects, scan->notes.objects_capacity,
			   sizeof(*scan->notes.objects));
		pages_free(scan->notes.referrers, scan->notes.referrers_capacity,
			   sizeof(*scan->notes.referrers));
		window_deinit(&scan->window);
	}
	mem_free(scans->rows);
	*scans = (struct scans){ 0 };
}

/* Call @p visit with every segment of the options, or of the heap. */
static enum hd_status scan_walk(struct scans *scans, bool all, const char *what,
				segment_visit visit, struct hd_error *err)
{
	struct heap *heap = scans->rows[0].heap;
	const struct verify_options *options = scans->rows[0].options;
	bool chosen = !all && options->segments;
	size_t count = chosen ? options->segment_count : heap->segment_count;
	HD_FREE void **args = mem_calloc(scans->count, sizeof(*args));
	HD_FREE const struct segment **segments =
		mem_calloc(count + 1, sizeof(const struct segment *));
	if (!(args && segments))
		return fail_nomem(err);
	for (unsigned int i = 0; i < scans->count; i++)
		args[i] = &scans->rows[i];
	for (size_t i = 0; i < count; i++)
		segments[i] = chosen ? options->segments[i] : &heap->segments[i];
	return heap_walk(heap,
			 &(const struct heap_tour){ .segments = segments,
						    .count = count,
						    .what = what,
						    .visit = visit,
						    .args = args },
			 scans->rows[0].job, err);
}

static bool stopped(const struct verify_scan *scan, uint64_t number)
{
	return number % STEP == 0 && !job_step(scan->job, scan->worker, 0);
}

/* A GC marks and plans what it collects: this generation, and the younger ones. */
static void note_condemned(struct verify_scan *scan, const struct segment *segment,
			   uint64_t address)
{
	uint8_t generation = (uint8_t)segment_generation_at(segment, address);
	if (generation <= GENERATION_2 && generation > scan->marks.condemned)
		scan->marks.condemned = generation;
}

static enum hd_status note_scan_gap(struct verify_scan *scan, const struct walker *walker,
				    struct hd_error *err)
{
	if (walker->damage.kind == DAMAGE_PLUG_NODE) {
		note_condemned(scan, walker->segment, walker->damage.address);
		scan->marks.nodes++;
		return HD_OK;
	}
	if (scan->notes.gaps_count >= FINDINGS_KEPT) {
		scan->notes.not_kept++;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(&scan->notes, gaps), err);
	scan->notes.gaps[scan->notes.gaps_count++] =
		(struct verify_gap){ .segment = walker->segment,
				     .damage = walker->damage,
				     .end = walker->damage.address + walker->damage.skipped };
	return HD_OK;
}

/* The last object that a walk met. */
struct previous {
	uint64_t end;
	bool is_marked;
};

/*
 * Are there two marked objects next to each other, which the GC has not planned yet?  After
 * planning, only the first object of a plug may be marked, and there is room before it
 * (set_plug_padded() of gc.cpp).
 */
static void note_marks(struct verify_scan *scan, const struct walker *walker,
		       struct previous *previous)
{
	const struct object *object = &walker->object;
	bool is_marked = (object->mark_bits & OBJECT_MARK_BIT) && !object->type->is_free &&
			 !verify_is_large_or_pinned(walker->segment);
	scan->marks.is_planning |=
		is_marked && previous->is_marked && previous->end == object->address;
	if (is_marked)
		note_condemned(scan, walker->segment, object->address);
	*previous = (struct previous){ object->address + object->step, is_marked };
}

static enum hd_status visit_starts(void *arg, struct walker *walker, struct hd_error *err)
{
	struct verify_scan *scan = arg;
	struct previous previous = { 0 };
	uint64_t number = 0;
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (result == WALK_DAMAGE) {
			TRY(note_scan_gap(scan, walker, err));
		} else {
			if (!walker->object.type->is_free) {
				address_map_add(scan->map, walker->segment, walker->object.address);
			}
			note_marks(scan, walker, &previous);
		}
		if (stopped(scan, ++number))
			return fail_cancelled(err);
	}
	return HD_OK;
}

enum hd_status scan_starts(struct scans *scans, struct hd_error *err)
{
	return scan_walk(scans, true, "Finding objects", visit_starts, err);
}

static enum hd_status note_object(struct verify_scan *scan, const struct odd_object *odd,
				  struct hd_error *err)
{
	if (scan->notes.objects_count >= FINDINGS_KEPT) {
		scan->notes.not_kept++;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(&scan->notes, objects), err);
	scan->notes.objects[scan->notes.objects_count++] = *odd;
	return HD_OK;
}

static enum hd_status note_reference(struct verify_scan *scan, const struct object *object,
				     const struct reference *reference, struct hd_error *err)
{
	if (scan->notes.references_count >= ODD_KEPT) {
		scan->notes.not_kept++;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(&scan->notes, references), err);
	scan->notes.references[scan->notes.references_count++] =
		(struct odd_reference){ object->address, reference->slot, reference->value, 0 };
	return HD_OK;
}

bool scan_header(const struct verify_scan *scan, uint64_t address, struct odd_object *ret)
{
	struct sync_info info;
	if (!runtime_sync_info(scan->heap->runtime, address, &info))
		return false;
	*ret = (struct odd_object){ .object = address, .word = info.word };
	if (info.has_sync_block) {
		ret->kind = info.index ? ODD_SYNC_MISMATCH : ODD_SYNC_ZERO;
		return scan->any_sync && (!info.index || info.owner != address);
	}
	if (info.has_hash || !scan->knows_threads)
		return false;
	ret->kind = ODD_THIN_LOCK;
	if (info.word & HEADER_UNUSED_BITS)
		return true;
	if (!info.has_thin_lock)
		return (info.word & HEADER_LOCK_BITS) != 0;
	return !info.lock_thread || !runtime_thread_by_id(scan->heap->runtime, info.lock_thread);
}

enum hd_status scan_object(struct verify_scan *scan, const struct object *object,
			   struct hd_error *err)
{
	const uint8_t *header = window_at(&scan->window, object->address - 8, 8, NULL);
	struct odd_object odd;
	if (header && load_u32(header + 4) & HEADER_LOCK_BITS &&
	    scan_header(scan, object->address, &odd))
		TRY(note_object(scan, &odd, err));
	if (object->mark_bits && scan->marks.marked++ < MARKS_KEPT) {
		odd = (struct odd_object){ ODD_MARK, object->address, object->mark_bits };
		TRY(note_object(scan, &odd, err));
	}
	if (!object->type->has_pointers)
		return HD_OK;
	struct references references;
	struct reference reference;
	references_begin(&references, &scan->window, object);
	while (references_next(&references, &reference)) {
		if (reference.slot && !address_map_has(scan->map, &scan->cache, reference.value))
			TRY(note_reference(scan, object, &reference, err));
	}
	if (references.missing) {
		odd = (struct odd_object){ ODD_MISSING, object->address, 0 };
		TRY(note_object(scan, &odd, err));
	}
	return HD_OK;
}

static bool is_chosen_address(const struct verify_options *options, uint64_t address)
{
	return (!options->begin && !options->end) ||
	       (address >= options->begin && address < options->end);
}

static enum hd_status visit_objects(void *arg, struct walker *walker, struct hd_error *err)
{
	struct verify_scan *scan = arg;
	uint64_t number = 0;
	bool moving = scan->heap->gc_in_progress;
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (stopped(scan, ++number))
			return fail_cancelled(err);
		if (result != WALK_OBJECT ||
		    !is_chosen_address(scan->options, walker->object.address))
			continue;
		scan->verified++;
		if (!moving && !walker->object.type->is_free)
			TRY(scan_object(scan, &walker->object, err));
	}
	return HD_OK;
}

enum hd_status scan_objects(struct scans *scans, struct hd_error *err)
{
	return scan_walk(scans, false, "Verifying heap", visit_objects, err);
}

static enum hd_status visit_referrers(void *arg, struct walker *walker, struct hd_error *err)
{
	struct verify_scan *scan = arg;
	uint64_t number = 0;
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (stopped(scan, ++number))
			return fail_cancelled(err);
		if (result != WALK_OBJECT || !walker->object.type->has_pointers)
			continue;
		struct references references;
		struct reference reference;
		references_begin(&references, &scan->window, &walker->object);
		while (references_next(&references, &reference)) {
			if (!address_map_has(scan->map, &scan->cache, reference.value) ||
			    scan->notes.referrers_count >= ODD_KEPT)
				continue;
			TRY_MEMORY(PAGES_RESERVE(&scan->notes, referrers), err);
			scan->notes.referrers[scan->notes.referrers_count++] =
				(struct referrer){ walker->object.address, reference.value };
		}
	}
	return HD_OK;
}

enum hd_status scan_referrers(struct scans *scans, struct hd_error *err)
{
	return scan_walk(scans, true, "Finding referrers", visit_referrers, err);
}

static void note_zones(struct verify_scan *scan, uint64_t object, uint64_t value)
{
	for (size_t i = 0; i < scan->zones.count; i++) {
		struct zone *zone = &scan->zones.rows[i];
		if (value >= zone->begin && value < zone->first &&
		    (object < zone->begin || object >= zone->end))
			zone->first = value;
	}
}

static enum hd_status visit_zones(void *arg, struct walker *walker, struct hd_error *err)
{
	struct verify_scan *scan = arg;
	uint64_t number = 0;
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (stopped(scan, ++number))
			return fail_cancelled(err);
		if (result != WALK_OBJECT || !walker->object.type->has_pointers)
			continue;
		struct references references;
		struct reference reference;
		references_begin(&references, &scan->window, &walker->object);
		while (references_next(&references, &reference))
			note_zones(scan, walker->object.address, reference.value);
	}
	return HD_OK;
}

enum hd_status scan_zones(struct scans *scans, struct hd_error *err)
{
	return scan_walk(scans, true, "Finding dead objects", visit_zones, err);
}
