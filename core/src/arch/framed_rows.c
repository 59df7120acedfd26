/* SPDX-License-Identifier: MIT */
#include "arch/framed_rows.h"

#include <elf.h>

#include "arch/arch.h"
#include "arch/x86_64/framed_rows.h"

bool framed_rows_are_known(const struct arch *arch)
{
	return arch->machine == EM_X86_64;
}

bool framed_rows_write(const struct arch *arch, const uint8_t *code, size_t size, struct text *ret)
{
	return framed_rows_are_known(arch) && x86_64_framed_rows(code, size, ret);
}

bool framed_function_ends(const struct arch *arch, const uint8_t *code, size_t at)
{
	return framed_rows_are_known(arch) && x86_64_ends_function(code, at);
}
