/* SPDX-License-Identifier: MIT */
/* covers: core/src/inspect core/src/runtime/coreclr/types/field.c core/src/runtime/type.c core/src/runtime/coreclr/types/type_name.c */
#include "fake_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The commands that show one object, of a heap that the input has damaged: no crash, no hang.  The
 * first byte: which command; the second: about which object; then changes (fake_world.h).
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[][3] = {
		{ "dumpobj @", NULL },
		{ "dumpobj @ --json", NULL },
		{ "dumparray @ -details", NULL },
		{ "dumparray @ --json", NULL },
		{ "dumpvc % @", NULL },
		{ "printexception @ -nested", NULL },
		{ "printexception", "clrthreads", NULL },
		{ "dumpdelegate @", NULL },
		{ "strings", NULL },
		{ "dumpmt %", "dumpclass %", NULL },
		{ "listnearobj @", "gcwhere @", NULL },
		{ "objsize @", "dumpobj @ -refs", NULL },
		{ "dumpheap -stat", "finalizequeue", NULL },
		{ "syncblk -all", "gchandles", NULL },
	};
	if (size < 2)
		return 0;
	fake_world_run(lines[data[0] % (sizeof(lines) / sizeof(lines[0]))], data[1], data + 2,
		       size - 2);
	return 0;
}
