/* SPDX-License-Identifier: MIT */
#include "format/other_formats.h"

#include <string.h>

#include "util/text.h"

#define WINDOWS_DUMP \
	" of Windows, which heapdump does not read: open it with dotnet-dump or WinDbg on Windows"
#define MACH_O                                                                                     \
	"a Mach-O file of macOS, which heapdump does not read: open a core of macOS with LLDB or " \
	"dotnet-dump there"
#define ETLX                                                                                         \
	"a trace that PerfView has converted, which heapdump does not read: PerfView reads it, and " \
	"writes its heap as a .gcdump"

/* A kind of file: the bytes that it has at an offset, or only its extension. */
static const struct {
	const char *bytes;
	size_t size;
	size_t offset;
	const char *extension; /* that its path must have, too; NULL = any */
	const char *told;
} kinds[] = {
	{ .bytes = "\x7f"
		   "ELF",
	  .size = 4,
	  .told = "an ELF file, but not a core: give a core file, or the id of a running process" },
	{ .bytes = "\x1f\x8b", .size = 2, .told = "compressed: unpack it first (gzip -d)" },
	{ .bytes = "\x28\xb5\x2f\xfd", .size = 4, .told = "compressed: unpack it first (zstd -d)" },
	{ .bytes = "\x04\x22\x4d\x18", .size = 4, .told = "compressed: unpack it first (lz4 -d)" },
	{ .bytes = "\xfd"
		   "7zXZ",
	  .size = 5,
	  .told = "compressed: unpack it first (xz -d)" },
	{ .bytes = "BZh", .size = 3, .told = "compressed: unpack it first (bzip2 -d)" },
	{ .bytes = "7z\xbc\xaf\x27\x1c", .size = 6, .told = "a 7z archive: unpack it first" },
	{ .bytes = "PK\x03\x04", .size = 4, .told = "a zip archive: unpack it first (unzip)" },
	{ .bytes = "ustar",
	  .size = 5,
	  .offset = 257,
	  .told = "a tar archive: unpack it first (tar -x)" },
	{ .bytes = "\xff\xfe",
	  .size = 2,
	  .told = "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
	{ .bytes = "\xfe\xff",
	  .size = 2,
	  .told = "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
	{ .bytes = "MDMP", .size = 4, .told = "a minidump" WINDOWS_DUMP },
	{ .bytes = "PAGEDU64", .size = 8, .told = "a dump of the kernel" WINDOWS_DUMP },
	{ .bytes = "PAGEDUMP", .size = 8, .told = "a dump of the kernel" WINDOWS_DUMP },
	{ .bytes = "\xcf\xfa\xed\xfe", .size = 4, .told = MACH_O },
	{ .bytes = "\xce\xfa\xed\xfe", .size = 4, .told = MACH_O },
	{ .bytes = "KDUMP   ",
	  .size = 8,
	  .told = "a dump of the kernel of Linux: the crash program reads it; give a core of the process" },
	{ .bytes = "SQLite format 3",
	  .size = 16,
	  .told = "a SQLite database, which heapdump writes but does not read: ask it with sqlite3" },
	{ .bytes = "PERFILE2",
	  .size = 8,
	  .told = "a recording of perf, which has no heap: perf reads it; give a core file or the id of a "
		  "process" },
	{ .bytes = "Microsoft.DotNet.Runtime.EventPipeFile",
	  .size = 38,
	  .offset = 39, /* after "!FastSerialization.1", tags and versions */
	  .told = "a .netperf of .NET Core 2, which heapdump does not read: PerfView reads it" },
	{ .bytes = "Microsoft.Diagnostics.Tracing.Etlx.TraceLog",
	  .size = 43,
	  .offset = 39,
	  .told = ETLX },
	{ .bytes = "{\"snapshot\":",
	  .size = 12,
	  .told = "a .heapsnapshot is only written, not read: open it in Chrome or Edge" },
	{ .bytes = "\xc1\x1f\xfc\xc1",
	  .size = 4,
	  .told = "a trace in the Common Trace Format (LTTng, perfcollect), which has no heap: PerfView or "
		  "babeltrace reads it; give a .nettrace, a core file or the id of a process" },
	{ .bytes = "\xd1\x1d\xa7\x75",
	  .size = 4,
	  .told = "metadata of a trace in the Common Trace Format (LTTng, perfcollect), which has no heap: "
		  "PerfView or babeltrace reads it; give a .nettrace, a core file or the id of a process" },
	{ .extension = ".trace.zip",
	  .told = "a trace of perfcollect, which has no heap: PerfView reads it" },
	{ .extension = ".etl",
	  .told = "a trace of Windows (ETW), which heapdump does not read: PerfView reads it, and writes its "
		  "heap as a .gcdump" },
	{ .extension = ".etlx", .told = ETLX },
};

const char *other_format_of(const char *path, const char *head, size_t size)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].extension && !string_ends_with(path, kinds[i].extension))
			continue;
		if (kinds[i].size == 0 ||
		    (size >= kinds[i].offset + kinds[i].size &&
		     memcmp(head + kinds[i].offset, kinds[i].bytes, kinds[i].size) == 0))
			return kinds[i].told;
	}
	return NULL;
}
