/* SPDX-License-Identifier: MIT */
/* covers: core/src/arch/x86_64/unwind_codes.c core/src/arch/x86_64/unwind_info.c core/src/arch/x86_64/unwind_rows.c
 * core/src/arch/arm64/unwind_codes.c core/src/arch/arm64/unwind_record.c
 * core/src/arch/arm64/unwind_rows.c */
#include <stdlib.h>

#include "arch/arch.h"
#include "input_memory.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE ((uint64_t)0x7f0000000000)

/* Where things are in the input, which is the memory from BASE on. */
struct head {
	uint16_t unwind_info, begin, rip, stack, frame;
	uint16_t is_active;
};

/* The rows take a few bytes for each code, and for each byte of code in an epilogue; or there are none. */
static void write_rows(struct input_memory *input, const struct arch *arch,
		       const struct unwind_function *function, size_t size)
{
	HD_CLEANUP(text) struct text rows = { 0 };
	text_puts(&rows, "kept");
	bool done = arch->ops->managed_rows(&input->memory, function, size, &rows);
	if ((!done && rows.size != 4) || rows.size > 64 * size + 16384 ||
	    memcmp(rows.bytes, "kept", 4) != 0)
		abort();
}

static void check_step(struct memory *memory, const struct arch *arch, const struct head *head,
		       const struct unwind_function *function)
{
	struct registers registers = { .arch = arch }, before;
	for (unsigned int i = 0; i < arch->register_count; i++)
		registers.values[i] = BASE + head->frame + 8 * (uint64_t)i;
	registers.values[arch->ip] = BASE + head->rip;
	registers.values[arch->sp] = BASE + head->stack;
	before = registers;
	(void)arch->ops->frame_is_whole(memory, function, &registers);
	bool done = arch->ops->managed_step(memory, function, &registers);
	if (!done && memcmp(&registers, &before, sizeof(before)) != 0)
		abort();
	/* A loaded register has the value of its slot; that of an address of code may be signed. */
	for (unsigned int i = 0; i < arch->register_count; i++) {
		uint64_t value, mask = i == arch->ip ? arch->space.code_mask : UINT64_MAX;
		if (done && registers.slots[i] && i != arch->sp &&
		    (!memory_u64(memory, registers.slots[i], &value) ||
		     (value & mask) != registers.values[i]))
			abort();
	}
}

/* Any bytes as unwind codes, code and stack: done, or nothing changed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head;
	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	struct input_memory input = input_memory_at(BASE, data, size, false);
	struct unwind_function function = { .begin = BASE + head.begin,
					    .unwind_info = BASE + head.unwind_info,
					    .image_base = BASE,
					    .is_active = head.is_active & 1 };
	check_step(&input.memory, &arch_x86_64, &head, &function);
	check_step(&input.memory, &arch_arm64, &head, &function);
	write_rows(&input, &arch_x86_64, &function, size);
	write_rows(&input, &arch_arm64, &function, size);
	return 0;
}
