/* SPDX-License-Identifier: MIT */
/* Tests which things the shell program's broker opens for a worker that may be its target's. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <heapdump/broker.h>

#include "permit.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* While "the.core" is open, which was read with modules below /srv/image. */
static struct permit permit_of(bool is_collecting)
{
	return (struct permit){ .target = "the.core",
				.sysroot = "",
				.now = { .sysroot = "" },
				.then = { .sysroot = "/srv/image" },
				.is_collecting = is_collecting,
				.may_make_name = is_collecting };
}

TEST(a_worker_reads_what_the_user_named)
{
	struct permit permit = permit_of(false);
	permit.names.input = "other.core"; /* diff */
	permit.names.output = "out.heap";
	CU_ASSERT(permit_open(&permit, HD_OPEN_INPUT, "the.core", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_INPUT, "other.core", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_PLACE, "other.core", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "out.heap", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "/etc/shadow", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PLACE, "/etc/shadow", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "./the.core", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "", ""));
	permit.names.input = "";
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "", ""));
	permit.target = NULL;
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "the.core", ""));
}

TEST(a_worker_writes_what_the_user_named)
{
	struct permit permit = permit_of(false);
	permit.names.input = "other.core";
	CU_ASSERT(!permit_create(&permit, "other.core"));
	CU_ASSERT(!permit_create(&permit, "4711-20260131-235959.gcdump"));
	permit.names.output = "out.heap";
	CU_ASSERT(permit_create(&permit, "out.heap"));
	CU_ASSERT(permit_create(&permit, "out.heap"));
	CU_ASSERT(!permit_create(&permit, "other.core"));
	CU_ASSERT(!permit_create(&permit, "the.core"));
	CU_ASSERT(!permit_create(&permit, "/root/.profile"));
	CU_ASSERT(!permit_create(&permit, ""));
	struct permit collecting = permit_of(true);
	collecting.names.output = "out.gcdump";
	CU_ASSERT(!permit_create(&collecting, "4711-20260131-235959.gcdump"));
}

TEST(collect_makes_one_name_that_is_new)
{
	static const char *const good[] = { "1-20260131-235959.gcdump",
					    "4194304-20260131-235959.nettrace",
					    "4711-20260131-235959.heap",
					    "4711-20260131-235959.heapsnapshot",
					    "4711-20260131-235959.hprof",
					    "4711-20260131-235959.folded",
					    "4711-20260131-235959.speedscope.json" };
	static const char *const bad[] = { "a-20260131-235959.gcdump",
					   "-20260131-235959.gcdump",
					   "4711.gcdump",
					   "4711-20260131.gcdump",
					   "4711-20260131-235959.gcdump.so",
					   "4711-20260131-235959.bashrc",
					   "4711-20260131-235959",
					   "4711-202601311-235959.gcdump",
					   "4711-20260131-2359590.gcdump",
					   "/tmp/4711-20260131-235959.gcdump",
					   "../4711-20260131-235959.gcdump",
					   "47110000000-20260131-235959.gcdump" };
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct permit permit = permit_of(true);
		CU_ASSERT(permit_create(&permit, good[i]));
		CU_ASSERT(permit_create(&permit, good[i]));
		CU_ASSERT(!permit_create(&permit, "7-20260131-235959.gcdump"));
	}
	struct permit permit = permit_of(true);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT(!permit_create(&permit, bad[i]));
	char folder[] = "/tmp/heapdump-permit-XXXXXX";
	CU_ASSERT_FATAL(mkdtemp(folder) && chdir(folder) == 0);
	FILE *file = fopen(good[0], "w");
	REQUIRE(file);
	(void)fclose(file);
	CU_ASSERT(!permit_create(&permit, good[0]));
	CU_ASSERT(unlink(good[0]) == 0 && symlink("nowhere", good[0]) == 0);
	CU_ASSERT(!permit_create(&permit, good[0]));
	CU_ASSERT(unlink(good[0]) == 0);
	CU_ASSERT(permit_create(&permit, good[0]));
	CU_ASSERT(chdir("/") == 0 && rmdir(folder) == 0);
}

TEST(modules_are_looked_up_below_the_users_folder)
{
	static const char module[] = "/lib/libc.so.6";
	struct permit permit = permit_of(false);
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, module, ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, module, "/srv/image"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, module, "/srv/root"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, module, "/"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_ANY_MODULE, module, ""));
	permit.sysroot = "/srv/set";
	permit.names.sysroot = permit.now.sysroot = "/srv/root";
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, module, "/srv/root"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, module, "/srv/set"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, module, ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_FOLDER, "/srv/set", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_FOLDER, "/srv/root", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_FOLDER, "/srv", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_FOLDER, "", ""));
}

TEST(no_files_are_no_files)
{
	static const char module[] = "/lib/libc.so.6";
	struct permit permit = permit_of(false);
	permit.now.are_trusted = permit.then.are_trusted = true;
	CU_ASSERT(permit_open(&permit, HD_OPEN_ANY_MODULE, module, ""));
	permit.now.are_off = true;
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, module, ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, module, "/srv/image"));
	permit.then.are_off = true;
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, module, "/srv/image"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_ANY_MODULE, module, "/srv/image"));
}

TEST(symbols_are_next_to_modules_or_in_the_users_folder)
{
	struct permit permit = permit_of(false);
	CU_ASSERT(permit_open(&permit, HD_OPEN_PDB, "/app/shop.pdb", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_PDB, "/app/shop.pdb", "/srv/image"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PDB, "/app/shop.pdb", "/srv/symbols"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, "/libshop.so.debug", "/srv/symbols"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PDB, "/app/shop.dll", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PDB, "/etc/shadow", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_FOLDER, "/srv/symbols", ""));
	permit.now.are_off = permit.then.are_off = true;
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PDB, "/app/shop.pdb", ""));
	permit.now.symbols = permit.symbols = "/srv/symbols";
	CU_ASSERT(permit_open(&permit, HD_OPEN_PDB, "/shop.pdb/0123/shop.pdb", "/srv/symbols"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PDB, "/shop.pdb/0123/shop", "/srv/symbols"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_PDB, "/app/shop.pdb", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, "/libshop.so.debug", "/srv/symbols"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, "/libshop.so.debug", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_ANY_MODULE, "/shop.pdb", "/srv/symbols"));
	CU_ASSERT(permit_open(&permit, HD_OPEN_FOLDER, "/srv/symbols", ""));
	permit.names.symbols = "/srv/other";
	CU_ASSERT(permit_open(&permit, HD_OPEN_FOLDER, "/srv/other", ""));
}

TEST(the_systems_files_are_for_collecting)
{
	static const char *const given[] = { "/proc",
					     "/proc/1",
					     "/proc/1/stat",
					     "/proc/1/task",
					     "/proc/1/task/2/comm",
					     "/proc/meminfo",
					     "/sys/fs/cgroup/a.slice/memory.max" };
	static const char *const refused[] = { "/proc/1/mem",
					       "/proc/1/maps",
					       "/proc/1/root/etc/shadow",
					       "/proc/1/fd/3",
					       "/proc/self/environ",
					       "/proc/1/task/2/mem",
					       "/proc/1/../../etc/shadow",
					       "/proc/kcore",
					       "/procfs",
					       "/sys/fs/cgroup/../../../etc/shadow",
					       "/sys/fs/cgroup/..",
					       "/sys/fs/cgroupx",
					       "/sys/kernel/x",
					       "/etc/shadow" };
	struct permit collecting = permit_of(true), other = permit_of(false);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		CU_ASSERT(permit_open(&collecting, HD_OPEN_SYSTEM, given[i], ""));
		CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, given[i], ""));
	}
	other.names.input = "4711";
	CU_ASSERT(permit_open(&other, HD_OPEN_SYSTEM, "/proc/4711/status", ""));
	CU_ASSERT(permit_open(&other, HD_OPEN_SYSTEM, "/proc/4711/cgroup", ""));
	CU_ASSERT(permit_open(&other, HD_OPEN_SYSTEM, "/proc/pressure/memory", ""));
	CU_ASSERT(permit_open(&other, HD_OPEN_SYSTEM, "/sys/fs/cgroup/a/memory.max", ""));
	CU_ASSERT(permit_open(&other, HD_OPEN_SYSTEM, "/sys/fs/cgroup/memory/memory.stat", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/sys/fs/cgroup/a/memory.reclaim", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/sys/fs/cgroup/a/cgroup.procs", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/sys/fs/cgroup/a", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/sys/fs/cgroup/../x/memory.max", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/etc/memory.max", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/proc/4711/environ", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/proc/meminfo", ""));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CU_ASSERT(!permit_open(&collecting, HD_OPEN_SYSTEM, refused[i], ""));
}

TEST(only_diagnostics_sockets_are_connected_to)
{
	static const char socket[] = "/tmp/dotnet-diagnostic-1-2-socket";
	struct permit collecting = permit_of(true), other = permit_of(false);
	CU_ASSERT(permit_open(&collecting, HD_OPEN_CONNECT, socket, ""));
	CU_ASSERT(permit_open(&collecting, HD_OPEN_CONNECT, "/tmp/heapdump-inside-1-socket", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_CONNECT, "/tmp/heapdump-inside-1-socket", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_LISTEN, "/tmp/heapdump-inside-1-socket", ""));
	CU_ASSERT(permit_open(&collecting, HD_OPEN_CONNECT, "@heapdump-collect-1", ""));
	CU_ASSERT(permit_open(&collecting, HD_OPEN_LISTEN, "@heapdump-collect-1", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_CONNECT, socket, ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "/run/docker.sock", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "@/tmp/.X11-unix/X0", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "@heapdump-collect-1x", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_LISTEN, "@heapdump-collect-", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_LISTEN, socket, ""));
	collecting.names.output = "/run/user/1/bus";
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "/run/user/1/bus", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_LISTEN, "/run/user/1/bus", ""));
	collecting.names.socket = "/tmp/port";
	CU_ASSERT(permit_open(&collecting, HD_OPEN_LISTEN, "/tmp/port", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "/tmp/port", ""));
}

TEST(the_library_of_the_profiler_is_only_looked_at)
{
	static const char library[] = "/proc/1/root/usr/lib/heapdump/libheapdump_profiler.so";
	struct permit collecting = permit_of(true), other = permit_of(false);
	CU_ASSERT(permit_open(&collecting, HD_OPEN_PLACE, library, ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_PLACE, library, ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_INPUT, library, ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_PLACE, "/usr/lib/libheapdump.so", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_PLACE, "libheapdump_profiler.so", ""));
}

TEST(a_process_is_stopped_if_it_is_the_users_word)
{
	struct permit permit = permit_of(false);
	permit.names.output = "1";
	CU_ASSERT(!permit_attach(&permit, 1));
	permit.names.input = "4711"; /* open, diff */
	CU_ASSERT(permit_attach(&permit, 4711));
	CU_ASSERT(!permit_attach(&permit, 1));
	CU_ASSERT(!permit_attach(&permit, -4711));
	permit.target = "1";
	CU_ASSERT(permit_attach(&permit, 1));
}

TEST(temporary_files_are_where_the_user_has_them)
{
	struct permit permit = permit_of(false);
	CU_ASSERT_FATAL(setenv("TMPDIR", "/var/tmp", 1) == 0);
	CU_ASSERT(permit_open(&permit, HD_OPEN_TEMPORARY, "/var/tmp", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_TEMPORARY, "/tmp", ""));
	CU_ASSERT_FATAL(unsetenv("TMPDIR") == 0);
	CU_ASSERT(permit_open(&permit, HD_OPEN_TEMPORARY, "/tmp", ""));
	CU_ASSERT(!permit_open(&permit, 99, "/tmp", ""));
	CU_ASSERT(!permit_open(&permit, -1, "/tmp", ""));
}

TEST(each_of_several_files_that_are_read_may_be_opened)
{
	const char *const argv[] = { "report",   "-against", "first.core", "second.core", "-o",
				     "out.html", "77",       "--symbols",  "pdbs" };
	struct permit permit = permit_of(false);
	permit.argc = sizeof(argv) / sizeof(argv[0]);
	permit.argv = argv;
	hd_command_name(permit.argc, argv, &permit.names);
	CU_ASSERT(permit_open(&permit, HD_OPEN_INPUT, "first.core", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_INPUT, "second.core", ""));
	CU_ASSERT(permit_attach(&permit, 77));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "out.html", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "report", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "-against", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "third.core", ""));
}

TEST(a_worker_writes_tables_into_the_folder_that_the_user_named)
{
	struct permit permit = permit_of(false);
	CU_ASSERT(!permit_create(&permit, "/"));
	for (unsigned int i = 0; i < 2; i++) {
		permit.names.output = i ? "out.parquet" : "out.parquet//";
		permit.has_folder = false;
		CU_ASSERT(!permit_create(&permit, "out.parquet/objects.parquet"));
		CU_ASSERT(permit_create(&permit, "out.parquet/"));
		permit_created(&permit, "out.parquet");
		CU_ASSERT(!permit_create(&permit, "out.parquet/objects.parquet"));
		permit_created(&permit, "out.parquet/");
		CU_ASSERT(permit_create(&permit, "out.parquet/objects.parquet"));
		CU_ASSERT(!permit_create(&permit, "out.parquet/.parquet"));
		CU_ASSERT(!permit_create(&permit, "out.parquet/objects.so"));
		CU_ASSERT(!permit_create(&permit, "out.parquet/../objects.parquet"));
		CU_ASSERT(!permit_create(&permit, "out.parquet/a/objects.parquet"));
		CU_ASSERT(!permit_create(&permit, "out.parquets/objects.parquet"));
		CU_ASSERT(!permit_create(&permit, "objects.parquet"));
	}
}

SUITE(.name = "permit")
