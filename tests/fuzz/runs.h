/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A file that is zeros but for some runs of bytes, as the input of a fuzz target: u16 place in the
 * file, u16 how many, the bytes.  So it is short, and what is inserted in one run moves no other.
 */

/** The file's bytes, @p total of them; what lies after its end is left out.  To be freed. */
static inline uint8_t *runs_unpack(size_t total, const uint8_t *data, size_t size)
{
	uint16_t run[2];
	uint8_t *bytes = calloc(total ? total : 1, 1);
	if (!bytes)
		abort();
	while (size >= sizeof(run)) {
		memcpy(run, data, sizeof(run));
		data += sizeof(run);
		size -= sizeof(run);
		size_t length = run[1] < size ? run[1] : size;
		if (run[0] < total) {
			size_t room = total - run[0];
			memcpy(bytes + run[0], data, length < room ? length : room);
		}
		data += length;
		size -= length;
	}
	return bytes;
}
