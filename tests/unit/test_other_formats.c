/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "format/other_formats.h"
#include "support/assert_more.h"
#include "support/suite.h"

static void check(const char *path, const char *head, size_t size, const char *part)
{
	const char *told = other_format_of(path, head, size);
	if (!told || !strstr(told, part))
		ASSERT_TEXT(told ? told : "nothing", part);
}

TEST(dumps_of_other_systems_are_named)
{
	check("a.dmp", "MDMP\x93\xa7\0\0", 8, "a minidump of Windows");
	check("a.dmp", "PAGEDU64", 8, "a dump of the kernel of Windows");
	check("a.dmp", "PAGEDUMP", 8, "a dump of the kernel of Windows");
	check("core", "\xcf\xfa\xed\xfe\x07\0\0\1", 8, "macOS");
	check("core", "KDUMP   ", 8, "crash program");
}

TEST(traces_of_other_tools_are_named)
{
	static const char netperf[] =
		"\x14\0\0\0!FastSerialization.1\5\5\1\3\0\0\0\0\0\0\0\x26\0\0\0"
		"Microsoft.DotNet.Runtime.EventPipeFile";
	check("a.netperf", netperf, sizeof(netperf) - 1, "a .netperf of .NET Core 2");
	check("perf.data", "PERFILE2....", 12, "perf");
	check("channel0_0", "\xc1\x1f\xfc\xc1....", 8, "Common Trace Format");
	check("metadata", "\xd1\x1d\xa7\x75....", 8, "Common Trace Format");
	check("a.etl", "\0\0\1\0....", 8, "ETW");
	check("a.etlx", "....", 4, "PerfView has converted");
}

TEST(written_formats_are_named)
{
	check("a.db", "SQLite format 3", 16, "sqlite3");
	check("a", "{\"snapshot\":{\"meta\"", 19, "only written");
}

TEST(packed_files_are_named)
{
	check("a", "\x04\x22\x4d\x18....", 8, "lz4 -d");
	check("a", "BZh91AY", 7, "bzip2 -d");
	char tar[512] = { 0 };
	memcpy(tar + 257, "ustar", 5);
	check("a", tar, sizeof(tar), "tar -x");
	CU_ASSERT_PTR_NULL(other_format_of("a", tar, 261));
}

TEST(unknown_bytes_have_no_name)
{
	CU_ASSERT_PTR_NULL(other_format_of("a", "", 0));
	CU_ASSERT_PTR_NULL(other_format_of("a.etl.txt", "a 2 NAME\n", 9));
	CU_ASSERT_PTR_NULL(other_format_of("a", "MDM", 3));
}

SUITE(.name = "other_formats")
