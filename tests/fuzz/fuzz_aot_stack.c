/* SPDX-License-Identifier: MIT */
/* covers: core/src/runtime/nativeaot/stack core/src/runtime/nativeaot/layouts/transition_frame.c core/src/arch/arm64/opcodes.c */
#include <elf.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "gc/heap.h"
#include "input_memory.h"
#include "linear.h"
#include "runtime/code.h"
#include "runtime/function_list.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/runtime_ops.h"
#include "stack/stack.h"
#include "util/job.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A program, its thread and its stack, as make_aot_images.py writes them: an ELF image, whose bytes are the memory from
 * BASE on.  In bytes that no loader reads there are the release and flags.
 */
#define BASE       ((uint64_t)0x10000000)
#define RELEASE_AT 8u
#define FLAGS_AT   9u
#define IMAGE_SIZE 0x1000u
#define CODE       0x800u
#define CODE_SIZE  0x600u
#define THREAD     0x1000u
#define REGISTERS  0x1180u /* rip, rsp, rbp */
#define STACK      0x1200u
#define INPUT_MAX  0x10000u

#define FLAG_NO_REGISTERS 1u
#define FLAG_CONSERVATIVE 2u
#define FLAG_COOPERATIVE  4u
#define FLAG_ARM64        8u

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_stack(const struct thread_stack *stack)
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
	for (size_t i = 0; i < stack->roots_count; i++)
		check(stack->roots[i].value != 0);
}

static void use_thread(struct runtime *runtime, struct heap *heap, uint8_t flags)
{
	struct stack_walker *walker = NULL;
	struct thread_stack stack;
	struct job job = { .workers = 1 };
	const struct stack_options options = { .conservative = flags & FLAG_CONSERVATIVE };
	const struct runtime_thread thread = { .address = BASE + THREAD,
					       .id = 1,
					       .os_id = 7,
					       .is_cooperative = flags & FLAG_COOPERATIVE };
	check(stack_walker_create(runtime, heap, &walker, NULL) == HD_OK);
	check(stack_walk(walker, &thread, &options, &job, &stack, NULL) == HD_OK);
	check_stack(&stack);
	thread_stack_deinit(&stack);
	stack_walker_destroy(walker);
}

/* The functions ascend and do not overlap, and what is written about each is kept or taken back. */
static void use_functions(struct runtime *runtime)
{
	struct job job = { .workers = 1 };
	struct code_functions functions;
	struct text rows = { 0 };
	uint64_t last = 0;
	check(code_functions_read(runtime, &job, &functions, NULL) == HD_OK);
	for (size_t i = 0; i < functions.rows_count; i++) {
		const struct code_function *row = &functions.rows[i];
		size_t before = rows.size;
		check(row->begin >= last && row->begin < row->end);
		last = row->end;
		check(code_function_rows(runtime, row, &rows) || rows.size == before);
	}
	text_deinit(&rows);
	code_functions_deinit(&functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size <= STACK || size > INPUT_MAX)
		return 0;
	struct input_memory memory = input_memory_at(BASE, data, size, false);
	static char path[] = "/program";
	struct target_mapping mapping = { .start = BASE, .end = BASE + IMAGE_SIZE, .path = path };
	struct target_module module = { .path = path, .base = BASE };
	const uint64_t end = BASE + size / 8 * 8;
	struct target_range ranges[] = {
		{ .start = BASE, .end = BASE + THREAD, .captured = THREAD, .flags = PF_R | PF_X },
		{ .start = BASE + STACK,
		  .end = end,
		  .captured = end - (BASE + STACK),
		  .flags = PF_R | PF_W },
	};
	struct target_thread registers = { .tid = 7 };
	const struct arch *arch = data[FLAGS_AT] & FLAG_ARM64 ? &arch_arm64 : &arch_x86_64;
	registers.registers[arch->words_of_registers[arch->ip]] = load_u64(data + REGISTERS);
	registers.registers[arch->words_of_registers[arch->sp]] = load_u64(data + REGISTERS + 8);
	registers.registers[arch->words_of_registers[arch->fp]] = load_u64(data + REGISTERS + 16);
	struct target target = { .arch = arch,
				 .kind = TARGET_CORE,
				 .memory = &memory.memory,
				 .own = &memory.memory,
				 .map.mappings = &mapping,
				 .map.mapping_count = 1,
				 .map.ranges = ranges,
				 .map.range_count = 2,
				 .modules = &module,
				 .module_count = 1,
				 .threads.rows = &registers,
				 .threads.count = data[FLAGS_AT] & FLAG_NO_REGISTERS ? 0 : 1 };
	struct nativeaot aot = {
		.base = { .ops = &nativeaot_ops, .target = &target, .memory = &memory.memory },
		.module = &module,
		.major = AOT_MAJOR_FIRST + data[RELEASE_AT] % 4,
		.code = BASE + CODE,
		.code_size = CODE_SIZE
	};
	aot_layout_init(&aot.layout, aot.major);
	check(runtime_type_table_create(&aot.base.types, NULL) == HD_OK);
	struct heap heap = { .runtime = &aot.base, .space = arch->space, .memory = &memory.memory };
	struct linear linear = linear_begin(size);
	use_thread(&aot.base, &heap, data[FLAGS_AT]);
	use_functions(&aot.base);
	linear_end(&linear, "the stack of a NativeAOT program");
	aot_code_destroy(&aot.base);
	runtime_base_deinit(&aot.base);
	findings_deinit(&target.findings);
	return 0;
}
