/* SPDX-License-Identifier: MIT */
/* covers: core/src/util/inflate.c */
#include <string.h>

#include "linear.h"
#include "util/inflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as deflate, which must become as many bytes as their first three say. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	size_t unpacked = data[0] | (size_t)data[1] << 8 | (size_t)(data[2] & 3) << 16;
	struct linear linear = linear_begin(size + unpacked);
	uint8_t *bytes = mem_alloc(unpacked + 1, 1);
	if (bytes) {
		bytes[unpacked] = 0x5a;
		(void)inflate_raw(data + 3, size - 3, bytes, unpacked);
		if (bytes[unpacked] != 0x5a)
			abort();
	}
	mem_free(bytes);
	linear_end(&linear, "inflate");
	return 0;
}
