/* SPDX-License-Identifier: MIT */
/* covers: core/src/verify core/src/gc */
#include "fake_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The commands that check a heap, of one that the input has damaged: no crash, no hang.  The first
 * byte: which command; the second: about which object; then changes (fake_world.h).
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[][3] = {
		{ "verifyheap", NULL },
		{ "verifyheap --json", NULL },
		{ "verifyobj @", NULL },
		{ "eeheap", "gcheapstat", NULL },
	};
	if (size < 2)
		return 0;
	fake_world_run(lines[data[0] % (sizeof(lines) / sizeof(lines[0]))], data[1], data + 2,
		       size - 2);
	return 0;
}
