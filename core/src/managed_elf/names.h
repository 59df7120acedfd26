/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/text.h"

/** How long a name may be; the end of a longer one is left out. */
#define ELF_NAME_MAX 1000u

/** Append a name without a NUL: characters that nobody sees as escapes, and not longer than ELF_NAME_MAX. */
void elf_name_append(struct text *text, const char *name, size_t size);
