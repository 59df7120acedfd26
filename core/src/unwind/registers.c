/* SPDX-License-Identifier: MIT */
#include "unwind/registers.h"

void registers_of_thread(const struct target_thread *thread, struct registers *ret)
{
	*ret = (struct registers){ 0 };
	for (unsigned int i = 0; i < REG_ROWS; i++)
		ret->values[i] = thread->registers[register_kernel_words[i]];
}
