/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collect/discover.h"
#include "collect/room.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "targets/process/cgroup.h"
#include "targets/process/proc.h"
#include "util/alloc.h"
#include "util/peer.h"

static const char stat_text[] =
	"4711 (a) S (b) R 1 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 1 0 4242388 9 10\n";

TEST(a_stat_file_is_parsed_behind_any_name)
{
	struct process_stat stat;
	CU_ASSERT_FATAL(process_stat_parse(stat_text, &stat));
	ASSERT_UINT((uint64_t)stat.state, 'R');
	ASSERT_UINT(stat.cpu_time, 200);
	ASSERT_UINT(stat.start_time, 4242388);
}

TEST(what_is_no_stat_file_is_refused)
{
	struct process_stat stat;
	CU_ASSERT(!process_stat_parse("", &stat));
	CU_ASSERT(!process_stat_parse("4711 (a)", &stat));
	CU_ASSERT(!process_stat_parse("4711 (a) ", &stat));
	CU_ASSERT(!process_stat_parse("4711 (a) S 1 2 3", &stat));
}

TEST(a_process_gets_older)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	const uint64_t before = process_age(getpid());
	(void)nanosleep(&pause, NULL);
	/* The kernel counts in hundredths of a second. */
	const uint64_t after = process_age(getpid());
	CU_ASSERT(after >= before + 40);
	CU_ASSERT(process_age(getppid()) >= before);
	CU_ASSERT(process_age(INT_MAX) == UINT64_MAX);
}

TEST(the_innermost_id_counts)
{
	ASSERT_UINT(inner_pid_parse("Name:\tx\nNSpid:\t4711\t17\t1\nNSpgid:\t1\n"), 1);
	ASSERT_UINT(inner_pid_parse("Name:\tx\nNSpid:\t4711\nNSpgid:\t1\t2\n"), 0);
	ASSERT_UINT(inner_pid_parse("Name:\tx\n"), 0);
	ASSERT_UINT(inner_pid_parse("Name:\tx\nNSpid:"), 0);
}

TEST(whom_a_process_acts_as_counts)
{
	ASSERT_UINT(effective_uid_parse("Name:\tUid:\nUid:\t1\t2\t3\t4\nGid:\t5\t6\n"), 2);
	ASSERT_UINT(effective_uid_parse("Name:\tx\nUid:\t0\t0\t0\t0\n"), 0);
	ASSERT_UINT(effective_uid_parse("Name:\tx\nUid:\t1\n"), (uid_t)-1);
	ASSERT_UINT(effective_uid_parse("Name:\tx\n"), (uid_t)-1);
}

TEST(the_environment_says_where_temporary_files_are)
{
	static const char set[] = "A=b\0TMPDIR=/x/y\0C=d";
	static const char other[] = "A=TMPDIR=/x\0XTMPDIR=/y\0TMPDIR=\0";
	static const char cut[] = "TMPDIR=/x";
	ASSERT_TEXT(tmpdir_parse(set, sizeof(set)), "/x/y");
	CU_ASSERT_PTR_NULL(tmpdir_parse(other, sizeof(other) - 1));
	CU_ASSERT_PTR_NULL(tmpdir_parse(cut, sizeof(cut) - 1));
	CU_ASSERT_PTR_NULL(tmpdir_parse(NULL, 0));
}

/* A socket such as a runtime of this process would have. */
static int fake_socket(struct sockaddr_un *address)
{
	struct process_stat stat;
	CU_ASSERT_FATAL(process_stat_read(getpid(), &stat));
	const char *directory = getenv("TMPDIR");
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(address->sun_path, sizeof(address->sun_path),
		       "%.60s/dotnet-diagnostic-%d-%llu-socket",
		       directory && *directory ? directory : "/tmp", (int)getpid(),
		       (unsigned long long)stat.start_time);
	(void)unlink(address->sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(fd >= 0 &&
			bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0);
	return fd;
}

TEST(a_process_is_found_by_its_socket)
{
	struct sockaddr_un address;
	struct dotnet_process process;
	struct hd_error err = { 0 };
	ASSERT_UINT(dotnet_process_find(getpid(), &process, &err), HD_ERR_NOTFOUND);
	CU_ASSERT(strstr(err.message, "has no diagnostics socket in /") != NULL);
	int fd = fake_socket(&address);
	ASSERT_UINT_FATAL(dotnet_process_find(getpid(), &process, &err), HD_OK);
	ASSERT_TEXT(process.socket, address.sun_path);
	ASSERT_UINT(process.uid, getuid());
	dotnet_process_deinit(&process);
	struct dotnet_processes all;
	ASSERT_UINT_FATAL(dotnet_processes_list(&all, &err), HD_OK);
	unsigned int found = 0;
	for (size_t i = 0; i < all.rows_count; i++)
		found += all.rows[i].pid == getpid();
	ASSERT_UINT(found, 1);
	dotnet_processes_deinit(&all);
	(void)close(fd);
	(void)unlink(address.sun_path);
}

TEST(a_number_of_no_process_is_told)
{
	struct dotnet_process process;
	struct hd_error err = { 0 };
	ASSERT_UINT(dotnet_process_find(0x7ffffff0, &process, &err), HD_ERR_NOTFOUND);
	ASSERT_TEXT(err.message,
		    "there is no process 2147483632; the command ps lists those of .NET");
}

TEST(each_failed_allocation_is_reported)
{
	struct sockaddr_un address;
	int fd = fake_socket(&address);
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t nth = 1; nth < 200 && status != HD_OK; nth++) {
		struct dotnet_process process;
		alloc_fail_at(nth);
		status = dotnet_process_find(getpid(), &process, NULL);
		alloc_fail_at(0);
		if (status == HD_OK)
			dotnet_process_deinit(&process);
	}
	ASSERT_UINT(status, HD_OK);
	(void)close(fd);
	(void)unlink(address.sun_path);
}

TEST(kilobytes_are_found_by_name)
{
	static const char text[] = "VmRSS:\t 100 kB\nRssAnon:\t   12 kB\nX: 1 kB\n";
	ASSERT_UINT(kilobytes_parse(text, "RssAnon"), 12 << 10);
	ASSERT_UINT(kilobytes_parse(text, "Rss"), 0);
	ASSERT_UINT(kilobytes_parse("", "Rss"), 0);
}

TEST(cgroups_are_found_by_controller)
{
	static const char text[] = "9:name=systemd:/\n4:cpu,memory:/a/b\n1:memoryx:/c\n0::/d\n";
	const char *path = "";
	ASSERT_UINT(cgroup_parse(text, "memory", &path), 4);
	CU_ASSERT(memcmp(path, "/a/b", 4) == 0);
	ASSERT_UINT(cgroup_parse(text, "", &path), 2);
	CU_ASSERT(memcmp(path, "/d", 2) == 0);
	ASSERT_UINT(cgroup_parse(text, "pids", &path), 0);
	ASSERT_UINT(cgroup_parse("garbage\n:::\n", "memory", &path), 0);
}

TEST(a_buffer_is_never_more_than_what_is_free)
{
	const uint64_t mb = (uint64_t)1 << 20;
	struct room room = { .needed = 500 * mb, .free = 4000 * mb };
	ASSERT_UINT(room_first(&room), 500 * mb);
	ASSERT_UINT(room_largest(&room), 3000 * mb);
	room.free = 100 * mb;
	ASSERT_UINT(room_first(&room), 75 * mb);
	room.free = 1;
	ASSERT_UINT(room_first(&room), mb);
	room.free = UINT64_MAX;
	CU_ASSERT(room_largest(&room) / mb <= UINT32_MAX);
}

TEST(this_process_has_room)
{
	struct room room;
	room_read("", getpid(), &room);
	CU_ASSERT(room.anonymous > 0 && room.free > 0);
	room_read("", 0, &room);
	ASSERT_UINT(room.anonymous, 0);
}

SUITE(.name = "discover")
