/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/text.h"

/** How long a name may be; the end of a longer one is left out. */
#define ELF_NAME_MAX 1000u

/** Append a name without a NUL: characters that nobody sees as escapes, and not longer than ELF_NAME_MAX. */
void elf_name_append(struct text *text, const char *name, size_t size);

/**
 * Append the name of a method without generic arguments, as users of breakpoints write it: Ns.Shelf.Put of
 * Ns.Shelf<System.String>.Put<System.Char>.  The `<` of names that the compiler has made, as `<Main>b__0`, stays.
 *
 * @param size Of the name without the method's arguments: managed_elf_name_size().
 * @return it has generic arguments
 */
bool bare_name_append(struct text *text, const char *name, size_t size);

/**
 * Is it the name of a type that the compiler made, for a lambda's variables, or for an async method or iterator?  In F# a
 * closure has the name of what it is in, and its line after an @.
 */
bool type_name_is_made(const char *name);
