/* SPDX-License-Identifier: MIT */
#include "managed_elf/names.h"

void elf_name_append(struct text *text, const char *name, size_t size)
{
	size_t kept = size < ELF_NAME_MAX ? size : ELF_NAME_MAX;
	while (kept && kept < size && utf8_continues(name[kept]))
		kept--;
	text_escape(text, name, kept);
	if (kept < size)
		text_puts(text, "...");
}
