/* SPDX-License-Identifier: MIT */
/* covers: core/src/stack */
#include <elf.h>
#include <stdlib.h>

#include "arch/x86_64/register_table.h"
#include "gc/heap.h"
#include "input_memory.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "stack/stack.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The image of a thread and all that it runs: its bytes are the memory from BASE on, and its first
 * ones say where things are (make_stack_images.py writes such images).  Places are offsets from
 * BASE, in words but for rip.
 */
#define BASE ((uint64_t)0x10000000)

struct image {
	uint16_t thread, dac_table;
	uint16_t stack_begin, stack_end;
	uint16_t other_begin, other_end; /* another stack */
	uint16_t segment_begin, segment_end;
	uint16_t rip, rsp, rbp, rbx;
	uint8_t flags; /* 1: 9 in place of 10; 2: cooperative; 4: no registers; 8: conservative;
			  16: the mappings are not known; 32: frames alone */
	uint8_t unused[7];
};

#define FLAG_9            1u
#define FLAG_COOPERATIVE  2u
#define FLAG_NO_REGISTERS 4u
#define FLAG_CONSERVATIVE 8u
#define FLAG_NO_RANGES    16u
#define FLAG_NO_ROOTS     32u

static uint64_t place(uint16_t words)
{
	return BASE + 8 * (uint64_t)words;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* Everything that makes a stack must hold whatever the bytes were. */
static void check_stack(const struct thread_stack *stack, const struct heap *heap)
{
	uint32_t managed = 0;
	check(!(stack->is_missing && stack->frames_count));
	check(!stack->is_partial || stack->why[0]);
	for (size_t i = 0; i < stack->frames_count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		check((frame->kind == STACK_EXPLICIT) == (frame->name != NULL));
		managed += frame->kind == STACK_MANAGED;
	}
	check(managed == stack->managed_count);
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		char slot[STACK_SLOT_SIZE];
		stack_root_slot(&arch_x86_64, root, slot);
		check(root->value &&
		      (root->frame == UINT32_MAX || root->frame < stack->frames_count));
		check(!(root->flags & STACK_ROOT_CONSERVATIVE) ||
		      heap_segment_at(heap, root->value));
	}
}

static void use_thread(struct runtime *runtime, struct heap *heap,
		       const struct runtime_thread *thread, uint8_t flags)
{
	struct stack_walker *walker = NULL;
	struct thread_stack stack;
	struct job job = { .workers = 1 };
	const struct stack_options options = { .conservative = flags & FLAG_CONSERVATIVE,
					       .no_roots = flags & FLAG_NO_ROOTS };
	check(stack_walker_create(runtime, heap, &walker, NULL) == HD_OK);
	/* Again, out of what the first walk has kept. */
	for (unsigned int i = 0; i < 2; i++) {
		check(stack_walk(walker, thread, &options, &job, &stack, NULL) == HD_OK);
		check_stack(&stack, heap);
		thread_stack_deinit(&stack);
	}
	stack_walker_destroy(walker);
}

static void make_clr(const struct image *image, struct target *target, struct coreclr *coreclr)
{
	*coreclr = (struct coreclr){ .base.ops = &coreclr_ops,
				     .base.target = target,
				     .base.memory = target->memory,
				     .major = image->flags & FLAG_9 ? 9 : 10,
				     .gc_info_version = image->flags & FLAG_9 ? 3 : 4,
				     .globals.dac_table = place(image->dac_table),
				     .globals.dac_count = 1 };
	for (unsigned int i = 1; coreclr->major == 10 && i <= FRAME_EXCEPTION_FILTER; i++)
		coreclr->frames.identifiers[i] = i;
	layout_init(&coreclr->layout);
	layout_fill(&coreclr->layout, coreclr->major, ORIGIN_SERIES);
	check(runtime_type_table_create(&coreclr->base.types, NULL) == HD_OK);
	check(module_table_create(&coreclr->base, &coreclr->modules, NULL) == HD_OK);
}

static size_t make_ranges(const struct image *image, uint64_t size, struct target_range *ranges)
{
	const struct target_range all[] = {
		{ .start = BASE, .end = place(image->stack_begin), .flags = PF_R | PF_X },
		{ .start = place(image->stack_begin),
		  .end = place(image->stack_end),
		  .flags = PF_R | PF_W },
		{ .start = place(image->other_begin),
		  .end = place(image->other_end),
		  .flags = PF_R | PF_W },
	};
	size_t count = 0;
	uint64_t from = BASE;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].start < from || all[i].end <= all[i].start ||
		    all[i].end - BASE > size + 0x1000)
			continue;
		ranges[count] = all[i];
		ranges[count].captured = all[i].end - all[i].start;
		from = ranges[count++].end;
	}
	return image->flags & FLAG_NO_RANGES ? 0 : count;
}

/* Any image: Frames, exceptions, code, unwind codes, GC info, stacks; no crash, no hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image;
	if (size < sizeof(image) || size > 65536)
		return 0;
	memcpy(&image, data, sizeof(image));
	struct input_memory memory = input_memory_at(BASE, data, size, false);
	struct target_range ranges[3];
	struct target_thread registers = { .tid = 7 };
	registers.registers[REGISTER_RIP] = BASE + image.rip;
	registers.registers[REGISTER_RSP] = place(image.rsp);
	registers.registers[REGISTER_RBP] = place(image.rbp);
	registers.registers[REGISTER_RBX] = place(image.rbx);
	struct target target = { .arch = &arch_x86_64,
				 .kind = TARGET_CORE,
				 .memory = &memory.memory,
				 .own = &memory.memory,
				 .map.ranges = ranges,
				 .map.range_count = make_ranges(&image, size, ranges),
				 .threads.rows = &registers,
				 .threads.count = image.flags & FLAG_NO_REGISTERS ? 0 : 1 };
	struct coreclr runtime;
	make_clr(&image, &target, &runtime);
	struct segment segment = { .begin = place(image.segment_begin),
				   .end = place(image.segment_end) };
	struct heap heap = { .runtime = &runtime.base,
			     .space = arch_x86_64.space,
			     .memory = &memory.memory,
			     .heap_count = 1,
			     .segments = &segment,
			     .segment_count = segment.begin < segment.end };
	struct runtime_thread thread = { .address = place(image.thread),
					 .id = 1,
					 .os_id = 7,
					 .is_cooperative = image.flags & FLAG_COOPERATIVE };
	use_thread(&runtime.base, &heap, &thread, image.flags);
	code_tables_destroy(runtime.code);
	module_table_destroy(runtime.modules);
	runtime_base_deinit(&runtime.base);
	findings_deinit(&target.findings);
	return 0;
}
