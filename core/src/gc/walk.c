/* SPDX-License-Identifier: MIT */
#include "gc/walk.h"

#include "gc/plug_node.h"
#include "gc/resync.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

/* Bytes between two checks for cancellation. */
#define REPORT_BYTES ((uint64_t)4 << 20)
/* Is not equal to any MethodTable. */
static const struct type no_type = { .method_table = 1 };

enum hd_status walker_init(struct walker *walker, struct heap *heap, struct hd_error *err)
{
	*walker = (struct walker){ .heap = heap, .window = { .memory = heap->memory } };
	walker->cache = mem_calloc(1, sizeof(*walker->cache));
	walker->guess = mem_alloc(1, sizeof(*walker->guess));
	walker->last = &no_type;
	/* Allocate now: later, a lack of memory would look like missing bytes. */
	walker->window.buffer = mem_alloc(WINDOW_SIZE, 1);
	for (size_t i = 0; walker->guess && i < WALK_GUESSES; i++)
		walker->guess->next[i] = &no_type;
	if (walker->cache && walker->guess && walker->window.buffer)
		return HD_OK;
	walker_deinit(walker);
	return fail_nomem(err);
}

void walker_deinit(struct walker *walker)
{
	window_deinit(&walker->window);
	mem_free(walker->cache);
	mem_free(walker->guess);
	walker->cache = NULL;
	walker->guess = NULL;
}

/* Set limit and pause for objects from walker->next on. */
static void set_limits(struct walker *walker)
{
	const struct heap *heap = walker->heap;
	while (walker->context < heap->context_count &&
	       (heap->contexts[walker->context].pointer < walker->next ||
		heap->contexts[walker->context].pointer % 8))
		walker->context++;
	walker->limit = walker->segment->end;
	if (walker->context < heap->context_count &&
	    heap->contexts[walker->context].pointer < walker->limit)
		walker->limit = heap->contexts[walker->context].pointer;
	walker->pause = walker->limit < walker->end ? walker->limit : walker->end;
	if (walker->job && walker->pause > walker->reported &&
	    walker->pause - walker->reported > REPORT_BYTES)
		walker->pause = walker->reported + REPORT_BYTES;
	/* Each object may be one that a GC has overwritten. */
	if (heap->gc_in_progress)
		walker->pause = 0;
}

void walker_begin(struct walker *walker, const struct segment *segment, uint64_t begin,
		  uint64_t end)
{
	const struct heap *heap = walker->heap;
	walker->segment = segment;
	walker->next = begin;
	walker->end = end < segment->end ? end : segment->end;
	walker->context = ROWS_FROM(heap->contexts, heap->context_count, pointer, begin);
	walker->object = (struct object){ 0 };
	walker->damage = (struct damage){ 0 };
	walker->objects = walker->skipped_bytes = 0;
	walker->reported = begin;
	walker->cancelled = false;
	set_limits(walker);
}

/* Count progress; false when the walk has to end. */
static bool report_walked(struct walker *walker)
{
	if (!walker->job || walker->next < walker->reported ||
	    walker->next - walker->reported < REPORT_BYTES)
		return true;
	uint64_t bytes = walker->next - walker->reported;
	walker->reported = walker->next;
	return job_step(walker->job, walker->worker, bytes);
}

/*
 * The object at walker->next reaches beyond the pointer of a context.  If sound objects follow the
 * object's own end, the context is wrong.
 */
static bool context_is_inside(struct walker *walker, struct object *ret)
{
	const struct heap *heap = walker->heap;
	uint64_t segment_end = walker->segment->end;
	if (walker->limit == segment_end ||
	    object_decode(&walker->window, walker->cache, heap->runtime, walker->next, segment_end,
			  ret) != DECODE_OBJECT)
		return false;
	uint64_t end = walker->next + ret->step, bound = segment_end;
	size_t context = walker->context;
	while (context < heap->context_count &&
	       (heap->contexts[context].pointer < end || heap->contexts[context].pointer % 8))
		context++;
	if (context < heap->context_count && heap->contexts[context].pointer < bound)
		bound = heap->contexts[context].pointer;
	return walker_is_sound(walker, end, bound);
}

static void describe_damage(struct walker *walker, enum decode_result result)
{
	struct damage *damage = &walker->damage;
	*damage = (struct damage){ .kind = DAMAGE_BAD_METHOD_TABLE };
	if (result == DECODE_MISSING)
		damage->kind = DAMAGE_MISSING_BYTES;
	if (result != DECODE_TOO_LONG)
		return;
	struct object object = { 0 };
	damage->kind = DAMAGE_BAD_SIZE;
	if (object_decode(&walker->window, walker->cache, walker->heap->runtime, walker->next,
			  UINT64_MAX, &object) == DECODE_OBJECT) {
		damage->type = object.type;
		damage->size = object.size;
	}
}

/* Skip what the node of a plug has overwritten, if that is the reason. */
static bool step_over_node(struct walker *walker, enum decode_result result,
			   const struct object *object)
{
	if (!walker->heap->gc_in_progress ||
	    (result == DECODE_OBJECT && (!object->type->component_size || object->step == 40)))
		return false;
	uint64_t plug = plug_after(walker, walker->next, result == DECODE_OBJECT);
	if (!plug || plug > walker->limit)
		return false;
	walker->damage = (struct damage){ .kind = DAMAGE_PLUG_NODE,
					  .address = walker->next,
					  .skipped = plug - walker->next,
					  .last_good = walker->object };
	(void)memory_u64(walker->heap->memory, walker->next, &walker->damage.word);
	walker->next = plug;
	walker->skipped_bytes += walker->damage.skipped;
	return true;
}

/* Skip the context at walker->next, if there is a plausible one. */
static bool step_over_context(struct walker *walker)
{
	const struct heap *heap = walker->heap;
	if (walker->context >= heap->context_count)
		return false;
	const struct context *context = &heap->contexts[walker->context];
	if (context->pointer != walker->next || !context_is_sound(heap, context))
		return false;
	walker->next = (context->limit + CONTEXT_RESERVE + 7) & ~(uint64_t)7;
	if (walker->next > walker->segment->end)
		walker->next = walker->segment->end;
	return true;
}

enum walk_result walker_slow(struct walker *walker)
{
	while (walker->next < walker->end) {
		if (!report_walked(walker)) {
			walker->cancelled = true;
			walker->end = walker->pause = walker->next;
			return WALK_END;
		}
		set_limits(walker);
		if (step_over_context(walker))
			continue;
		if (walker->limit == walker->next) {
			/* A context that is not plausible: its memory is read as objects. */
			walker->context++;
			continue;
		}
		struct object object;
		enum decode_result result =
			object_decode(&walker->window, walker->cache, walker->heap->runtime,
				      walker->next, walker->limit, &object);
		if (step_over_node(walker, result, &object)) {
			set_limits(walker);
			return WALK_DAMAGE;
		}
		if (result == DECODE_OBJECT ||
		    (result == DECODE_TOO_LONG && context_is_inside(walker, &object))) {
			walker->object = object;
			walker->next += object.step;
			walker->objects++;
			set_limits(walker);
			return WALK_OBJECT;
		}
		describe_damage(walker, result);
		walker_resync(walker, walker->limit);
		set_limits(walker);
		return WALK_DAMAGE;
	}
	return WALK_END;
}

bool object_read(struct heap *heap, struct window *window, uint64_t address, struct object *ret)
{
	if (address % 8)
		return false;
	const struct segment *segment = heap_segment_at(heap, address);
	const uint8_t *bytes = window_at(window, address, 16, NULL);
	if (!bytes)
		return false;
	const struct type *type = type_find(heap->runtime, load_u64(bytes) & ~(uint64_t)7);
	return object_from(bytes, type, address, segment ? segment->end : UINT64_MAX, ret) ==
	       DECODE_OBJECT;
}
