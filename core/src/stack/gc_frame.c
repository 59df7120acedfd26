/* SPDX-License-Identifier: MIT */
#include "stack/walker.h"

/*
 * GCFrame (frames.h; 8, 9, 10): the next one, the Thread, the references, how many, and flags; a
 * list of its own, innermost first.
 */
#define GC_FRAME_NEXT     0u
#define GC_FRAME_THREAD   8u
#define GC_FRAME_REFS     16u
#define GC_FRAME_COUNT    24u
#define GC_FRAME_FLAGS    28u
#define GC_FRAME_SIZE     32u
#define GC_FRAME_INTERIOR 1u /* GC_CALL_INTERIOR; before 10: a BOOL */

/* No descriptor has the offset of Thread.m_pGCFrame: it is one of these. */
#define SEARCH_BEGIN 0x100u
#define SEARCH_END   0x500u

/* References of one GCFrame, and frames of one thread, at most. */
#define REFS_MAX   65536u
#define FRAMES_MAX 65536u

static bool is_on_stack(const struct walk *walk, uint64_t address)
{
	for (unsigned int i = 0; i < walk->span_count; i++) {
		if (span_has(&walk->spans[i].span, address))
			return true;
	}
	return false;
}

/* Does Thread + @p offset lead to a GCFrame of the thread? */
static bool is_gc_frame_at(const struct walk *walk, uint32_t offset, uint64_t *ret)
{
	uint64_t thread = walk->stack->thread->address, owner = 0;
	return memory_u64(walk->memory, thread + offset, ret) && *ret % 8 == 0 &&
	       is_on_stack(walk, *ret) &&
	       memory_u64(walk->memory, *ret + GC_FRAME_THREAD, &owner) && owner == thread;
}

static uint64_t first_gc_frame(struct walk *walk)
{
	uint32_t *offset = &walk->walker->gc_frame_offset;
	uint64_t address = 0;
	if (*offset)
		return is_gc_frame_at(walk, *offset, &address) ? address : 0;
	for (uint32_t i = SEARCH_BEGIN; i < SEARCH_END; i += 8) {
		if (is_gc_frame_at(walk, i, &address)) {
			*offset = i;
			return address;
		}
	}
	return 0;
}

static enum step add_references(struct walk *walk, uint64_t references, uint32_t count,
				uint32_t flags)
{
	enum step step = STEP_ON;
	for (uint32_t i = 0; i < count && step == STEP_ON; i++) {
		struct stack_root root = { .address = references + 8 * (uint64_t)i,
					   .frame = UINT32_MAX,
					   .kind = STACK_ROOT_GC_FRAME,
					   .base = REG_NONE };
		if (flags & GC_FRAME_INTERIOR)
			root.flags = STACK_ROOT_INTERIOR;
		if (!memory_u64(walk->memory, root.address, &root.value))
			return STEP_ON;
		step = walk_add_root(walk, &root);
	}
	return step;
}

enum step walk_gc_frames(struct walk *walk)
{
	uint64_t address = first_gc_frame(walk);
	uint8_t bytes[GC_FRAME_SIZE];
	for (uint32_t i = 0; address && i < FRAMES_MAX; i++) {
		if (!memory_read(walk->memory, address, bytes, sizeof(bytes)) ||
		    load_u64(bytes + GC_FRAME_THREAD) != walk->stack->thread->address)
			break;
		uint64_t next = load_u64(bytes + GC_FRAME_NEXT);
		uint64_t references = load_u64(bytes + GC_FRAME_REFS);
		uint32_t count = load_u32(bytes + GC_FRAME_COUNT);
		if (count > REFS_MAX || references % 8 != 0)
			break;
		enum step step =
			add_references(walk, references, count, load_u32(bytes + GC_FRAME_FLAGS));
		if (step != STEP_ON)
			return step;
		/* They ascend: no ring. */
		address = next > address && next % 8 == 0 ? next : 0;
	}
	return STEP_ON;
}

enum step walk_exceptions(struct walk *walk)
{
	enum step step = STEP_ON;
	for (size_t i = 0; i < walk->exceptions.rows_count && step == STEP_ON; i++) {
		const struct exception_record *record = &walk->exceptions.rows[i];
		struct stack_root root = { .address = record->slot,
					   .value = record->object,
					   .frame = UINT32_MAX,
					   .kind = STACK_ROOT_EXCEPTION,
					   .base = REG_NONE };
		step = walk_add_root(walk, &root);
	}
	return step;
}
