/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "gc/heap.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/frames.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "runtime/coreclr/stack/coreclr_stack.h"
#include "runtime/coreclr/stack/ref_map.h"
#include "stack/walker.h"

/* How many words of arguments on the stack are read if their number is not known. */
#define STACK_ARGUMENTS 16u

/* How much of what a Frame protects is read. */
#define VALUE_CLASSES_MAX    1024u
#define VALUE_CLASS_SIZE_MAX 65536u
#define HELPER_REACH         512u
#define PROTECTED_MAX        65536u
#define UNTYPED_MAX          256u

/* A Frame whose arguments are not described: each word that may be a reference. */
static enum step add_block(struct thread_walk *walk, uint64_t block, uint32_t frame)
{
	const struct processor_layout *layout = processor_layout(walk->runtime);
	enum step step = STEP_ON;
	uint64_t words = block + layout->transition.words;
	for (uint64_t i = 0; i < layout->transition.word_count && step == STEP_ON; i++)
		step = walk_add_word(walk, words + 8 * i, STACK_ROOT_ARGUMENT, frame);
	uint64_t stack = block + layout->transition.size;
	for (uint64_t i = 0; i < STACK_ARGUMENTS && step == STEP_ON; i++)
		step = walk_add_word(walk, stack + 8 * i, STACK_ROOT_ARGUMENT, frame);
	return step;
}

static enum step add_argument(struct thread_walk *walk, uint64_t address, uint8_t flags,
			      uint32_t frame)
{
	struct stack_root root = { .address = address,
				   .frame = frame,
				   .kind = STACK_ROOT_ARGUMENT,
				   .flags = flags,
				   .base = ARCH_NONE };
	if (!memory_u64(walk->memory, address, &root.value))
		return STEP_ON;
	return walk_add_root(walk, &root);
}

/* A helper that ReadyToRun code calls with one or two objects. */
static enum step add_helper(struct thread_walk *walk, const struct explicit_frame *frame,
			    uint32_t flags_at, uint32_t index)
{
	uint32_t flags = 0;
	if (!memory_u32(walk->memory, frame->address + flags_at, &flags) ||
	    (flags & ~DYNAMIC_HELPER_FLAGS_ALL))
		return add_block(walk, frame->block, index);
	enum step step = STEP_ON;
	uint64_t first = frame->block + processor_layout(walk->runtime)->transition.arguments;
	for (uint64_t i = 0; i < 2 && step == STEP_ON; i++) {
		if (flags & (1u << i))
			step = add_argument(walk, first + 8 * i, 0, index);
	}
	return step;
}

/* A call from ReadyToRun code through a cell, which has a map of its arguments. */
static enum step add_mapped(struct thread_walk *walk, const struct explicit_frame *frame,
			    uint32_t cell, uint32_t index)
{
	struct ref_map map;
	uint64_t words[3]; /* Module, indirection cell, GCRefMap */
	if (!memory_read(walk->memory, frame->address + cell, words, sizeof(words)))
		return add_block(walk, frame->block, index);
	if (words[0])
		module_prove(walk->runtime, words[0]);
	if (!ref_map_open(walk->runtime, words, &map))
		return add_block(walk, frame->block, index);
	enum step step = STEP_ON;
	struct ref_map_token token;
	uint64_t first = frame->block + processor_layout(walk->runtime)->transition.words;
	while (step == STEP_ON && ref_map_next(&map, &token)) {
		if (token.kind == REF_MAP_REFERENCE || token.kind == REF_MAP_INTERIOR) {
			step = add_argument(
				walk, first + 8 * (uint64_t)token.position,
				token.kind == REF_MAP_INTERIOR ? STACK_ROOT_INTERIOR : 0, index);
		}
	}
	return step;
}

/* The words of a struct of the type at @p table that may be references. */
static enum step add_struct(struct thread_walk *walk, uint64_t table, uint64_t address,
			    uint32_t index)
{
	const struct type *type = type_find(walk->runtime, table & ~(uint64_t)7);
	enum step step = STEP_ON;
	if (!type || address % 8 != 0)
		return STEP_ON;
	/* A boxed struct also has a MethodTable and a header. */
	uint64_t size = type->base_size > 16 ? type->base_size - 16 : 0;
	for (uint64_t i = 0; i + 8 <= size && i < VALUE_CLASS_SIZE_MAX && step == STEP_ON; i += 8)
		step = walk_add_word(walk, address + i, STACK_ROOT_ARGUMENT, index);
	return step;
}

/* Structs that native code has made for a call by reflection: words that may be references. */
static enum step add_value_classes(struct thread_walk *walk, const struct explicit_frame *frame,
				   uint32_t index)
{
	bool is_by_ref = frame->kind == FRAME_PROTECT_BY_REFS;
	uint64_t info[3] = { 0 };
	enum step step = STEP_ON;
	(void)memory_u64(walk->memory, frame->address + VALUE_FRAME_INFO, &info[0]);
	for (unsigned int i = 0; info[0] && i < VALUE_CLASSES_MAX && step == STEP_ON; i++) {
		uint64_t at = info[0];
		if (at % 8 != 0 || !memory_read(walk->memory, at, info, sizeof(info)))
			break;
		if (!is_by_ref) {
			step = add_struct(walk, info[VALUE_CLASS_TABLE / 8],
					  info[VALUE_CLASS_DATA / 8], index);
			continue;
		}
		const struct type *type =
			type_find(walk->runtime, info[BY_REF_TYPE / 8] & ~(uint64_t)7);
		bool is_struct = type && type->category >= CATEGORY_VALUE &&
				 type->category <= CATEGORY_TRUE_PRIMITIVE;
		step = is_struct
			       ? add_struct(walk, info[BY_REF_TYPE / 8], at + BY_REF_DATA, index)
			       : walk_add_word(walk, at + BY_REF_DATA, STACK_ROOT_ARGUMENT, index);
	}
	return step;
}

/* The result of a hijacked call in 8 and 9; later, the JIT's information has it. */
static enum step add_returned(struct thread_walk *walk, const struct explicit_frame *frame,
			      uint32_t index)
{
	uint64_t arguments = 0;
	if (coreclr_has(walk->runtime, CORECLR_RESULTS_IN_GC_INFO) ||
	    !coreclr_pointer(walk->runtime, frame->address, L_HIJACK_FRAME_ARGS, &arguments))
		return STEP_ON;
	enum step step = walk_add_word(walk, arguments, STACK_ROOT_ARGUMENT, index);
	return step == STEP_ON ? walk_add_word(walk, arguments + 8, STACK_ROOT_ARGUMENT, index)
			       : step;
}

/* The variable at @p address, which the helper's own class says is a reference. */
static enum step add_variable(struct thread_walk *walk, uint64_t address, uint32_t index)
{
	struct stack_root root = {
		.address = address, .frame = index, .kind = STACK_ROOT_GC_FRAME, .base = ARCH_NONE
	};
	if (address % 8 != 0 || walk_is_heap_address(walk, address) ||
	    !memory_u64(walk->memory, address, &root.value)) {
		(void)walk_bad(walk, "a variable at %" PRIx64 " that a helper protects is missing",
			       address);
		walk->bad_sp = 0;
		return STEP_ON;
	}
	return walk_add_root(walk, &root);
}

/* A helper with a known class: what it protects is also known. */
static enum step add_typed(struct thread_walk *walk, const struct explicit_frame *frame,
			   uint32_t index)
{
	uint64_t words[HELPER_FRAME_OBJECTS] = { 0 };
	uint32_t count = (uint32_t)frame->kind - FRAME_HELPER_METHOD;
	bool is_array = frame->kind == FRAME_HELPER_METHOD_PROTECTOBJ;
	enum step step = STEP_ON;
	if (!count)
		return STEP_ON;
	if (!memory_read(walk->memory, frame->address + HELPER_FRAME_POINTERS, words,
			 (is_array ? 2 : count) * sizeof(words[0])))
		return STEP_ON;
	if (is_array)
		count = (uint32_t)words[1];
	if (count > PROTECTED_MAX) {
		(void)walk_bad(walk, "the Frame at %" PRIx64 " protects %" PRIu32 " variables",
			       frame->address, count);
		walk->bad_sp = 0;
		return STEP_ON;
	}
	for (uint32_t i = 0; i < count && step == STEP_ON; i++)
		step = add_variable(walk, is_array ? words[0] + 8 * (uint64_t)i : words[i], index);
	return step;
}

/*
 * Add the slots that a helper of 8 or 9 with an unknown class protects: variables of the function
 * that contains the Frame.
 */
static enum step add_protected(struct thread_walk *walk, const struct explicit_frame *frame,
			       uint32_t index)
{
	uint64_t words[2] = { 0 };
	enum step step = STEP_ON;
	/* The second word may be a count: the words that it counts are taken unchecked. */
	(void)memory_read(walk->memory, frame->address + HELPER_FRAME_POINTERS, words,
			  sizeof(words));
	uint32_t count = (uint32_t)words[1];
	for (uint64_t i = 1; i < count && count <= UNTYPED_MAX && step == STEP_ON; i++)
		step = walk_add_word(walk, words[0] + 8 * i, STACK_ROOT_GC_FRAME, index);
	for (uint64_t i = 0; i < HELPER_FRAME_OBJECTS && step == STEP_ON; i++) {
		uint64_t variable = 0, table = 0;
		struct stack_root root = { .frame = index,
					   .kind = STACK_ROOT_GC_FRAME,
					   .base = ARCH_NONE };
		if (!memory_u64(walk->memory, frame->address + HELPER_FRAME_POINTERS + 8 * i,
				&variable) ||
		    variable % 8 != 0 ||
		    variable - frame->address + HELPER_REACH > 2 * (uint64_t)HELPER_REACH ||
		    !memory_u64(walk->memory, variable, &root.value))
			break;
		if (root.value && (!walk_is_heap_address(walk, root.value) || root.value % 8 != 0 ||
				   !memory_u64(walk->memory, root.value, &table) ||
				   !type_find(walk->runtime, table & ~(uint64_t)7)))
			break;
		root.address = variable;
		step = walk_add_root(walk, &root);
	}
	return step;
}

enum step coreclr_stack_arguments(struct thread_walk *walk, const struct explicit_frame *frame,
				  uint32_t index)
{
	if (frame->kind == FRAME_PROTECT_VALUE_CLASS || frame->kind == FRAME_PROTECT_BY_REFS)
		return add_value_classes(walk, frame, index);
	if (frame_is_helper(frame->kind) && frame->is_typed)
		return add_typed(walk, frame, index);
	if (frame_is_helper(frame->kind))
		return add_protected(walk, frame, index);
	if (frame->kind == FRAME_HIJACK)
		return add_returned(walk, frame, index);
	if (!frame->block)
		return STEP_ON;
	const struct frame_layout *layout = frame_kind_layout((enum frame_kind)frame->kind);
	if (layout->arguments)
		return add_helper(walk, frame, layout->arguments, index);
	if (layout->ref_map)
		return add_mapped(walk, frame, layout->ref_map, index);
	return add_block(walk, frame->block, index);
}
