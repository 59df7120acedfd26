/* SPDX-License-Identifier: MIT */
#include "util/caller_struct.h"

#include <string.h>

/* The size that the caller says; false: no release has such a structure. */
static bool given_size(const void *of, size_t first, size_t *ret)
{
	if (!of)
		return false;
	memcpy(ret, of, sizeof(*ret));
	return *ret >= first && *ret <= CALLER_STRUCT_MAX;
}

bool caller_struct_read(void *to, size_t size, size_t first, const void *from)
{
	const char *bytes = from;
	size_t given;
	if (!given_size(from, first, &given))
		return false;
	for (size_t i = size; i < given; i++) {
		if (bytes[i])
			return false;
	}
	const size_t copied = given < size ? given : size;
	memcpy(to, from, copied);
	memset((char *)to + copied, 0, size - copied);
	memcpy(to, &size, sizeof(size));
	return true;
}

bool caller_struct_write(void *to, const void *from, size_t size, size_t first)
{
	size_t given;
	if (!given_size(to, first, &given))
		return false;
	const size_t copied = given < size ? given : size;
	memcpy((char *)to + sizeof(given), (const char *)from + sizeof(given),
	       copied - sizeof(given));
	memset((char *)to + copied, 0, given - copied);
	return true;
}
