/* SPDX-License-Identifier: MIT */
/*
 * Tests what bounds a buffer: the machine's free memory and cgroups of both versions, in a tree of
 * files.
 */
#include "collect/room.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "support/system_tree.h"
#include "targets/process/cgroup.h"

#define MB  ((uint64_t)1 << 20)
#define PID 4711

/* In megabytes. */
static void put_number(const char *group, const char *name, uint64_t megabytes)
{
	system_put_number(group, name, megabytes * MB);
}

/* A cgroup of version 2. */
static void put_group(const char *folder, uint64_t limit, uint64_t usage)
{
	put_number(folder, "memory.max", limit);
	put_number(folder, "memory.current", usage);
}

/* One of version 1. */
static void put_old_group(const char *folder, uint64_t limit, uint64_t usage)
{
	put_number(folder, "memory.limit_in_bytes", limit);
	put_number(folder, "memory.usage_in_bytes", usage);
}

/* A machine with 8 GB free, and a process with 300 MB of its own in the cgroups of @p cgroup. */
static void put_machine(const char *cgroup)
{
	system_put("/proc/meminfo", "MemTotal:  16777216 kB\nMemAvailable:  8388608 kB\n");
	system_put("/proc/4711/status", "Name:\tx\nRssAnon:\t  204800 kB\nVmSwap:\t  102400 kB\n");
	system_put("/proc/4711/cgroup", cgroup);
}

static void check(uint64_t megabytes, bool is_cgroup)
{
	struct room room;
	room_read(system_root, PID, &room);
	ASSERT_UINT(room.free, megabytes * MB);
	ASSERT_UINT(room.is_cgroup, is_cgroup);
	ASSERT_UINT(room.anonymous, 300 * MB);
	ASSERT_UINT(room.needed, 664 * MB);
}

TEST(the_tightest_group_around_it_counts)
{
	put_machine("0::/user/shop/web\n");
	check(8192, false);
	put_group("/user/shop/web", 4096, 1024);
	check(3072, true);
	/* One around it has less left, though its limit is larger. */
	put_group("/user/shop", 5000, 4500);
	check(500, true);
	put_group("/user", 6000, 4600);
	check(500, true);
	/* A container's own cgroup is the top of what it sees. */
	put_group("", 5000, 4900);
	check(100, true);
	/* One beside it does not matter, nor does what is above the tree. */
	put_group("/user/other", 20, 10);
	system_put("/sys/fs/memory.max", "10\n");
	system_put("/sys/fs/memory.current", "5\n");
	check(100, true);
}

TEST(the_group_of_a_container_is_found)
{
	put_machine("0::/\n");
	put_group("", 700, 600);
	check(100, true);
}

TEST(what_is_no_limit_bounds_nothing)
{
	put_machine("0::/user/shop\n");
	system_put("/sys/fs/cgroup/user/shop/memory.max", "max\n");
	put_number("/user/shop", "memory.current", 4500);
	check(8192, false);
	/* More than the machine has. */
	put_number("/user/shop", "memory.max", 1 << 20);
	check(8192, false);
	/* How much is used is not known. */
	put_number("/user", "memory.max", 10);
	check(8192, false);
	system_put("/sys/fs/cgroup/user/memory.current", "");
	check(8192, false);
}

TEST(files_that_can_be_dropped_are_free)
{
	put_machine("0::/shop\n");
	put_group("/shop", 4096, 4000);
	system_put("/sys/fs/cgroup/shop/memory.stat",
		   "anon 1\nworkingset_inactive_file 5\ninactive_file 1048576000\nactive_file 7\n");
	check(1096, true);
	system_put("/sys/fs/cgroup/shop/memory.stat", "anon 1\ninactive_file 99999999999\n");
	check(4096, true);
}

TEST(a_full_group_leaves_next_to_nothing)
{
	put_machine("0::/shop\n");
	put_group("/shop", 1000, 1001);
	struct room room;
	room_read(system_root, PID, &room);
	ASSERT_UINT(room.free, 1);
	ASSERT_UINT(room_first(&room), MB);
}

TEST(memory_high_bounds_too)
{
	put_machine("0::/shop/web\n");
	put_group("/shop/web", 4096, 1024);
	check(3072, true);
	put_number("/shop/web", "memory.high", 2048);
	check(1024, true);
	/* The lower of the two counts, and "max" is none. */
	put_number("/shop/web", "memory.high", 5000);
	check(3072, true);
	system_put("/sys/fs/cgroup/shop/web/memory.high", "max\n");
	check(3072, true);
	system_put("/sys/fs/cgroup/shop/web/memory.max", "max\n");
	check(8192, false);
	put_number("/shop/web", "memory.high", 1500);
	check(476, true);
	ASSERT_UINT(cgroup_free(system_root, PID), 476 * MB);
	system_put("/proc/4711/cgroup", "0::/other\n");
	CU_ASSERT(cgroup_free(system_root, PID) == UINT64_MAX);
}

TEST(groups_of_version_1_bound_too)
{
	put_machine("9:name=systemd:/x\n4:cpu,memory:/docker/web\n0::/x\n");
	put_old_group("/memory/docker/web", 3000, 1000);
	check(2000, true);
	system_put("/sys/fs/cgroup/memory/docker/web/memory.stat",
		   "cache 1\ninactive_file 5\ntotal_inactive_file 104857600\n");
	check(2100, true);
	put_old_group("/memory/docker", 1500, 1200);
	check(300, true);
	/* "unlimited" */
	system_put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put_number("/memory", "memory.usage_in_bytes", 9000);
	check(300, true);
	/* A container without a namespace of its own sees its group at the top alone. */
	system_put("/proc/4711/cgroup", "4:memory:/elsewhere/web\n");
	put_number("/memory", "memory.limit_in_bytes", 9050);
	check(50, true);
}

TEST(what_is_not_there_is_not_known)
{
	struct room room;
	room_read(system_root, PID, &room);
	ASSERT_UINT(room.free, 0);
	ASSERT_UINT(room.anonymous, 0);
	ASSERT_UINT(room_largest(&room), 1024 * MB);
	static const char *const broken[] = { "",          "\n",      "0::\n",
					      "0::shop\n", "garbage", "0::/../..\n" };
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put_machine(broken[i]);
		check(8192, false);
	}
	system_put("/proc/4711/status", "");
	room_read(system_root, PID, &room);
	ASSERT_UINT(room.anonymous, 0);
}

/* A path of any length is no reason to fail. */
TEST(long_paths_are_left_out)
{
	static char line[9000];
	(void)snprintf(line, sizeof(line), "0::/");
	memset(line + 4, 'x', sizeof(line) - 6);
	line[sizeof(line) - 2] = '\n';
	put_machine(line);
	put_group("", 10, 5);
	check(8192, false);
}

SUITE(.name = "room", .set_up = system_make, .tear_down = system_remove)
