/* SPDX-License-Identifier: MIT */
/*
 * A cgroup's own numbers about its memory, as the kernel writes the files of both versions, and odd
 * ones.
 */
#include <stdio.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "support/system_tree.h"
#include "targets/process/cgroup_memory.h"

#define MB  ((uint64_t)1 << 20)
#define PID 4711

/* Files as Documentation/admin-guide/cgroup-v2.rst describes them. */
static void put_new_group(void)
{
	system_put("/proc/4711/cgroup", "0::/shop/web\n");
	system_put_number("/shop/web", "memory.current", 800 * MB);
	system_put_number("/shop/web", "memory.peak", 900 * MB);
	system_put_number("/shop/web", "memory.swap.current", 5 * MB);
	system_put("/sys/fs/cgroup/shop/web/memory.max", "max\n");
	system_put("/sys/fs/cgroup/shop/web/memory.high", "max\n");
	system_put("/sys/fs/cgroup/shop/web/memory.stat",
		   "anon 700\nfile 60\nkernel 7\nkernel_stack 3\nshmem 20\nanon_thp 1\n"
		   "inactive_anon 9\ninactive_file 40\n");
	system_put("/sys/fs/cgroup/shop/web/memory.events",
		   "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n");
	system_put("/sys/fs/cgroup/shop/web/memory.pressure",
		   "some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459\n"
		   "full avg10=0.00 avg60=12.03 avg300=100.00 total=1\n");
}

static void check_number(const struct cgroup_memory *group, enum cgroup_number number,
			 uint64_t value)
{
	uint64_t found = 0;
	CU_ASSERT(cgroup_number(group, number, &found));
	ASSERT_UINT(found, value);
}

static void check_missing(const struct cgroup_memory *group, enum cgroup_number number)
{
	uint64_t found;
	CU_ASSERT(!cgroup_number(group, number, &found));
}

TEST(a_group_of_version_2_tells_all)
{
	static const uint64_t values[CGROUP_NUMBERS] = { 800 * MB, 900 * MB, 5 * MB, 700, 60, 20,
							 7,        40,       2,      3,   4,  5 };
	struct cgroup_memory group;
	put_new_group();
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	ASSERT_UINT(group.version, 2);
	CU_ASSERT_STRING_EQUAL(group.path, "/shop/web");
	CU_ASSERT(group.limit == UINT64_MAX && !group.limit_path);
	for (unsigned int i = 0; i < CGROUP_NUMBERS; i++)
		check_number(&group, (enum cgroup_number)i, values[i]);
	CU_ASSERT(group.some.is_known && group.full.is_known && !group.is_machine);
	ASSERT_UINT(group.some.average[0], 22);
	ASSERT_UINT(group.some.average[1], 17);
	ASSERT_UINT(group.some.average[2], 111);
	ASSERT_UINT(group.some.total, 58761459);
	ASSERT_UINT(group.full.average[1], 1203);
	ASSERT_UINT(group.full.average[2], 10000);
	cgroup_memory_deinit(&group);
}

TEST(the_least_limit_on_the_way_up_counts)
{
	struct cgroup_memory group;
	put_new_group();
	system_put_number("/shop", "memory.max", 2000 * MB);
	system_put_number("", "memory.max", 3000 * MB);
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	ASSERT_UINT(group.limit, 2000 * MB);
	CU_ASSERT_STRING_EQUAL(group.limit_path, "/shop");
	/* The numbers are its own. */
	check_number(&group, CGROUP_CURRENT, 800 * MB);
	cgroup_memory_deinit(&group);
	system_put_number("/shop/web", "memory.high", 1000 * MB);
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	ASSERT_UINT(group.limit, 1000 * MB);
	CU_ASSERT_STRING_EQUAL(group.limit_path, "/shop/web");
	cgroup_memory_deinit(&group);
	system_put_number("", "memory.max", 900 * MB);
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	ASSERT_UINT(group.limit, 900 * MB);
	CU_ASSERT_STRING_EQUAL(group.limit_path, "/");
	cgroup_memory_deinit(&group);
}

/* Files as Documentation/admin-guide/cgroup-v1/memory.rst describes them. */
static void put_old_group(void)
{
	system_put("/proc/4711/cgroup", "4:memory:/docker/web\n0::/\n");
	system_put_number("/memory/docker/web", "memory.usage_in_bytes", 500 * MB);
	system_put_number("/memory/docker/web", "memory.max_usage_in_bytes", 600 * MB);
	system_put_number("/memory/docker/web", "memory.limit_in_bytes", 700 * MB);
	system_put_number("/memory/docker/web", "memory.kmem.usage_in_bytes", 3);
	system_put("/sys/fs/cgroup/memory/docker/web/memory.failcnt", "12\n");
	system_put("/sys/fs/cgroup/memory/docker/web/memory.oom_control",
		   "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	system_put("/sys/fs/cgroup/memory/docker/web/memory.stat",
		   "cache 1\nrss 2\ntotal_cache 30\ntotal_rss 400\ntotal_shmem 10\n"
		   "total_swap 4\ntotal_inactive_file 20\n");
	system_put("/proc/pressure/memory", "some avg10=0.00 avg60=1.00 avg300=0.00 total=7\n"
					    "full avg10=0.00 avg60=0.50 avg300=0.00 total=6\n");
}

TEST(a_group_of_version_1_has_the_pressure_of_the_machine)
{
	struct cgroup_memory group;
	put_old_group();
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	ASSERT_UINT(group.version, 1);
	CU_ASSERT_STRING_EQUAL(group.path, "/docker/web");
	ASSERT_UINT(group.limit, 700 * MB);
	check_number(&group, CGROUP_CURRENT, 500 * MB);
	check_number(&group, CGROUP_PEAK, 600 * MB);
	check_number(&group, CGROUP_ANON, 400);
	check_number(&group, CGROUP_FILE, 30);
	check_number(&group, CGROUP_SHMEM, 10);
	check_number(&group, CGROUP_SWAP, 4);
	check_number(&group, CGROUP_KERNEL, 3);
	check_number(&group, CGROUP_DROPPABLE, 20);
	check_number(&group, CGROUP_MAX, 12);
	check_number(&group, CGROUP_KILLED, 2);
	check_missing(&group, CGROUP_HIGH);
	check_missing(&group, CGROUP_OOM);
	CU_ASSERT(group.is_machine && group.some.is_known);
	ASSERT_UINT(group.some.average[1], 100);
	ASSERT_UINT(group.full.average[1], 50);
	cgroup_memory_deinit(&group);
	/* "unlimited" */
	system_put("/sys/fs/cgroup/memory/docker/web/memory.limit_in_bytes",
		   "9223372036854771712\n");
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	CU_ASSERT(group.limit == UINT64_MAX);
	cgroup_memory_deinit(&group);
}

TEST(a_container_sees_its_group_at_the_top)
{
	struct cgroup_memory group;
	put_old_group();
	system_put("/proc/4711/cgroup", "4:memory:/elsewhere/web\n");
	CU_ASSERT(!cgroup_memory_read(system_root, PID, &group));
	system_put_number("/memory", "memory.usage_in_bytes", 9 * MB);
	system_put_number("/memory", "memory.limit_in_bytes", 10 * MB);
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	CU_ASSERT_STRING_EQUAL(group.path, "/elsewhere/web");
	ASSERT_UINT(group.limit, 10 * MB);
	check_number(&group, CGROUP_CURRENT, 9 * MB);
	cgroup_memory_deinit(&group);
}

/* Is memory short, and which limit leaves least? */
static void check_tight(bool is_tight, const char *path, uint64_t limit, uint64_t left)
{
	struct cgroup_memory group;
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	ASSERT_UINT(group.is_tight, is_tight);
	CU_ASSERT_FATAL(!path == !group.tight.path);
	if (path) {
		CU_ASSERT_STRING_EQUAL(group.tight.path, path);
		ASSERT_UINT(group.tight.limit, limit);
		ASSERT_UINT(group.tight.left, left);
	}
	cgroup_memory_deinit(&group);
}

/* A cgroup without a limit; what it has is 800 MB, of which 40 bytes can be dropped. */
TEST(memory_is_short_near_a_limit_or_when_tasks_wait)
{
	put_new_group();
	check_tight(false, NULL, 0, 0);
	/* A tenth is left, or one byte more. What can be dropped is free. */
	system_put_number("/shop/web", "memory.max", 1000 * MB);
	system_put_number("/shop/web", "memory.current", 900 * MB + 39);
	check_tight(false, "/shop/web", 1000 * MB, 100 * MB + 1);
	system_put_number("/shop/web", "memory.current", 900 * MB + 40);
	check_tight(true, "/shop/web", 1000 * MB, 100 * MB);
	system_put_number("/shop/web", "memory.current", 1001 * MB);
	check_tight(true, "/shop/web", 1000 * MB, 0);
	system_put_number("/shop/web", "memory.current", 100 * MB);
	check_tight(false, "/shop/web", 1000 * MB, 900 * MB + 40);
	/* memory.high slows it down. */
	system_put_number("/shop/web", "memory.high", 110 * MB);
	check_tight(true, "/shop/web", 110 * MB, 10 * MB + 40);
	system_put("/sys/fs/cgroup/shop/web/memory.high", "max\n");
	/* A cgroup above is nearly full because of others, though its limit is the larger one. */
	system_put_number("/shop", "memory.max", 2000 * MB);
	check_tight(false, "/shop/web", 1000 * MB, 900 * MB + 40);
	system_put_number("/shop", "memory.current", 1800 * MB - 1);
	check_tight(false, "/shop", 2000 * MB, 200 * MB + 1);
	system_put_number("/shop", "memory.current", 1800 * MB);
	check_tight(true, "/shop", 2000 * MB, 200 * MB);
	system_put_number("/shop", "memory.current", 0);
	check_tight(false, "/shop/web", 1000 * MB, 900 * MB + 40);
	/* Tasks wait for a hundredth of the last minute; other times do not count. */
	system_put("/sys/fs/cgroup/shop/web/memory.pressure",
		   "some avg10=9.00 avg60=0.99 avg300=9.00 total=7\n");
	check_tight(false, "/shop/web", 1000 * MB, 900 * MB + 40);
	system_put("/sys/fs/cgroup/shop/web/memory.pressure",
		   "some avg10=0.00 avg60=1.00 avg300=0.00 total=7\n");
	check_tight(true, "/shop/web", 1000 * MB, 900 * MB + 40);
}

/* The numbers of the uppermost folder are those of the container's own cgroup: so is its limit. */
TEST(the_limit_of_a_container_is_its_own)
{
	struct cgroup_memory group;
	system_put("/proc/4711/cgroup", "4:memory:/elsewhere/web\n");
	system_put_number("/memory", "memory.usage_in_bytes", 9 * MB);
	system_put_number("/memory", "memory.limit_in_bytes", 10 * MB);
	CU_ASSERT_FATAL(cgroup_memory_read(system_root, PID, &group));
	CU_ASSERT_STRING_EQUAL(group.limit_path, "/elsewhere/web");
	CU_ASSERT_STRING_EQUAL(group.tight.path, "/elsewhere/web");
	CU_ASSERT(group.is_tight);
	cgroup_memory_deinit(&group);
}

TEST(what_is_not_pressure_is_not_known)
{
	static const char *const texts[] = {
		"",
		"some",
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"some avg10=0.00 avg60=0.00 total=0\n",
		"some avg10=0.00 avg60=0.00 avg300=0.00\n",
		"some avg10=x avg60=0.00 avg300=0.00 total=0\n",
		"some avg10=-1.00 avg60=0.00 avg300=0.00 total=0\n",
		"some avg10=101.00 avg60=0.00 avg300=0.00 total=0\n",
		"some avg10=0.0 avg60=0.00 avg300=0.00 total=0\n",
		"some avg10=0.000000000 avg60=0.00 avg300=0.00 total=0\n",
		"something avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	};
	struct cgroup_pressure pressure;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CU_ASSERT(!cgroup_pressure_parse(texts[i], "some", &pressure));
}

TEST(nothing_is_read_outside_of_the_tree)
{
	static const char *const broken[] = {
		"",        "\n",        "0::\n",         "0::shop\n",
		"garbage", "4:memory:", "0::/../../x\n", "0::/x/../..\n"
	};
	struct cgroup_memory group;
	system_put_number("/../../x", "memory.current", 1);
	CU_ASSERT(!cgroup_memory_read(system_root, PID, &group));
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		system_put("/proc/4711/cgroup", broken[i]);
		CU_ASSERT(!cgroup_memory_read(system_root, PID, &group));
	}
	/* Links are not followed. */
	char link[128], target[128];
	system_put("/proc/4711/cgroup", "0::/shop\n");
	system_put("/sys/fs/cgroup/shop/empty", "");
	system_put("/secret", "77\n");
	(void)snprintf(target, sizeof(target), "%s/secret", system_root);
	(void)snprintf(link, sizeof(link), "%s/sys/fs/cgroup/shop/memory.current", system_root);
	CU_ASSERT_FATAL(symlink(target, link) == 0);
	CU_ASSERT(!cgroup_memory_read(system_root, PID, &group));
}

SUITE(.name = "cgroup_memory", .set_up = system_make, .tear_down = system_remove)
