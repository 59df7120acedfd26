/* SPDX-License-Identifier: MIT */
#include "analysis/heap/object_pass.h"

#include <string.h>

#include "analysis/name_match.h"
#include "runtime/type.h"
#include "util/alloc.h"

static bool grow_chooser(struct type_chooser *chooser, size_t index)
{
	size_t capacity = index + 256;
	uint8_t *known = mem_realloc(chooser->known, capacity, 1);
	if (!known)
		return false;
	memset(known + chooser->capacity, 0, capacity - chooser->capacity);
	chooser->known = known;
	chooser->capacity = capacity;
	return true;
}

/* Does @p type pass? */
static bool type_chooser_has(struct type_chooser *chooser, const struct type *type)
{
	if (!chooser->part)
		return true;
	if (type->index >= chooser->capacity && !grow_chooser(chooser, type->index)) {
		chooser->failed = true;
		return false;
	}
	uint8_t *known = &chooser->known[type->index];
	if (!*known) {
		size_t size;
		const char *name = type_name(chooser->runtime, type, &size);
		*known = name_matches(name, size, chooser->part) ? 1 : 2;
	}
	return *known == 1;
}

static void type_chooser_deinit(struct type_chooser *chooser)
{
	mem_free(chooser->known);
	chooser->known = NULL;
	chooser->capacity = 0;
}

enum hd_status object_pass_open(struct object_pass *ret, struct heap *heap,
				const struct object_filter *filter, struct job *job,
				struct hd_error *err)
{
	struct object_pass pass = { .tally.filter = filter,
				    .chooser = { .runtime = heap->runtime,
						 .part = filter->type_part } };
	TRY(walker_init(&pass.walker, heap, err));
	pass.walker.job = job;
	job_begin(job, "Scanning heap", heap_range_bytes(filter->range));
	*ret = pass;
	return HD_OK;
}

/* Begin with the next segment of the range; false: there is none. */
static bool pass_next_segment(struct object_pass *pass)
{
	const struct heap_range *range = pass->tally.filter->range;
	if (pass->begun == range->count)
		return false;
	object_tally_begin(&pass->tally, &pass->walker, range->segments[pass->begun++]);
	return true;
}

enum hd_status object_pass_next(struct object_pass *pass, enum pass_result *ret,
				struct hd_error *err)
{
	struct walker *walker = &pass->walker;
	bool failed = false;
	if (!pass->begun && !pass_next_segment(pass)) {
		*ret = PASS_END;
		return HD_OK;
	}
	while (!failed) {
		enum walk_result result = walker_next(walker);
		if (walker->cancelled)
			return fail_cancelled(err);
		if (result == WALK_DAMAGE) {
			object_tally_meet_gap(&pass->tally, walker);
			*ret = PASS_GAP;
			return HD_OK;
		}
		if (result == WALK_END) {
			if (pass_next_segment(pass))
				continue;
			*ret = PASS_END;
			return pass->chooser.failed ? fail_nomem(err) : HD_OK;
		}
		if (!object_tally_meet(&pass->tally, walker, &failed) || failed ||
		    !type_chooser_has(&pass->chooser, walker->object.type))
			continue;
		TRY_MEMORY(type_counts_add(&pass->tally.counts, &walker->object), err);
		*ret = PASS_OBJECT;
		return HD_OK;
	}
	return fail_nomem(err);
}

bool object_pass_lacks_type(struct object_pass *pass)
{
	const struct damage *damage = &pass->walker.damage;
	struct heap *heap = pass->walker.heap;
	/* The MethodTable word is available; is the rest missing? */
	if (damage->kind == DAMAGE_MISSING_BYTES)
		return damage->word && !type_find(heap->runtime, damage->word & ~(uint64_t)7);
	if (!damage_is_untyped(heap, damage))
		return false;
	if (!pass->tally.gaps.missing && !pass->is_asked) {
		pass->lacks_bytes = heap_lacks_bytes(heap);
		pass->is_asked = true;
	}
	return pass->tally.gaps.missing || pass->lacks_bytes;
}

void object_pass_deinit(struct object_pass *pass)
{
	job_end(pass->walker.job);
	walker_deinit(&pass->walker);
	type_chooser_deinit(&pass->chooser);
	object_tally_deinit(&pass->tally);
}

enum hd_status object_pass_all(struct heap *heap, object_visit *visit, void *arg, struct job *job,
			       struct hd_error *err)
{
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	HD_CLEANUP(object_pass) struct object_pass pass = { 0 };
	const struct range_choice choice = { 0 };
	const struct life life = { 0 };
	TRY(heap_range_init(&range, heap, &choice, err));
	const struct object_filter filter = { .range = &range, .life = &life };
	TRY(object_pass_open(&pass, heap, &filter, job, err));
	for (enum pass_result result = PASS_GAP; result != PASS_END;) {
		TRY(object_pass_next(&pass, &result, err));
		if (result == PASS_OBJECT)
			TRY(visit(arg, &pass.walker.object, err));
	}
	return HD_OK;
}
