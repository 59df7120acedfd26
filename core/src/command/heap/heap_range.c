/* SPDX-License-Identifier: MIT */
#include "command/heap/heap_range.h"

#include <inttypes.h>
#include <string.h>

#include "clr/clr.h"
#include "util/alloc.h"
#include "util/sink.h"

/* No MethodTable lies outside of these. */

const char *const generation_choices[] = { "gen0", "gen1", "gen2", "loh",   "poh", "foh",
					   "0",    "1",    "2",    "nongc", NULL };

uint64_t segment_committed_size(const struct segment *segment)
{
	uint64_t start = segment->begin & ~(uint64_t)0xfff;
	return segment->committed > start ? segment->committed - start : 0;
}

enum hd_status no_generations(const struct call *call, const char *what)
{
	return fail(call->err, HD_ERR_UNSUPPORTED, 0,
		    "%s: this heap dump file does not say where the generations lie; one made by "
		    "collect -generations does",
		    what);
}

uint8_t generation_choice(const char *choice)
{
	static const struct {
		const char *choice;
		enum generation generation;
	} table[] = {
		{ "loh", GENERATION_LOH },
		{ "poh", GENERATION_POH },
		{ "foh", GENERATION_NONGC },
		{ "nongc", GENERATION_NONGC },
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].choice, choice) == 0)
			return (uint8_t)table[i].generation;
	}
	return (uint8_t)(choice[strlen(choice) - 1] - '0');
}

/* Could @p segment hold objects of the range? */
static bool range_wants_segment(const struct heap_range *range, const struct segment *segment,
				const struct value *heap, const struct value *address)
{
	if (heap->given && segment->heap != heap->number)
		return false;
	if (address->given && segment->address != address->number &&
	    (address->number < segment->begin || address->number >= segment->end))
		return false;
	if (range->end && segment->begin >= range->end)
		return false;
	if (segment->end <= range->begin)
		return range->begin == 0;
	if (!range->has_generation)
		return true;
	return segment->generation == range->generation ||
	       (segment->generation == GENERATION_EPHEMERAL && range->generation <= GENERATION_2);
}

static enum hd_status no_segment(const struct call *call, const struct value *heap,
				 const struct value *segment)
{
	if (heap->given && heap->number >= call->heap->heap_count) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "there is no heap %" PRIu64 ": this process has %" PRIu32
			    ", counted from 0",
			    heap->number, call->heap->heap_count);
	}
	if (segment->given) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "no segment %" PRIx64 ": eeheap -gc lists them", segment->number);
	}
	return HD_OK;
}

enum hd_status check_range(struct call *call)
{
	const struct value *begin = &call->words[0], *end = &call->words[1];
	if (end->given && end->number <= begin->number)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "END must be above START");
	return HD_OK;
}

enum hd_status heap_range_init(struct heap_range *ret, const struct call *call,
			       const struct value *heap, const struct value *segment,
			       const struct value *generation, const struct value *begin,
			       const struct value *end)
{
	struct heap_range range = {
		.begin = begin->number,
		.end = end->given ? end->number : 0,
		.has_generation = generation->given,
		.generation = generation->given ? generation_choice(generation->text) : 0,
	};
	range.segments = mem_calloc(call->heap->segment_count + 1, sizeof(const struct segment *));
	if (!range.segments)
		return fail_nomem(call->err);
	for (size_t i = 0; i < call->heap->segment_count; i++) {
		const struct segment *each = &call->heap->segments[i];
		if (range_wants_segment(&range, each, heap, segment))
			range.segments[range.count++] = each;
	}
	range.is_whole = !heap->given && !segment->given && !generation->given && !begin->given;
	if (!range.count) {
		enum hd_status status = no_segment(call, heap, segment);
		if (status != HD_OK) {
			mem_free(range.segments);
			return status;
		}
	}
	*ret = range;
	return HD_OK;
}

void heap_range_deinit(struct heap_range *range)
{
	mem_free(range->segments);
	range->segments = NULL;
}

void heap_range_walk(const struct heap_range *range, struct walker *walker,
		     const struct segment *segment)
{
	bool cut = range->end && range->end < segment->end;
	walker_begin(walker, segment, segment->begin, cut ? range->end : segment->end);
}

uint64_t heap_range_bytes(const struct heap_range *range)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < range->count; i++)
		bytes += range->segments[i]->end - range->segments[i]->begin;
	return bytes;
}

bool damage_is_untyped(struct heap *heap, const struct damage *damage)
{
	return damage->kind == DAMAGE_BAD_METHOD_TABLE &&
	       type_may_be_missing(heap->clr, damage->word & ~(uint64_t)7);
}

void gaps_add(struct gaps *gaps, struct heap *heap, const struct damage *damage)
{
	if (damage_is_untyped(heap, damage)) {
		gaps->untyped++;
		gaps->untyped_bytes += damage->skipped;
		return;
	}
	switch (damage->kind) {
	case DAMAGE_MISSING_BYTES:
		gaps->missing++;
		gaps->missing_bytes += damage->skipped;
		break;
	case DAMAGE_ZERO_RUN:
		gaps->unowned++;
		break;
	case DAMAGE_PLUG_NODE:
		/* What it lies over is dead, but for single objects before pinned ones. */
		break;
	default:
		gaps->damaged++;
		break;
	}
}

void gaps_merge(struct gaps *gaps, const struct gaps *other)
{
	gaps->damaged += other->damaged;
	gaps->missing += other->missing;
	gaps->unowned += other->unowned;
	gaps->missing_bytes += other->missing_bytes;
	gaps->untyped += other->untyped;
	gaps->untyped_bytes += other->untyped_bytes;
}

bool heap_lacks_bytes(struct heap *heap)
{
	const struct target *target = heap_target(heap);
	struct walker walker;
	bool lacks = target && target->is_truncated;
	if (lacks || walker_init(&walker, heap, NULL) != HD_OK)
		return lacks;
	for (size_t i = 0; i < heap->segment_count && !lacks; i++) {
		const struct segment *segment = &heap->segments[i];
		enum walk_result result;
		walker_begin(&walker, segment, segment->begin, segment->end);
		while (!lacks && (result = walker_next(&walker)) != WALK_END) {
			lacks = result == WALK_DAMAGE && walker.damage.kind == DAMAGE_MISSING_BYTES;
		}
	}
	walker_deinit(&walker);
	return lacks;
}

void gaps_settle(struct gaps *gaps, struct heap *heap)
{
	if (gaps->missing || (gaps->untyped && heap_lacks_bytes(heap))) {
		gaps->missing += gaps->untyped;
		gaps->missing_bytes += gaps->untyped_bytes;
	} else {
		gaps->damaged += gaps->untyped;
	}
	gaps->untyped = gaps->untyped_bytes = 0;
}

void gaps_report(struct call *call, struct gaps *gaps)
{
	struct text text = { 0 };
	gaps_settle(gaps, call->heap);
	char number[27];
	if (call->heap->gc_in_progress && gaps->damaged) {
		text_printf(&text,
			    "a garbage collection was moving objects: %s stretch%s of the heap "
			    "could not be walked, the totals are too low",
			    format_thousands(gaps->damaged, number),
			    gaps->damaged == 1 ? "" : "es");
	} else if (gaps->damaged) {
		call->findings = true;
		text_printf(&text,
			    "%s stretch%s of the heap cannot be walked, what lies there is not "
			    "counted: verifyheap says why",
			    format_thousands(gaps->damaged, number),
			    gaps->damaged == 1 ? "" : "es");
	} else if (gaps->missing) {
		text_printf(&text,
			    "%s bytes of the heap are not in the file, the totals are too low: "
			    "info says why",
			    format_thousands(gaps->missing_bytes, number));
	}
	if (text.bytes)
		sink_warn(call->sink, text.bytes);
	text_deinit(&text);
}
