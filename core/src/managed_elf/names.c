/* SPDX-License-Identifier: MIT */
#include "managed_elf/names.h"

#include <ctype.h>
#include <string.h>

void elf_name_append(struct text *text, const char *name, size_t size)
{
	size_t kept = size < ELF_NAME_MAX ? size : ELF_NAME_MAX;
	while (kept && kept < size && utf8_continues(name[kept]))
		kept--;
	text_escape(text, name, kept);
	if (kept < size)
		text_puts(text, "...");
}

bool bare_name_append(struct text *text, const char *name, size_t size)
{
	size_t depth = 0; /* of generic arguments */
	size_t made = 0;  /* of a name that the compiler has made */
	bool is_generic = false;
	for (size_t i = 0; i < size; i++) {
		const bool opens = name[i] == '<', closes = name[i] == '>';
		const bool is_after_word = i && (isalnum((unsigned char)name[i - 1]) ||
						 name[i - 1] == '_' || (name[i - 1] & 0x80));
		if (opens && !made && (depth || is_after_word)) {
			depth++;
			is_generic = true;
		} else if (closes && depth) {
			depth--;
		} else if (!depth) {
			made += opens;
			made -= closes && made;
			text_append(text, name + i, 1);
		}
	}
	return is_generic;
}

bool type_name_is_made(const char *name)
{
	const char *plus = strrchr(name, '+');
	return plus && (plus[1] == '<' || strchr(plus, '@'));
}
