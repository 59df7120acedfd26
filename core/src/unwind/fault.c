/* SPDX-License-Identifier: MIT */
#include "unwind/fault.h"

/* How many bytes of a stack are searched for the context of a signal. */
#define STACK_SEARCH ((uint64_t)1 << 20)

/* A ucontext at @p address, of a fault in code of a file? */
static bool read_fault_context(const struct target *target, uint64_t address, struct registers *ret)
{
	struct registers registers;
	if (address % 8 ||
	    !target->arch->ops->signal_context(target->memory, address, &registers) ||
	    !target_mapping_at(&target->map, registers_ip(&registers)))
		return false;
	*ret = registers;
	return true;
}

/* The handler's argument points to the context, or the context is on the stack itself: @p ret_address. */
static bool find_context(const struct target *target, uint64_t stack, struct registers *ret,
			 uint64_t *ret_address)
{
	uint64_t begin = stack & ~(uint64_t)7;
	for (uint64_t at = begin; at - begin < STACK_SEARCH; at += 8) {
		uint64_t word = 0;
		if (!memory_u64(target->memory, at, &word))
			return false;
		bool is_here = read_fault_context(target, at, ret);
		if (is_here || read_fault_context(target, word, ret)) {
			*ret_address = is_here ? at : word;
			return true;
		}
	}
	return false;
}

/*
 * Where the file begins in memory: a file may be mapped twice, as it is and as an image, so it is the
 * nearest mapping of its first byte.
 */
static uint64_t file_begin(const struct target *target, const struct target_mapping *mapping)
{
	const struct target_mapping *begin = mapping;
	for (const struct target_mapping *at = mapping;
	     begin->offset && at > target->map.mappings;) {
		at--;
		if (strcmp(at->path, mapping->path) == 0)
			begin = at;
	}
	return begin->start;
}

bool fault_find(const struct target *target, struct fault *ret)
{
	const struct target_thread *thread = target_crashed_thread(target);
	if (!thread)
		return false;
	struct fault fault = { .signal = thread->signal, .tid = thread->tid };
	registers_of_thread(target->arch, thread, &fault.registers);
	const struct arch_ops *ops = target->arch->ops;
	uint64_t context = 0;
	fault.is_in_handler =
		find_context(target, registers_sp(&fault.registers), &fault.registers, &context);
	fault.has_address = fault.is_in_handler && ops->fault_address &&
			    ops->fault_address(target->memory, context, &fault.address);
	uint64_t code = registers_ip(&fault.registers);
	const struct target_mapping *mapping = target_mapping_at(&target->map, code);
	if (mapping && mapping->path && *mapping->path) {
		fault.mapping = mapping;
		fault.offset = code - file_begin(target, mapping);
	}
	*ret = fault;
	return true;
}
