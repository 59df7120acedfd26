/* SPDX-License-Identifier: MIT */
#include "unwind/registers.h"

void registers_of_thread(const struct arch *arch, const struct target_thread *thread,
			 struct registers *ret)
{
	*ret = (struct registers){ .arch = arch };
	for (unsigned int i = 0; i < arch->register_count; i++)
		ret->values[i] = arch_word(arch, thread->registers, i);
	ret->values[arch->ip] &= arch->space.code_mask;
}
