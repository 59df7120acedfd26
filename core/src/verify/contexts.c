/* SPDX-License-Identifier: MIT */
/* Checks allocation contexts: pointer and limit of the memory that a thread fills with objects. */
#include <inttypes.h>

#include "arch/arch.h"
#include "targets/target.h"
#include "verify/resolve.h"

/* A context is no larger than a region of small objects. */
#define CONTEXT_SIZE_MAX ((uint64_t)4 << 20)
#define ELF_MAGIC        0x464c457fu

static const struct runtime_thread *owner_of(const struct resolver *resolver, uint64_t thread)
{
	const struct runtime *runtime = resolver->heap->runtime;
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		if (thread && runtime_thread_at(runtime, i)->address == thread)
			return runtime_thread_at(runtime, i);
	}
	return NULL;
}

/*
 * Does the range of @p address begin with an ELF header, like that of the vDSO, which has no file?
 */
static bool is_in_image(const struct target *target, uint64_t address)
{
	uint32_t magic = 0;
	for (size_t i = 0; i < target->map.range_count; i++) {
		const struct target_range *range = &target->map.ranges[i];
		if (address >= range->start && address < range->end) {
			return memory_u32(target->memory, range->start, &magic) &&
			       magic == ELF_MAGIC;
		}
	}
	return false;
}

/* Is @p address code that the runtime did not compile, such as the allocator and what it calls? */
static bool is_native_address(const struct target *target, uint64_t address)
{
	const struct target_mapping *mapping = target_mapping_at(&target->map, address);
	size_t size = mapping && mapping->path ? strlen(mapping->path) : 0;
	if (size == 0)
		return is_in_image(target, address);
	/* Compiled ahead of time, or by the JIT into memory of two mappings. */
	return !(size > 4 && strcmp(mapping->path + size - 4, ".dll") == 0) &&
	       !strstr(mapping->path, "doublemapper");
}

bool thread_may_allocate(const struct resolver *resolver, const struct runtime_thread *thread)
{
	const struct runtime *runtime = resolver->heap->runtime;
	if (!runtime_knows_thread_modes(runtime))
		return true;
	if (!thread->is_cooperative)
		return false;
	const struct target_thread *registers =
		runtime_target(runtime) && thread->os_id && thread->os_id <= INT32_MAX
			? target_thread(runtime_target(runtime), (int32_t)thread->os_id)
			: NULL;
	const struct arch *arch = runtime_arch(runtime);
	return !registers || is_native_address(runtime_target(runtime),
					       arch_word(arch, registers->registers, arch->ip));
}

bool context_is_at_rest(const struct resolver *resolver, const struct context *context)
{
	const struct runtime_thread *owner = owner_of(resolver, context->thread);
	return owner && !thread_may_allocate(resolver, owner);
}

/* Could one of its two words belong to the context before, or to the next one? */
static bool is_half(const struct resolver *resolver, uint64_t address)
{
	const struct segment *segment =
		address ? heap_segment_at(resolver->heap, address - 1) : NULL;
	return address == 0 ||
	       (segment && address % 8 == 0 && verify_is_young(segment, address - 1));
}

static enum hd_status add_broken_context(struct resolver *resolver, const struct context *context,
					 bool limit_is_bad, const char *why, uint32_t *ret,
					 struct hd_error *err)
{
	const struct runtime *runtime = resolver->heap->runtime;
	const struct runtime_thread *owner = owner_of(resolver, context->thread);
	const struct segment *segment = heap_segment_at(resolver->heap, context->pointer);
	uint64_t at = owner ? owner->alloc_context : 0;
	struct verify_finding finding = {
		.kind = "InvalidAllocationContext",
		.verdict = VERDICT_DAMAGE,
		.segment = segment ? segment->address : 0,
		.address = at ? at : context->pointer,
		.word = limit_is_bad ? context->limit : context->pointer,
	};
	/* A thread that is stopped while it takes a new context has only half of it. */
	if (context->owner == CONTEXT_THREAD && !context_is_at_rest(resolver, context) &&
	    is_half(resolver, context->pointer) && is_half(resolver, context->limit))
		finding.verdict = VERDICT_UNOWNED_CONTEXT;
	if (at) {
		struct alloc_layout layout = runtime_alloc_layout(runtime);
		finding.slot = at + (limit_is_bad ? layout.limit : layout.pointer);
	}
	TRY(finding_list_add(&resolver->found, &finding, ret, err));
	if (*ret == NO_FINDING)
		return HD_OK;
	verify_finding_detail(&resolver->found.rows[*ret],
			      "Allocation context %" PRIx64 "..%" PRIx64 " of %s %" PRIx64 " %s",
			      context->pointer, context->limit, owner ? "thread" : "heap",
			      owner ? owner->address : 0, why);
	TRY_MEMORY(PAGES_RESERVE(resolver, contexts), err);
	resolver->contexts[resolver->contexts_count++] =
		(struct broken_context){ context->pointer, context->limit, *ret, false };
	return HD_OK;
}

enum hd_status context_finding(struct resolver *resolver, const struct context *context,
			       const char *why, uint32_t *ret, struct hd_error *err)
{
	for (size_t i = 0; i < resolver->contexts_count; i++) {
		struct broken_context *broken = &resolver->contexts[i];
		if (broken->pointer == context->pointer && broken->limit == context->limit) {
			broken->met = true;
			*ret = broken->finding;
			return HD_OK;
		}
	}
	return add_broken_context(resolver, context, false, why, ret, err);
}

/* Does a block of the walk, a gap or another context end exactly at the pointer? */
static bool context_is_reached(struct resolver *resolver, const struct segment *segment,
			       uint64_t pointer)
{
	if (pointer == segment->begin || resolver_gap_at(resolver, pointer) ||
	    resolver_gap_at(resolver, pointer - 8) || resolver_context_over(resolver, pointer - 8))
		return true;
	struct object block;
	return !resolver_block_at(resolver, segment, pointer - 8, &block) ||
	       block.address + block.step == pointer;
}

/*
 * Something that is not zero is between pointer and limit: is the limit wrong?  The longer run of
 * zeros is the rest of the context; it comes after a wrong pointer, and before a wrong limit.
 */
static bool limit_is_too_high(struct resolver *resolver, const struct context *context)
{
	uint64_t first = resolver_first_nonzero(resolver, context->pointer, context->limit),
		 last = first;
	for (uint64_t at = first; at < context->limit;
	     at = resolver_first_nonzero(resolver, at + 8, context->limit))
		last = at;
	return first - context->pointer >= CONTEXT_RESERVE &&
	       first - context->pointer > context->limit - last;
}

/*
 * Is there no object in it?  It is zero, or covered by one Free block: while a heap is to be walked, as when a
 * background GC begins, gc_heap::fix_allocation_contexts(FALSE) makes such blocks, and the contexts stay as they
 * are; repair_allocation_contexts() clears the blocks again before the threads go on (gc.cpp, .NET 8 to 10).
 * A core may have been taken between any two words of that: the MethodTable, the length, and PREV_EMPTY in
 * the word of the free list at +24.
 */
static bool is_empty(struct resolver *resolver, const struct context *context)
{
	const struct heap *heap = resolver->heap;
	const uint64_t allowed[] = { runtime_free_method_table(heap->runtime),
				     context->limit - context->pointer, 0, 1 };
	uint64_t at = context->pointer;
	while ((at = resolver_first_nonzero(resolver, at, context->limit)) < context->limit) {
		uint64_t index = (at - context->pointer) / 8, word = 0;
		if (index >= sizeof(allowed) / sizeof(*allowed) || !allowed[index] ||
		    !memory_u64(heap->memory, at, &word) || word != allowed[index])
			return false;
		at += 8;
	}
	return true;
}

/* Does it overlap the next one, which is sound? */
static bool overlaps_next(struct resolver *resolver, const struct context *context)
{
	const struct heap *heap = resolver->heap;
	const struct context *next = context + 1;
	return next < heap->contexts + heap->context_count && context_is_sound(heap, next) &&
	       context->limit + CONTEXT_RESERVE > next->pointer &&
	       !(context_is_at_rest(resolver, next) && !is_empty(resolver, next));
}

static enum hd_status check_context(struct resolver *resolver, const struct context *context,
				    struct hd_error *err)
{
	const struct heap *heap = resolver->heap;
	const struct segment *segment = heap_segment_at(heap, context->pointer);
	uint64_t pointer = context->pointer, limit = context->limit;
	const char *why = NULL;
	bool limit_is_bad = false;
	uint32_t finding;
	if (!context_is_sound(heap, context)) {
		const struct segment *cut = resolver_segment_before(resolver, pointer);
		if (cut && limit >= pointer && limit < cut->reserved &&
		    context->owner == CONTEXT_THREAD && pointer % 8 == 0) {
			TRY(segment_end_finding(resolver, cut, &finding, err));
			return finding_list_link(&resolver->found, finding, pointer, err);
		}
		/* It is not known what is on the lost part of a broken list. */
		if (!segment && resolver->list != NO_FINDING && pointer % 8 == 0 &&
		    limit >= pointer && limit - pointer < CONTEXT_SIZE_MAX)
			return finding_list_link(&resolver->found, resolver->list, pointer, err);
		limit_is_bad = segment && pointer % 8 == 0;
		why = !segment || pointer % 8 ? "does not begin where objects are allocated"
		      : limit < pointer       ? "ends before it begins"
					      : "ends outside of the segment it begins in";
	} else if (context->owner == CONTEXT_THREAD && !verify_is_young(segment, pointer)) {
		why = "is not in generation 0";
	} else if (context_is_at_rest(resolver, context) && !is_empty(resolver, context)) {
		why = "overlaps what is not empty";
		limit_is_bad = limit_is_too_high(resolver, context);
	} else if (!context_is_reached(resolver, segment, pointer)) {
		why = "begins in the middle of an object";
	} else if (overlaps_next(resolver, context)) {
		why = "overlaps the next one";
		limit_is_bad = true;
	}
	return why ? add_broken_context(resolver, context, limit_is_bad, why, &finding, err)
		   : HD_OK;
}

enum hd_status verify_contexts(struct resolver *resolver, struct hd_error *err)
{
	const struct heap *heap = resolver->heap;
	if (heap->gc_in_progress)
		return HD_OK;
	for (size_t i = 0; i < heap->context_count; i++)
		TRY(check_context(resolver, &heap->contexts[i], err));
	/* A walk does not see a context if the pointer is 0, unless there is a limit. */
	for (size_t i = 0; i < runtime_thread_count(heap->runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(heap->runtime, i);
		struct context context = { .owner = CONTEXT_THREAD, .thread = thread->address };
		uint32_t finding;
		uint64_t unused;
		if (!thread->alloc_pointer && thread->alloc_context &&
		    runtime_alloc_context(heap->runtime, thread->alloc_context, &unused,
					  &context.limit) &&
		    context.limit) {
			TRY(add_broken_context(resolver, &context, false,
					       "has a limit but no pointer", &finding, err));
		}
	}
	return HD_OK;
}
