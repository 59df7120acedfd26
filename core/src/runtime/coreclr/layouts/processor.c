/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layouts/processor.h"

#include "arch/arch.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"

/* CONTEXT.ContextFlags: the bits that name a processor, and some that no CONTEXT has. */
#define FLAGS_NONE 0x07ffff80u

const struct processor_layout *processor_layout(const struct runtime *runtime)
{
	return runtime_arch(runtime)->machine == arm64_layout.machine ? &arm64_layout
								      : &amd64_layout;
}

const struct hijack_layout *hijack_layout(const struct runtime *runtime)
{
	const struct processor_layout *layout = processor_layout(runtime);
	if (coreclr_has(runtime, CORECLR_LARGE_HIJACK))
		return &layout->hijack_11;
	return coreclr_has(runtime, CORECLR_HIJACK_CONTINUATION) ? &layout->hijack_10
								 : &layout->hijack_8;
}

uint8_t debug_register(const struct runtime *runtime, uint32_t number)
{
	const struct arch *arch = runtime_arch(runtime);
	uint32_t ambient = processor_layout(runtime)->ambient_sp;
	if (number == ambient)
		return arch->sp;
	/* No variable is in the instruction pointer. */
	return number < ambient && number != arch->ip ? (uint8_t)number : (uint8_t)ARCH_NONE;
}

uint8_t debug_float_register(const struct runtime *runtime, uint32_t number)
{
	const struct processor_layout *layout = processor_layout(runtime);
	uint32_t first = coreclr_has(runtime, CORECLR_LATE_FLOATS) ? layout->first_float_late
								   : layout->first_float;
	return number >= first && number - first < layout->float_count ? (uint8_t)(number - first)
								       : (uint8_t)ARCH_NONE;
}

uint64_t context_register(const struct runtime *runtime, unsigned int number)
{
	return processor_layout(runtime)->context.registers + 8 * (uint64_t)number;
}

/* CONTEXTs are 16-aligned. */
bool context_is_there(const struct runtime *runtime, uint64_t address)
{
	const struct processor_layout *layout = processor_layout(runtime);
	uint32_t flags = 0;
	return address % 16 == 0 &&
	       memory_u32(runtime->memory, address + layout->context.flags, &flags) &&
	       (flags & layout->context.flag) && !(flags & FLAGS_NONE & ~layout->context.flag) &&
	       layout->context.is_of_user(runtime, address);
}

uint64_t context_pointer(const struct runtime *runtime, unsigned int number)
{
	const struct processor_layout *layout = processor_layout(runtime);
	return layout->pointers + 8 * ((uint64_t)number - layout->first_pointer);
}
