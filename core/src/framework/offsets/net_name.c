/* SPDX-License-Identifier: MIT */
#include "framework/offsets/net_layout.h"

/* The bytes of the type arguments at @p name: "<A,B<C>>" or "`2"; 0: there are none. */
static size_t size_of_arguments(const char *name, size_t size)
{
	size_t at = 0, depth = 0;
	if (size && name[0] == '`') {
		for (at = 1; at < size && name[at] >= '0' && name[at] <= '9'; at++)
			;
		return at;
	}
	if (!size || name[0] != '<')
		return 0;
	for (; at < size; at++) {
		depth += name[at] == '<';
		depth -= name[at] == '>';
		if (!depth)
			return at + 1;
	}
	return 0;
}

bool net_name_is(const char *known, const char *name, size_t size)
{
	size_t at = 0;
	for (; *known; known++) {
		if (*known != '`') {
			if (at >= size || name[at] != *known)
				return false;
			at++;
			continue;
		}
		size_t arguments = size_of_arguments(name + at, size - at);
		if (!arguments)
			return false;
		at += arguments;
		while (known[1] >= '0' && known[1] <= '9')
			known++;
	}
	return at == size;
}
