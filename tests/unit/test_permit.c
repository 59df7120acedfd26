/* SPDX-License-Identifier: MIT */
/* What the broker of the shell program opens for a worker that may be its target's. */
#include <stdlib.h>

#include <heapdump/broker.h>

#include "permit.h"
#include "support/assert_more.h"
#include "support/suite.h"

static const char *const export[] = { "export", "out.heap", "--sysroot=/srv/root", "-x", "4711" };

static struct permit permit_of(bool is_collecting)
{
	return (struct permit){ .target = "the.core",
				.sysroot = "/srv/image",
				.argc = sizeof(export) / sizeof(export[0]),
				.argv = export,
				.is_collecting = is_collecting,
				.is_writing = true };
}

static void a_worker_reads_what_the_user_named(void)
{
	struct permit permit = permit_of(false);
	CU_ASSERT(permit_open(&permit, HD_OPEN_INPUT, "the.core", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_INPUT, "out.heap", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "export", "")); /* the command's own name */
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "/etc/shadow", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "./the.core", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "", ""));
	permit.target = NULL;
	CU_ASSERT(!permit_open(&permit, HD_OPEN_INPUT, "the.core", ""));
}

static void a_worker_writes_what_the_user_named(void)
{
	struct permit permit = permit_of(false);
	CU_ASSERT(permit_create(&permit, "out.heap"));
	CU_ASSERT(!permit_create(&permit, "the.core"));
	CU_ASSERT(!permit_create(&permit, "/root/.profile"));
	CU_ASSERT(!permit_create(&permit, ""));
	permit.is_writing = false; /* diff reads its word */
	CU_ASSERT(!permit_create(&permit, "out.heap"));
}

static void modules_are_looked_up_below_the_users_folder(void)
{
	struct permit permit = permit_of(false);
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, "/lib/libc.so.6", ""));
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, "/lib/libc.so.6", "/srv/image"));
	CU_ASSERT(permit_open(&permit, HD_OPEN_MODULE, "/lib/libc.so.6", "/srv/root"));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_MODULE, "/lib/libc.so.6", "/home"));
	CU_ASSERT(permit_open(&permit, HD_OPEN_FOLDER, "/srv/root", ""));
	CU_ASSERT(!permit_open(&permit, HD_OPEN_FOLDER, "/srv", ""));
}

static void the_systems_files_are_for_collecting(void)
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
	const char *const without_number[] = { "export", "out.heap", "" };
	other.argc = 3;
	other.argv = without_number;
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		CU_ASSERT(permit_open(&collecting, HD_OPEN_SYSTEM, given[i], ""));
		CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, given[i], ""));
	}
	other = permit_of(false);
	CU_ASSERT(permit_open(&other, HD_OPEN_SYSTEM, "/proc/4711/status", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/proc/4711/environ", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_SYSTEM, "/proc/meminfo", ""));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CU_ASSERT(!permit_open(&collecting, HD_OPEN_SYSTEM, refused[i], ""));
}

static void only_diagnostics_sockets_are_connected_to(void)
{
	static const char socket[] = "/tmp/dotnet-diagnostic-1-2-socket";
	struct permit collecting = permit_of(true), other = permit_of(false);
	CU_ASSERT(permit_open(&collecting, HD_OPEN_CONNECT, socket, ""));
	CU_ASSERT(permit_open(&collecting, HD_OPEN_CONNECT, "@heapdump-collect-1", ""));
	CU_ASSERT(permit_open(&collecting, HD_OPEN_LISTEN, "@heapdump-collect-1", ""));
	CU_ASSERT(!permit_open(&other, HD_OPEN_CONNECT, socket, ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "/run/docker.sock", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_CONNECT, "@/tmp/.X11-unix/X0", ""));
	CU_ASSERT(!permit_open(&collecting, HD_OPEN_LISTEN, socket, ""));
}

static void a_process_is_stopped_if_it_is_the_users_word(void)
{
	struct permit permit = permit_of(false);
	CU_ASSERT(permit_attach(&permit, 4711));
	CU_ASSERT(!permit_attach(&permit, 1));
	CU_ASSERT(!permit_attach(&permit, -4711));
	permit.target = "1";
	CU_ASSERT(permit_attach(&permit, 1));
}

static void temporary_files_are_where_the_user_has_them(void)
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

int main(void)
{
	CU_TestInfo tests[] = {
		{ "a_worker_reads_what_the_user_named", a_worker_reads_what_the_user_named },
		{ "a_worker_writes_what_the_user_named", a_worker_writes_what_the_user_named },
		{ "modules_are_looked_up_below_the_users_folder",
		  modules_are_looked_up_below_the_users_folder },
		{ "the_systems_files_are_for_collecting", the_systems_files_are_for_collecting },
		{ "only_diagnostics_sockets_are_connected_to",
		  only_diagnostics_sockets_are_connected_to },
		{ "a_process_is_stopped_if_it_is_the_users_word",
		  a_process_is_stopped_if_it_is_the_users_word },
		{ "temporary_files_are_where_the_user_has_them",
		  temporary_files_are_where_the_user_has_them },
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{ "permit", NULL, NULL, NULL, NULL, tests },
		CU_SUITE_INFO_NULL,
	};
	return suite_main(suites);
}
