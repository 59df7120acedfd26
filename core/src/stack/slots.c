/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "gc/heap.h"
#include "runtime/runtime_ops.h"
#include "stack/stack_ops.h"
#include "stack/walker.h"
#include "util/alloc.h"

/* Is there an object at @p value?  In the middle of a GC this is not always known. */
static bool is_object_value(const struct thread_walk *walk, uint64_t value)
{
	uint64_t method_table = 0;
	if (value % 8 != 0)
		return false;
	if (runtime_gc_is_moving(walk->runtime))
		return true;
	if (!walk_is_heap_address(walk, value) || !memory_u64(walk->memory, value, &method_table))
		return false;
	const struct type *type = type_find(walk->runtime, method_table & ~(uint64_t)7);
	return type && !type->is_free;
}

enum step walk_add_root(struct thread_walk *walk, const struct stack_root *root)
{
	if (!root->value)
		return STEP_ON;
	struct thread_stack *stack = walk->stack;
	if (walk->walker->heap &&
	    !(root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE)) &&
	    !is_object_value(walk, root->value)) {
		if (runtime_type_table_failed(walk->runtime))
			return STEP_NOMEM;
		if (walk->is_unsure)
			return STEP_ON;
		(void)walk_bad(walk,
			       "the slot at %" PRIx64 " has %" PRIx64 ", which is not an object",
			       root->address, root->value);
		if (root->kind == STACK_ROOT_GC_FRAME)
			walk->bad_sp = 0;
		return STEP_ON;
	}
	if (!walk_take(walk, sizeof(root->value)))
		return STEP_BAD;
	if (!PAGES_RESERVE(stack, roots))
		return STEP_NOMEM;
	stack->roots[stack->roots_count++] = *root;
	return STEP_ON;
}

/* A slot that cannot be read. */
static enum step missing_slot(struct thread_walk *walk, uint64_t address)
{
	const struct span *span = &walk->spans.now;
	uint64_t ip = walk_ip(walk);
	/* In the guard page, after a stack overflow: it was never written. */
	if (walk->stack->managed_count == 1 && address < span->start &&
	    span->start - address <= GUARD_REACH)
		return STEP_ON;
	if (span_has(span, address)) {
		(void)walk_bad(walk,
			       "the slot at %" PRIx64 " of the frame at %" PRIx64
			       " is not in the target",
			       address, ip);
		return STEP_ON;
	}
	return walk_bad(walk,
			"the GC info of the frame at %" PRIx64 " has a slot outside its stack", ip);
}

static enum step add_frame_slot(struct thread_walk *walk, const struct gc_slot *slot,
				uint8_t frame_register, uint64_t caller_sp, struct stack_root *root)
{
	const struct registers *registers = &walk->context.registers;
	root->flags = (uint8_t)((slot->flags & GC_SLOT_INTERIOR ? STACK_ROOT_INTERIOR : 0) |
				(slot->flags & GC_SLOT_PINNED ? STACK_ROOT_PINNED : 0));
	root->is_register = slot->base == GC_SLOT_REGISTER;
	root->offset = slot->offset;
	if (root->is_register) {
		if (slot->number >= walk->arch->ip ||
		    (!walk->context.is_active && arch_is_scratch(walk->arch, slot->number)))
			return STEP_ON;
		root->base = slot->number;
		root->offset = 0;
		root->address = registers->slots[slot->number];
		root->value = registers->values[slot->number];
		return walk_add_root(walk, root);
	}
	root->base = slot->base == GC_SLOT_FRAME_REGISTER ? frame_register : walk->arch->sp;
	if (root->base >= walk->arch->ip) {
		return walk_bad(walk, "the GC info at %" PRIx64 " contradicts itself",
				registers_ip(registers));
	}
	/* A frame has at most some megabytes: see the checks of stack_walk.c. */
	if (slot->base == GC_SLOT_CALLER_SP)
		root->offset += (int32_t)(caller_sp - registers_sp(registers));
	root->address = registers->values[root->base] + (uint64_t)(int64_t)root->offset;
	if (!memory_u64(walk->memory, root->address, &root->value))
		return missing_slot(walk, root->address);
	return walk_add_root(walk, root);
}

/* false: *ret says whether the walk goes on. */
static bool decode_frame_slots(struct thread_walk *walk, const struct code_info *code,
			       bool no_untracked, struct gc_info *info, enum step *ret)
{
	const struct stack_ops *ops = runtime_ops(walk->runtime)->stack;
	struct gc_info_query query = {
		.arch = walk->arch,
		.version = code->gc_info_version,
		.offset = (uint32_t)(walk_ip(walk) - code->start),
		.is_active = walk->context.is_active,
		.is_aborted = walk->context.is_aborted,
		.is_dead = ops->ended_frame_is_dead && ops->ended_frame_is_dead(walk->runtime),
		.no_untracked = no_untracked,
	};
	enum gc_info_result result = gc_info_decode(walk->memory, code->gc_info, &query, info);
	*ret = STEP_ON;
	if (result == GC_INFO_NOMEM)
		*ret = STEP_NOMEM;
	if (result == GC_INFO_OK && query.offset > info->code_length)
		result = GC_INFO_BAD;
	if (result == GC_INFO_BAD) {
		/* The frames above may still be good. */
		(void)walk_bad(walk,
			       "the GC info of the frame at %" PRIx64
			       " cannot be read, or contradicts itself",
			       walk_ip(walk));
	}
	return *ret == STEP_ON && result == GC_INFO_OK;
}

/* The slots of a caller's frame depend on its address alone. */
static bool keep_slots(struct thread_walk *walk, struct code_entry *entry, enum step *ret)
{
	struct code_table *table = &walk->walker->codes;
	struct gc_info *info = &walk->walker->gc_info;
	*ret = STEP_ON;
	if (entry->is_bad || !decode_frame_slots(walk, &entry->code, false, info, ret)) {
		entry->is_bad = true;
		return false;
	}
	entry->slots_begin = (uint32_t)table->slots_count;
	for (size_t i = 0; i < info->slots_count; i++) {
		if (!PAGES_RESERVE(table, slots)) {
			*ret = STEP_NOMEM;
			return false;
		}
		table->slots[table->slots_count++] = info->slots[i];
	}
	entry->slots_end = (uint32_t)table->slots_count;
	entry->frame_register = info->frame_register;
	entry->has_slots = true;
	return true;
}

/*
 * In a frame that was interrupted at a place without GC info: does the frame exist at that place?
 */
static bool frame_is_whole(const struct thread_walk *walk, const struct code_info *code)
{
	const struct unwind_function function = { .begin = code->function,
						  .unwind_info = code->unwind_info,
						  .image_base = code->image_base,
						  .is_active = true };
	return !walk->context.is_active || code->has_cfi ||
	       walk->arch->ops->frame_is_whole(walk->memory, &function, &walk->context.registers);
}

enum step walk_slots(struct thread_walk *walk, const struct code_info *code, bool no_untracked,
		     uint64_t caller_sp, uint32_t frame)
{
	const struct gc_slot *slots;
	size_t begin = 0, end, first = walk->stack->roots_count;
	uint8_t frame_register;
	bool is_unknown = false;
	/* Calls of some helpers are not safe points. */
	bool is_stopped = walk->context.is_active ||
			  (walk->native.in_helper && walk->stack->managed_count == 1);
	enum step step = STEP_ON;
	if (is_stopped || walk->context.is_aborted || no_untracked) {
		struct gc_info *info = &walk->walker->gc_info;
		if (!decode_frame_slots(walk, code, no_untracked, info, &step))
			return step;
		slots = info->slots;
		end = info->slots_count;
		frame_register = info->frame_register;
		is_unknown = info->is_unknown && is_stopped && !walk->context.is_aborted;
	} else {
		struct code_entry *entry = code_table_find(walk->walker, walk_ip(walk));
		if (!entry)
			return STEP_NOMEM;
		if (!entry->has_slots && !keep_slots(walk, entry, &step))
			return step;
		const struct code_table *table = &walk->walker->codes;
		slots = table->slots;
		begin = entry->slots_begin;
		end = entry->slots_end;
		frame_register = entry->frame_register;
	}
	if (is_unknown && !frame_is_whole(walk, code))
		end = begin;
	walk->is_unsure = is_unknown;
	for (size_t i = begin; i < end && step == STEP_ON; i++) {
		struct stack_root root = { .frame = frame, .kind = STACK_ROOT_FRAME };
		step = add_frame_slot(walk, &slots[i], frame_register, caller_sp, &root);
	}
	walk->is_unsure = false;
	/* The runtime would let it run on to where it knows. */
	if (step == STEP_ON && is_unknown)
		step = walk_frame_words(walk, caller_sp, frame, first);
	return step;
}

void stack_root_slot(const struct arch *arch, const struct stack_root *root,
		     char buf[STACK_SLOT_SIZE])
{
	buf[0] = 0;
	if (root->base >= arch->register_count)
		return;
	const char *name = arch->register_names[root->base];
	if (root->is_register) {
		(void)snprintf(buf, STACK_SLOT_SIZE, "%s", name);
	} else {
		int64_t offset = root->offset;
		(void)snprintf(buf, STACK_SLOT_SIZE, "%s%c%" PRIx64, name, offset < 0 ? '-' : '+',
			       (uint64_t)(offset < 0 ? -offset : offset));
	}
}
