/* SPDX-License-Identifier: MIT */
#include "stack/walker.h"
#include "util/alloc.h"
#include "util/sort.h"

#define STACK_CHUNK 65536u

bool walk_is_heap_address(const struct thread_walk *walk, uint64_t value)
{
	return walk->walker->heap && heap_segment_at(walk->walker->heap, value);
}

enum step walk_add_word(struct thread_walk *walk, uint64_t address, enum stack_root_kind kind,
			uint32_t frame)
{
	struct stack_root root = { .address = address,
				   .frame = frame,
				   .kind = (uint8_t)kind,
				   .flags = STACK_ROOT_CONSERVATIVE,
				   .base = ARCH_NONE };
	if (!memory_u64(walk->memory, address, &root.value) ||
	    !walk_is_heap_address(walk, root.value))
		return STEP_ON;
	return walk_add_root(walk, &root);
}

/*
 * A scan of one part of a stack: which frame contains the word, and which words are already roots.
 */
struct stack_scan {
	struct thread_walk *walk;
	uint64_t *known; /* addresses of roots, ascending */
	size_t known_count, next_known;
	size_t frame; /* the managed frame that contains the word, or frames_count */
	size_t next_frame;
};

static bool is_known_address(struct stack_scan *scan, uint64_t address)
{
	while (scan->next_known < scan->known_count && scan->known[scan->next_known] < address)
		scan->next_known++;
	return scan->next_known < scan->known_count && scan->known[scan->next_known] == address;
}

/* The first managed frame with index @p index or higher that is in [begin, end). */
static size_t frame_from(const struct thread_stack *stack, size_t index, uint64_t begin,
			 uint64_t end)
{
	while (index < stack->frames_count &&
	       (stack->frames[index].kind != STACK_MANAGED || stack->frames[index].sp < begin ||
		stack->frames[index].sp >= end))
		index++;
	return index;
}

static enum step add_word(struct stack_scan *scan, uint64_t address, uint64_t value, uint64_t end)
{
	struct thread_walk *walk = scan->walk;
	const struct thread_stack *stack = walk->stack;
	if (!walk_is_heap_address(walk, value) || is_known_address(scan, address))
		return STEP_ON;
	while (scan->next_frame < stack->frames_count &&
	       stack->frames[scan->next_frame].sp <= address) {
		scan->frame = scan->next_frame;
		scan->next_frame =
			frame_from(stack, scan->frame + 1, stack->frames[scan->frame].sp + 1, end);
	}
	struct stack_root root = { .address = address,
				   .value = value,
				   .frame = UINT32_MAX,
				   .kind = STACK_ROOT_FRAME,
				   .flags = STACK_ROOT_CONSERVATIVE,
				   .base = ARCH_NONE };
	const struct stack_frame *frame =
		scan->frame < stack->frames_count ? &stack->frames[scan->frame] : NULL;
	if (frame && address < frame->caller_sp) {
		root.frame = (uint32_t)scan->frame;
		root.base = walk->arch->sp;
		/* A frame has at most some megabytes: see stack_walk.c. */
		root.offset = (int32_t)(address - frame->sp);
	} else if (frame) {
		/* Native code has called the next one, or the caller of this one is not known. */
		root.is_beyond = stack->is_partial && scan->next_frame == stack->frames_count;
	}
	return walk_add_root(walk, &root);
}

static enum step scan_words(struct stack_scan *scan, uint64_t begin, uint64_t end)
{
	struct memory *memory = scan->walk->memory;
	HD_FREE uint8_t *bytes = mem_alloc(STACK_CHUNK, 1);
	enum step step = bytes ? STEP_ON : STEP_NOMEM;
	for (uint64_t at = begin; step == STEP_ON && at < end;) {
		size_t size = end - at < STACK_CHUNK ? (size_t)(end - at) : STACK_CHUNK;
		if (scan->walk->job && !job_step(scan->walk->job, 0, 0)) {
			step = STEP_CANCELLED;
			break;
		}
		size_t got = memory_prefix(memory, at, bytes, size) & ~(size_t)7;
		if (!walk_take(scan->walk, got)) {
			step = STEP_BAD;
			break;
		}
		for (size_t i = 0; i < got && step == STEP_ON; i += 8)
			step = add_word(scan, at + i, load_u64(bytes + i), end);
		at += got;
		if (got == size)
			continue;
		/* Missing bytes are skipped, if it is known how many there are. */
		uint64_t next = memory_next(memory, at);
		if (next <= at || next == UINT64_MAX || next > UINT64_MAX - 7)
			break;
		at = (next + 7) & ~(uint64_t)7;
	}
	return step;
}

/*
 * Put the addresses of the roots from @p first on that are in [begin, end) into @p scan; those of
 * saved registers only @p with_registers.
 */
static bool sort_known(struct stack_scan *scan, size_t first, uint64_t begin, uint64_t end,
		       bool with_registers)
{
	const struct thread_stack *stack = scan->walk->stack;
	scan->known = mem_alloc(stack->roots_count - first, sizeof(*scan->known));
	if (!scan->known)
		return false;
	for (size_t i = first; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		uint64_t address = root->address;
		if (address >= begin && address < end && (with_registers || !root->is_register))
			scan->known[scan->known_count++] = address;
	}
	sort_u64(scan->known, scan->known_count);
	return true;
}

static enum step scan_stack(struct thread_walk *walk, uint64_t begin, uint64_t end)
{
	const struct thread_stack *stack = walk->stack;
	struct stack_scan scan = { .walk = walk };
	begin = (begin + 7) & ~(uint64_t)7;
	if (!sort_known(&scan, 0, begin, end, true))
		return STEP_NOMEM;
	scan.frame = stack->frames_count;
	scan.next_frame = frame_from(stack, 0, begin, end);
	enum step step = begin < end ? scan_words(&scan, begin, end) : STEP_ON;
	mem_free(scan.known);
	return step;
}

/* Is the thread's own register @p number a root already? */
static bool has_register(const struct thread_stack *stack, uint8_t number)
{
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		if (root->is_register && root->base == number && !root->address)
			return true;
	}
	return false;
}

enum step walk_registers(struct thread_walk *walk)
{
	enum step step = STEP_ON;
	for (uint8_t i = 0; i < walk->arch->ip && step == STEP_ON && walk->has_registers; i++) {
		struct stack_root root = { .value = walk->initial.values[i],
					   .frame = UINT32_MAX,
					   .kind = STACK_ROOT_FRAME,
					   .flags = STACK_ROOT_CONSERVATIVE,
					   .base = i,
					   .is_register = true };
		if (walk_is_heap_address(walk, root.value) && !has_register(walk->stack, i))
			step = walk_add_root(walk, &root);
	}
	return step;
}

static bool stack_has_root(const struct thread_stack *stack, size_t first, size_t last,
			   const struct stack_root *root)
{
	for (size_t i = first; i < last; i++) {
		const struct stack_root *other = &stack->roots[i];
		if (other->address == root->address && other->is_register == root->is_register &&
		    (other->address || other->base == root->base))
			return true;
	}
	return false;
}

static enum step add_frame_words(struct stack_scan *scan, uint64_t sp, uint64_t caller_sp,
				 struct stack_root *root)
{
	struct thread_walk *walk = scan->walk;
	enum step step = STEP_ON;
	for (uint64_t at = sp; at < caller_sp && step == STEP_ON; at += 8) {
		root->address = at;
		root->offset = (int32_t)(at - sp);
		if (memory_u64(walk->memory, at, &root->value) &&
		    walk_is_heap_address(walk, root->value) && !is_known_address(scan, at))
			step = walk_add_root(walk, root);
	}
	return step;
}

enum step walk_frame_words(struct thread_walk *walk, uint64_t caller_sp, uint32_t frame,
			   size_t first)
{
	const struct registers *registers = &walk->context.registers;
	uint64_t sp = registers_sp(registers);
	size_t last = walk->stack->roots_count;
	enum step step = STEP_ON;
	struct stack_scan scan = { .walk = walk };
	struct stack_root root = { .frame = frame,
				   .kind = STACK_ROOT_FRAME,
				   .flags = STACK_ROOT_CONSERVATIVE,
				   .is_register = true };
	if (!sort_known(&scan, first, sp, caller_sp, false))
		return STEP_NOMEM;
	for (uint8_t i = 0; i < walk->arch->ip && step == STEP_ON; i++) {
		root.base = i;
		root.address = registers->slots[i];
		root.value = registers->values[i];
		if (walk_is_heap_address(walk, root.value) &&
		    !stack_has_root(walk->stack, first, last, &root))
			step = walk_add_root(walk, &root);
	}
	root.is_register = false;
	root.base = walk->arch->sp;
	if (step == STEP_ON)
		step = add_frame_words(&scan, sp, caller_sp, &root);
	mem_free(scan.known);
	return step;
}

/*
 * All stacks of the thread for stack_options.conservative.  If a walk has failed: that stack, from
 * the last good frame; the stack that the thread was on; those of Frames that were not reached.
 */
static uint64_t scan_begin(const struct thread_walk *walk, const struct visited_span *visited)
{
	const struct span *span = &visited->span;
	uint64_t first = registers_sp(&walk->initial), red_zone = walk->arch->space.red_zone;
	if (!walk->options->conservative && span_has(span, walk->bad_sp))
		return walk->bad_sp;
	if (walk->has_registers && span_has(span, first))
		return first - span->start < red_zone ? span->start : first - red_zone;
	return walk->stack->managed_count ? visited->low : span->start;
}

/* Memory of another kind may follow without a gap. */
static uint64_t scan_end(const struct thread_walk *walk, const struct visited_span *visited)
{
	uint64_t id = walk->stack->thread->os_id, end = visited->span.end;
	const struct target_thread *thread =
		walk->has_registers ? target_thread(runtime_target(walk->runtime), (int32_t)id)
				    : NULL;
	return thread ? target_stack_end(runtime_target(walk->runtime), thread,
					 scan_begin(walk, visited), end)
		      : end;
}

enum step walk_conservative(struct thread_walk *walk)
{
	if (!walk->walker->heap)
		return STEP_ON;
	enum step step = walk_registers(walk);
	for (unsigned int i = 0; i < walk->spans.count && step == STEP_ON; i++) {
		const struct visited_span *visited = &walk->spans.rows[i];
		step = scan_stack(walk, scan_begin(walk, visited), scan_end(walk, visited));
	}
	return step;
}
