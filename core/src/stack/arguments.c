/* SPDX-License-Identifier: MIT */
#include "clr/module_proof.h"
#include "heap/heap.h"
#include "stack/ref_map.h"
#include "stack/walker.h"

/* TransitionBlock (UNIX_AMD64, cgencpu.h): six argument registers first, the stack's behind it. */
#define BLOCK_REGISTERS 6u
#define BLOCK_SIZE      104u
/* Words of arguments on the stack that are looked at where nothing says how many there are. */
#define STACK_ARGUMENTS 16u

/* Fields behind FramedMethodFrame (frames.h; 8, 9, 10). */
#define METHOD_FRAME_SIZE    32u
#define DYNAMIC_HELPER_FLAGS METHOD_FRAME_SIZE
#define EXTERNAL_METHOD_CELL METHOD_FRAME_SIZE
#define STUB_DISPATCH_CELL   (METHOD_FRAME_SIZE + 16)
/* What DynamicHelperFrameFlags say is an object. */
#define HELPER_FLAGS_ALL 3u

/* ProtectValueClassFrame: ValueClassInfo {next, MethodTable, data} (frames.h). */
#define VALUE_CLASS_INFO     16u
#define VALUE_CLASSES_MAX    1024u
#define VALUE_CLASS_SIZE_MAX 65536u

/*
 * HelperMethodFrame_1OBJ, _2OBJ, _3OBJ (8, 9): behind its machine state addresses of variables of
 * the function that it is one of itself.
 */
#define HELPER_POINTERS 232u
#define HELPER_OBJECTS  3u
#define HELPER_REACH    512u

/* A Frame whose arguments are not described: each word that may be a reference. */
static enum step add_block(struct walk *walk, uint64_t block, uint32_t frame)
{
	enum step step = STEP_ON;
	for (uint64_t i = 0; i < BLOCK_REGISTERS && step == STEP_ON; i++)
		step = walk_add_word(walk, block + 8 * i, STACK_ROOT_ARGUMENT, frame);
	for (uint64_t i = 0; i < STACK_ARGUMENTS && step == STEP_ON; i++)
		step = walk_add_word(walk, block + BLOCK_SIZE + 8 * i, STACK_ROOT_ARGUMENT, frame);
	return step;
}

static enum step add_argument(struct walk *walk, uint64_t address, uint8_t flags, uint32_t frame)
{
	struct stack_root root = { .address = address,
				   .frame = frame,
				   .kind = STACK_ROOT_ARGUMENT,
				   .flags = flags,
				   .base = REG_NONE };
	if (!memory_u64(walk->memory, address, &root.value))
		return STEP_ON;
	return walk_add_root(walk, &root);
}

/* A helper that ReadyToRun code calls with one or two objects. */
static enum step add_helper(struct walk *walk, const struct explicit_frame *frame, uint32_t index)
{
	uint32_t flags = 0;
	if (!memory_u32(walk->memory, frame->address + DYNAMIC_HELPER_FLAGS, &flags) ||
	    (flags & ~HELPER_FLAGS_ALL))
		return add_block(walk, frame->block, index);
	enum step step = STEP_ON;
	for (uint64_t i = 0; i < 2 && step == STEP_ON; i++) {
		if (flags & (1u << i))
			step = add_argument(walk, frame->block + 8 * i, 0, index);
	}
	return step;
}

/* A call out of ReadyToRun code by a cell, which has a map of its arguments. */
static enum step add_mapped(struct walk *walk, const struct explicit_frame *frame, uint32_t cell,
			    uint32_t index)
{
	struct ref_map map;
	uint64_t words[3]; /* Module, indirection cell, GCRefMap */
	if (!memory_read(walk->memory, frame->address + cell, words, sizeof(words)))
		return add_block(walk, frame->block, index);
	if (words[0])
		module_prove(walk->clr, words[0]);
	if (!ref_map_open(walk->clr, words, &map))
		return add_block(walk, frame->block, index);
	enum step step = STEP_ON;
	struct ref_map_token token;
	while (step == STEP_ON && ref_map_next(&map, &token)) {
		if (token.kind == REF_MAP_REFERENCE || token.kind == REF_MAP_INTERIOR) {
			step = add_argument(
				walk, frame->block + 8 * (uint64_t)token.position,
				token.kind == REF_MAP_INTERIOR ? STACK_ROOT_INTERIOR : 0, index);
		}
	}
	return step;
}

/* Structs that native code has made for a call by reflection: words that may be references. */
static enum step add_value_classes(struct walk *walk, const struct explicit_frame *frame,
				   uint32_t index)
{
	uint64_t info[3] = { 0 };
	(void)memory_u64(walk->memory, frame->address + VALUE_CLASS_INFO, &info[0]);
	for (unsigned int i = 0; info[0] && i < VALUE_CLASSES_MAX; i++) {
		uint64_t at = info[0];
		if (at % 8 != 0 || !memory_read(walk->memory, at, info, sizeof(info)))
			break;
		const struct type *type = type_find(walk->clr, info[1] & ~(uint64_t)7);
		if (!type || info[2] % 8 != 0)
			continue;
		/* A boxed one has its MethodTable and header besides. */
		uint64_t size = type->base_size > 16 ? type->base_size - 16 : 0;
		for (uint64_t j = 0; j + 8 <= size && j < VALUE_CLASS_SIZE_MAX; j += 8) {
			enum step step =
				walk_add_word(walk, info[2] + j, STACK_ROOT_ARGUMENT, index);
			if (step != STEP_ON)
				return step;
		}
	}
	return STEP_ON;
}

/* What a helper of 8 or 9 protects: variables of the function that the Frame is in. */
static enum step add_protected(struct walk *walk, const struct explicit_frame *frame,
			       uint32_t index)
{
	enum step step = STEP_ON;
	for (uint64_t i = 0; i < HELPER_OBJECTS && step == STEP_ON; i++) {
		uint64_t variable = 0, table = 0;
		struct stack_root root = { .frame = index,
					   .kind = STACK_ROOT_GC_FRAME,
					   .base = REG_NONE };
		if (!memory_u64(walk->memory, frame->address + HELPER_POINTERS + 8 * i,
				&variable) ||
		    variable % 8 != 0 ||
		    variable - frame->address + HELPER_REACH > 2 * (uint64_t)HELPER_REACH ||
		    !memory_u64(walk->memory, variable, &root.value))
			break;
		/* Which class it is of, and so how many it has, is not known. */
		if (root.value && (!is_heap_address(walk, root.value) || root.value % 8 != 0 ||
				   !memory_u64(walk->memory, root.value, &table) ||
				   !type_find(walk->clr, table & ~(uint64_t)7)))
			break;
		root.address = variable;
		step = walk_add_root(walk, &root);
	}
	return step;
}

enum step walk_arguments(struct walk *walk, const struct explicit_frame *frame, uint32_t index)
{
	if (frame->kind == FRAME_PROTECT_VALUE_CLASS)
		return add_value_classes(walk, frame, index);
	if (frame->kind == FRAME_HELPER_METHOD)
		return add_protected(walk, frame, index);
	if (!frame->block)
		return STEP_ON;
	if (frame->kind == FRAME_DYNAMIC_HELPER)
		return add_helper(walk, frame, index);
	if (frame->kind == FRAME_EXTERNAL_METHOD)
		return add_mapped(walk, frame, EXTERNAL_METHOD_CELL, index);
	if (frame->kind == FRAME_STUB_DISPATCH)
		return add_mapped(walk, frame, STUB_DISPATCH_CELL, index);
	return add_block(walk, frame->block, index);
}
