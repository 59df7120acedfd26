/* SPDX-License-Identifier: MIT */
#include "support/fake_stack.h"

#include <elf.h>
#include <stdlib.h>

#include "arch/x86_64/frame_registers.h"
#include "runtime/coreclr/code/code.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Where the runtime's data about code begins, in the image of the code. */
#define DATA_BEGIN 0x10000u
#define MAP_UNITS  (FAKE_CODE_SIZE / 256)

static void make_map(struct fake_stack *stack)
{
	struct fake_memory *memory = stack->memory;
	uint64_t slot = fake_range_map(stack->fake, FAKE_CODE);
	uint64_t fragment = fake_alloc(memory, 32);
	stack->section = fake_alloc(memory, 64);
	stack->node = fake_alloc(memory, 64);
	stack->map = fake_alloc(memory, (uint64_t)4 * MAP_UNITS);
	fake_poke_u64(memory, slot, fragment);
	fake_poke_u64(memory, fragment + 8, FAKE_CODE);
	fake_poke_u64(memory, fragment + 16, FAKE_CODE + FAKE_CODE_SIZE);
	fake_poke_u64(memory, fragment + 24, stack->section);
	fake_poke_u64(memory, stack->section, FAKE_CODE);
	fake_poke_u64(memory, stack->section + 8, FAKE_CODE + FAKE_CODE_SIZE);
	fake_poke_u64(memory, stack->section + 40, stack->node);
	fake_poke_u64(memory, fake_at(stack->fake, stack->node, L_CODE_HEAP_MAP_BASE), FAKE_CODE);
	fake_poke_u64(memory, fake_at(stack->fake, stack->node, L_CODE_HEAP_HEADER_MAP),
		      stack->map);
}

struct fake_stack *fake_stack_create(struct fake_clr *fake)
{
	static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0 };
	struct fake_stack *stack = calloc(1, sizeof(*stack));
	if (!stack)
		abort();
	stack->fake = fake;
	stack->memory = &fake->memory;
	stack->thread = fake_thread(fake);
	stack->runtime = fake_runtime(fake);
	coreclr_of(stack->runtime)->gc_info_version = fake_is_from(fake, 11) ? 5 : 4;
	for (unsigned int kind = 1; kind <= FRAME_EXCEPTION_FILTER; kind++)
		coreclr_of(stack->runtime)->frames.identifiers[kind] = kind;
	make_map(stack);
	fake_map(stack->memory, FAKE_CODE, FAKE_CODE_SIZE + 0x1000);
	fake_map(stack->memory, FAKE_STACK, FAKE_STACK_SIZE);
	fake_poke(stack->memory, FAKE_NATIVE - sizeof(call), call, sizeof(call));
	fake_poke(stack->memory, FAKE_RESTORER, restorer, sizeof(restorer));
	stack->next_method = FAKE_CODE + FAKE_METHOD_SIZE;
	stack->data = FAKE_CODE + DATA_BEGIN;
	stack->ranges[0] = (struct target_range){ .start = FAKE_CODE,
						  .end = FAKE_CODE + FAKE_CODE_SIZE + 0x1000,
						  .flags = PF_R | PF_X };
	stack->ranges[1] = (struct target_range){ .start = FAKE_STACK,
						  .end = FAKE_STACK + FAKE_STACK_SIZE,
						  .flags = PF_R | PF_W };
	for (size_t i = 0; i < 2; i++)
		stack->ranges[i].captured = stack->ranges[i].end - stack->ranges[i].start;
	fake->target.map.ranges = stack->ranges;
	fake->target.map.range_count = 2;
	stack->registers.tid = (int32_t)stack->thread->os_id;
	fake->target.threads.rows = &stack->registers;
	fake->target.threads.count = 1;
	stack->frame_slot = fake_at(fake, stack->thread->address, L_THREAD_FRAME);
	fake_poke_u64(stack->memory, stack->frame_slot, UINT64_MAX);
	return stack;
}

void fake_stack_destroy(struct fake_stack *stack)
{
	struct target *target = &stack->fake->target;
	target->map.ranges = NULL;
	target->threads.rows = NULL;
	target->map.range_count = target->threads.count = 0;
	fake_forget_code(stack->fake);
	free(stack);
}

/* Bits of a GCInfo, lowest first. */
struct bits {
	uint8_t bytes[256];
	size_t count;
};

static void put(struct bits *bits, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++, bits->count++)
		bits->bytes[bits->count / 8] |= (uint8_t)((value >> i & 1) << (bits->count % 8));
}

/* A number of variable length: pieces of @p base bits, each with one more that says "go on". */
static void put_number(struct bits *bits, uint64_t value, unsigned int base)
{
	do {
		uint64_t rest = value >> base;
		put(bits, (value & ((1u << base) - 1)) | (rest ? 1u << base : 0), base + 1);
		value = rest;
	} while (value);
}

/* The same with a sign; of small numbers. */
static void put_signed(struct bits *bits, int64_t value, unsigned int base)
{
	put(bits, (uint64_t)value & ((1u << base) - 1), base);
	put(bits, 0, 1);
}

#define CALLS (FAKE_METHOD_SIZE / 16 - 1)

/* A slim header, a safe point after each call (gcinfoencoder.cpp). */
static uint64_t make_gc_info(struct fake_stack *stack, const struct fake_method *method)
{
	struct bits bits = { .count = 0 };
	bool has_register = method->saves_rbx;
	put(&bits, 0, 1); /* slim */
	put(&bits, 1, 1); /* with rbp as the frame register */
	put_number(&bits, FAKE_METHOD_SIZE, 8);
	put_number(&bits, has_register ? CALLS : 0, 2);
	for (unsigned int i = 1; has_register && i <= CALLS; i++)
		put(&bits, 16 * (uint64_t)i, 9);
	put(&bits, has_register, 1);
	if (has_register)
		put_number(&bits, 1, 2);
	put(&bits, method->slots != 0, 1);
	if (method->slots) {
		put_number(&bits, 0, 2);
		put_number(&bits, method->slots, 1);
	}
	if (has_register) {
		put_number(&bits, REG_RBX, 3);
		put(&bits, 0, 2);
	}
	for (unsigned int i = 0; i < method->slots; i++) {
		put(&bits, 1, 2); /* from SP */
		if (i == 0 || method->flags) {
			put_signed(&bits, (int64_t)i, 6);
			put(&bits, method->flags, 2);
		} else {
			put_number(&bits, 1, 4);
		}
	}
	if (has_register) {
		put(&bits, 0, 1); /* the live slots of each safe point follow */
		for (unsigned int i = 1; i <= CALLS; i++)
			put(&bits, 1, 1);
	}
	uint64_t address = fake_alloc(stack->memory, sizeof(bits.bytes) + 64);
	fake_poke(stack->memory, address, bits.bytes, sizeof(bits.bytes));
	return address;
}

/* UNWIND_INFO: push rbp; [push rbx;] sub rsp. */
static uint64_t make_unwind_info(struct fake_stack *stack, bool saves_rbx)
{
	unsigned int locals = FAKE_LOCALS / 8 - 1 - saves_rbx;
	const uint8_t plain[] = { 1, 8, 2, 0, 8, (uint8_t)(locals << 4 | 2), 1, 0x50 };
	const uint8_t saving[] = { 1, 8, 3, 0, 8, (uint8_t)(locals << 4 | 2), 2, 0x30, 1, 0x50 };
	uint64_t address = stack->data;
	stack->data += 16;
	if (saves_rbx) {
		fake_poke(stack->memory, address, saving, sizeof(saving));
	} else {
		fake_poke(stack->memory, address, plain, sizeof(plain));
	}
	return address;
}

static void put_nibble(struct fake_stack *stack, uint64_t code)
{
	uint64_t offset = code - FAKE_CODE, unit = offset / 256;
	uint32_t nibbles = 0, value = (uint32_t)(offset % 32 / 4 + 1);
	uint64_t word = fake_peek_u64(stack->memory, stack->map + 8 * (unit / 2));
	memcpy(&nibbles, (const uint8_t *)&word + 4 * (unit % 2), 4);
	nibbles |= value << (28 - 4 * (offset / 32 % 8));
	fake_poke_u32(stack->memory, stack->map + 4 * unit, nibbles);
	/* From 10 on a unit without a start says where its method begins. */
	for (uint64_t next = unit + 1; next < unit + FAKE_METHOD_SIZE / 256; next++) {
		fake_poke_u32(stack->memory, stack->map + 4 * next,
			      (uint32_t)(offset & ~31u) + 9 + (uint32_t)(offset % 32 / 4));
	}
}

uint64_t fake_method(struct fake_stack *stack, const struct fake_method *method)
{
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0 };
	struct fake_memory *memory = stack->memory;
	uint64_t code = stack->next_method;
	stack->next_method += FAKE_METHOD_SIZE;
	uint64_t header = fake_alloc(memory, 128), clauses = fake_alloc(memory, 128) + 16;
	uint32_t begin = (uint32_t)(code - FAKE_CODE);
	uint32_t info = (uint32_t)(make_unwind_info(stack, method->saves_rbx) - FAKE_CODE);
	uint32_t functions[2][3] = { { begin, begin + FAKE_METHOD_SIZE, info },
				     { begin + FAKE_FUNCLET, begin + FAKE_METHOD_SIZE, info } };
	if (method->has_funclet)
		functions[0][1] = begin + FAKE_FUNCLET;
	fake_poke_u64(memory, clauses - 8, 1);
	fake_poke_u32(memory, clauses + 8, method->filter);
	fake_poke_u32(memory, clauses + 8 + 24, FAKE_FUNCLET);
	fake_poke_u64(memory, fake_at(stack->fake, header, L_CODE_HEADER_CLAUSES), clauses);
	const struct fake_clr *fake = stack->fake;
	fake_poke_u64(memory, fake_at(fake, header, L_CODE_HEADER_GC_INFO),
		      make_gc_info(stack, method));
	fake_poke_u64(memory, fake_at(fake, header, L_CODE_HEADER_METHOD),
		      code + 0x1000000); /* a MethodDesc that is none */
	fake_poke_u32(memory, fake_at(fake, header, L_CODE_HEADER_UNWIND_COUNT),
		      method->has_funclet ? 2 : 1);
	fake_poke(memory, fake_at(fake, header, L_CODE_HEADER_UNWIND), functions,
		  method->has_funclet ? 24 : 12);
	fake_poke_u64(memory, code - 8, header);
	for (unsigned int i = 1; i <= CALLS; i++)
		fake_poke(memory, fake_call(code, i) - sizeof(call), call, sizeof(call));
	/* The last call of the method before it: its header stands there. */
	fake_poke_u64(memory, code - 8, header);
	put_nibble(stack, code);
	return code;
}

uint64_t fake_frame(struct fake_stack *stack, uint64_t sp, uint64_t rbp, uint64_t return_address)
{
	fake_poke_u64(stack->memory, sp + FAKE_LOCALS, rbp);
	uint64_t signature = FAKE_SIGNATURE & ~stack->fake->target.arch->space.code_mask;
	fake_poke_u64(stack->memory, sp + FAKE_LOCALS + 8, return_address | signature);
	return sp + FAKE_FRAME_SIZE;
}

void fake_stop_at(struct fake_stack *stack, uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	const struct arch *arch = stack->fake->target.arch;
	const uint8_t *words = arch->words_of_registers;
	stack->registers.registers[words[arch->ip]] = rip;
	stack->registers.registers[words[arch->sp]] = rsp;
	stack->registers.registers[words[arch->fp]] = rbp;
}

void fake_explicit(struct fake_stack *stack, uint64_t address, enum frame_kind kind)
{
	fake_poke_u64(stack->memory, stack->frame_slot, address);
	fake_poke_u64(stack->memory, address, (uint64_t)kind);
	fake_poke_u64(stack->memory, address + 8, UINT64_MAX);
	stack->frame_slot = address + 8;
}

void fake_inlined_call(struct fake_stack *stack, uint64_t address, uint64_t ip, uint64_t sp,
		       uint64_t rbp)
{
	fake_explicit(stack, address, FRAME_INLINED_CALL);
	const struct fake_clr *fake = stack->fake;
	fake_poke_u64(stack->memory, fake_at(fake, address, L_CALL_FRAME_SP), sp);
	fake_poke_u64(stack->memory, fake_at(fake, address, L_CALL_FRAME_RETURN), ip);
	fake_poke_u64(stack->memory, fake_at(fake, address, L_CALL_FRAME_FP), rbp);
}

void fake_context_record(struct fake_stack *stack, uint64_t address, uint64_t rip, uint64_t rsp,
			 uint64_t rbp)
{
	fake_poke_u32(stack->memory, address + 0x30, 0x10000b);
	fake_poke_u32(stack->memory, address + 0x38, 0x33);
	fake_poke_u64(stack->memory, address + 0xf8, rip);
	fake_poke_u64(stack->memory, address + 0x98, rsp);
	fake_poke_u64(stack->memory, address + 0xa0, rbp);
}

void fake_walk(struct fake_stack *stack, const struct stack_options *options,
	       struct thread_stack *ret)
{
	static const struct stack_options none = { .conservative = false };
	struct stack_walker *walker = NULL;
	struct job job = { .workers = 1 };
	if (stack_walker_create(stack->runtime, fake_heap(stack->fake), &walker, NULL) != HD_OK ||
	    stack_walk(walker, stack->thread, options ? options : &none, &job, ret, NULL) != HD_OK)
		abort();
	stack_walker_destroy(walker);
}
