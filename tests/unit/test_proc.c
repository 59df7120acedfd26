/* SPDX-License-Identifier: MIT */
/* Reads /proc, and refuses processes by what it says. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/process/proc.h"

TEST(maps_are_parsed)
{
	static const char text[] =
		"00400000-00401000 r-xp 00002000 fe:01 1234                       /usr/bin/a b\n"
		"00600000-00601000 rw-p 00000000 00:00 0 \n"
		"7ffc0000-7ffc1000 rw-p 00000000 00:00 0                          [stack]\n"
		"7ffd0000-7ffd1000 r--s 00000000 00:01 99 /memfd:doublemapper (deleted)\n"
		"7ffe0000-7ffe1000 r--p 00000000 00:00 0                          [vvar]\n"
		"nonsense\n"
		"00500000-00501000 rw-p 00000000 00:00 0 out of order\n"
		"7fff0000-7ffe0000 rw-p 00000000 00:00 0 upside down\n"
		"7fffa000-7fffb000 ---p 00000000 00:00 0\n"
		"80000000-80001000 rwxp 00000000 00:00 5 /a\\012b\\013 (deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]";
	struct proc_maps maps = { 0 };
	CU_ASSERT_FATAL(proc_maps_parse(text, sizeof(text) - 1, &maps));
	ASSERT_UINT_FATAL(maps.rows_count, 8);
	ASSERT_UINT(maps.rows[0].start, 0x400000);
	ASSERT_UINT(maps.rows[0].end, 0x401000);
	ASSERT_UINT(maps.rows[0].offset, 0x2000);
	ASSERT_UINT(maps.rows[0].dev_major, 0xfe);
	ASSERT_UINT(maps.rows[0].dev_minor, 1);
	ASSERT_UINT(maps.rows[0].inode, 1234);
	ASSERT_UINT(maps.rows[0].flags, 5);
	ASSERT_UINT(maps.rows[0].is_shared, false);
	ASSERT_TEXT(maps.rows[0].path, "/usr/bin/a b");
	ASSERT_TEXT(maps.rows[1].path, "");
	ASSERT_UINT(maps.rows[1].flags, 6);
	ASSERT_TEXT(maps.rows[2].path, "[stack]");
	ASSERT_TEXT(maps.rows[3].path, "/memfd:doublemapper");
	ASSERT_UINT(maps.rows[3].is_shared, true);
	CU_ASSERT_FALSE(proc_map_is_readable(&maps.rows[4]));
	CU_ASSERT_FALSE(proc_map_is_readable(&maps.rows[5]));
	ASSERT_TEXT(maps.rows[6].path, "/a\nb\\013");
	ASSERT_UINT(maps.rows[7].end, 0xffffffffff601000);
	struct target *target = target_create(TARGET_PROCESS, NULL);
	REQUIRE(target);
	CU_ASSERT(proc_maps_to_target(&maps, target));
	ASSERT_UINT(target->map.mapping_count, 3);
	ASSERT_UINT(target->map.range_count, 5);
	target_destroy(target);
	proc_maps_deinit(&maps);
	for (size_t size = 0; size < sizeof(text); size++) {
		struct proc_maps cut = { 0 };
		CU_ASSERT(proc_maps_parse(text, size, &cut));
		proc_maps_deinit(&cut);
	}
}

TEST(mounts_that_may_not_answer)
{
	static const char text[] = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
				   "36 22 0:44 / /mnt/a\\040b rw master:1 - fuse.sshfs host: rw\n"
				   "37 22 0:4 / /proc rw - proc proc rw\n"
				   "38 22 0:45 / /fuse-5 rw - tmpfs nfs rw\n"
				   "39 22 0:46 / /n rw - nfs4 host:/ rw\n"
				   "40 22 0:47 / /n rw";
	CU_ASSERT(proc_mount_may_hang(text, 0, 44));
	CU_ASSERT(proc_mount_may_hang(text, 0, 46));
	CU_ASSERT_FALSE(proc_mount_may_hang(text, 254, 0));
	CU_ASSERT_FALSE(proc_mount_may_hang(text, 0, 4));
	CU_ASSERT_FALSE(proc_mount_may_hang(text, 0, 45));
	CU_ASSERT_FALSE(proc_mount_may_hang(text, 0, 47));
	CU_ASSERT_FALSE(proc_mount_may_hang(text, 0, 99));
	CU_ASSERT_FALSE(proc_mount_may_hang(NULL, 0, 44));
	for (size_t size = 0; size < sizeof(text); size++) {
		char *cut = strndup(text, size);
		REQUIRE(cut);
		(void)proc_mount_may_hang(cut, 0, 47);
		free(cut);
	}
}

TEST(the_id_inside_of_a_container_is_the_last_one)
{
	ASSERT_UINT((uint64_t)proc_inner_id("Name:\tdotnet\nNSpid:\t12070\t31\t1\nVmSize:\t5 kB\n"),
		    1);
	ASSERT_UINT((uint64_t)proc_inner_id("NSpid:\t12070\nNSpgid:\t7\n"), 12070);
	ASSERT_UINT((uint64_t)proc_inner_id("Name:\tNSpid\n"), 0);
	ASSERT_UINT((uint64_t)proc_inner_id("NSpid:\t"), 0);
	ASSERT_UINT((uint64_t)proc_inner_id("NSpid:\t12 x"), 0);
	ASSERT_UINT((uint64_t)proc_inner_id("NSpid:\t12 99999999999"), 0);
}

TEST(status_is_parsed)
{
	struct proc_status status;
	proc_status_parse("Name:\tdot net\nState:\tS (sleeping)\nTgid:\t12\nTracerPid:\t7\n"
			  "Uid:\t1000\t0\t0\t0\nVmSize:\t 1 kB\n",
			  &status);
	ASSERT_TEXT(status.name, "dot net");
	ASSERT_UINT((uint64_t)status.state, 'S');
	ASSERT_UINT((uint64_t)status.group, 12);
	ASSERT_UINT((uint64_t)status.tracer, 7);
	ASSERT_UINT(status.uid, 1000);
	ASSERT_UINT(status.is_kernel, false);
	proc_status_parse("Name:\tkthreadd\nState:\tS (sleeping)\nTgid:\t2\n", &status);
	ASSERT_UINT(status.is_kernel, true);
	proc_status_parse("Name:\tx\nState:\tS (sleeping)\nTgid:\t2\nKthread:\t1\nVmSize:\t1 kB\n",
			  &status);
	ASSERT_UINT(status.is_kernel, true);
	proc_status_parse("Name:\tx\nState:\tZ (zombie)\nTgid:\t2\n", &status);
	ASSERT_UINT(status.is_kernel, false);
	proc_status_parse("", &status);
	ASSERT_UINT((uint64_t)status.group, 0);
}

TEST(auxv_is_parsed)
{
	uint64_t words[] = { 3, 0x40, 4, 56, 5, 13, 7, 0x1000, 9, 0x2000, 0, 0, 3, 99 };
	struct target target = { 0 };
	for (size_t size = 0; size <= sizeof(words); size++)
		target_auxv_read(&target.auxv, (const uint8_t *)words, size);
	ASSERT_UINT(target.auxv.phdr, 0x40);
	ASSERT_UINT(target.auxv.phnum, 13);
	ASSERT_UINT(target.auxv.base, 0x1000);
	ASSERT_UINT(target.auxv.entry, 0x2000);
}

static void expect_failure(pid_t pid, enum hd_status status, const char *part)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_process(pid, NULL, NULL, &target, &err), status);
	ASSERT_UINT(err.status, status);
	CU_ASSERT_PTR_NULL(target);
	if (!strstr(err.message, part))
		ASSERT_TEXT(err.message, part);
}

static void end_at_once(struct child_board *board, void *arg)
{
	(void)arg;
	atomic_store(&board->is_ready, true);
}

TEST(what_is_no_process)
{
	struct live_child child = child_fork(end_at_once, NULL);
	while (child_state(child.pid) != 'Z')
		continue;
	expect_failure(child.pid, HD_ERR_OS, "has ended");
	pid_t pid = child.pid;
	child_end(&child);
	expect_failure(pid, HD_ERR_OS, "no process");
	expect_failure(0, HD_ERR_ARGUMENT, "is not a process id");
	expect_failure(-1, HD_ERR_ARGUMENT, "is not a process id");
	expect_failure(getpid(), HD_ERR_ARGUMENT, "cannot stop itself");
}

TEST(thread_is_not_its_process)
{
	if (!child_can_be_opened()) {
		puts("skipped: the sanitizer's shadow takes too long to look at here");
		return;
	}
	struct live_child child = child_start(1, NULL, NULL);
	struct target *target = NULL;
	const struct target_options one_byte = { .max_mem = 1 };
	ASSERT_UINT(target_open_process(child.pid, &one_byte, NULL, &target, NULL), HD_OK);
	REQUIRE(target);
	ASSERT_UINT_FATAL(target->threads.count, 2);
	int32_t tid = target->threads.rows[1].tid;
	target_destroy(target);
	char expected[64];
	(void)snprintf(expected, sizeof(expected), "is a thread of process %d", (int)child.pid);
	expect_failure(tid, HD_ERR_ARGUMENT, expected);
	child_end(&child);
}

static void look_as_nobody(struct child_board *board, void *arg)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	if (setgid(65534) == 0 && setuid(65534) == 0) {
		atomic_store(&board->other, (int)target_open_process(*(const pid_t *)arg, NULL,
								     NULL, &target, &err));
		(void)snprintf(board->message, sizeof(board->message), "%s", err.message);
	}
	atomic_store(&board->is_ready, true);
}

TEST(no_permission_says_what_to_do)
{
	if (geteuid() != 0) {
		puts("skipped: needs root");
		return;
	}
	struct live_child child = child_start(0, NULL, NULL);
	struct live_child nobody = child_fork(look_as_nobody, &child.pid);
	ASSERT_UINT((unsigned int)atomic_load(&nobody.board->other), HD_ERR_OS);
	const char *message = nobody.board->message;
	char expected[128];
	(void)snprintf(expected, sizeof(expected),
		       "the kernel refused to let uid 65534 look at process %d (%s) of "
		       "uid 0: run as that user or with sudo",
		       (int)child.pid, program_invocation_short_name);
	CU_ASSERT(strncmp(message, expected, strlen(expected)) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(message, "--cap-add=SYS_PTRACE"));
	CU_ASSERT_PTR_NOT_NULL(strstr(message, "createdump --full"));
	CU_ASSERT(child_is_running(&child));
	child_end(&nobody);
	child_end(&child);
}

/* A 32-bit program that waits: "mov eax, 29 (pause); int 0x80" in a loop. */
static const uint8_t program_32[] = {
	0x7f, 'E',  'L', 'F', 1,    1,  1, 0, 0,    0,    0,    0,    0,    0,    0, 0, /* ident */
	2,    0,    3,   0,   1,    0,  0, 0, 0x54, 0x80, 4,    8,    52,   0,    0, 0, /* entry */
	0,    0,    0,   0,   0,    0,  0, 0, 52,   0,    32,   0,    1,    0,    0, 0, /* sizes */
	0,    0,    0,   0,   1,    0,  0, 0, 0,    0,    0,    0,    0,    0x80, 4, 8, /* load */
	0,    0x80, 4,   8,   0x5d, 0,  0, 0, 0x5d, 0,    0,    0,    5,    0,    0, 0,
	0,    0x10, 0,   0,   0xb8, 29, 0, 0, 0,    0xcd, 0x80, 0xeb, 0xf7,
};

static void run_32_bits(struct child_board *board, void *arg)
{
	(void)board;
	char *argv[] = { arg, NULL };
	atomic_store(&board->is_ready, true);
	(void)execv(arg, argv);
}

TEST(program_of_32_bits_is_refused)
{
	char path[] = "/tmp/heapdump-test-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(write(fd, program_32, sizeof(program_32)) == (ssize_t)sizeof(program_32));
	CU_ASSERT(fchmod(fd, 0700) == 0);
	(void)close(fd);
	struct live_child child = child_fork(run_32_bits, path);
	char exe[64], link[128];
	ssize_t length = 0;
	(void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)child.pid);
	while (child_state(child.pid) != 'Z') {
		length = readlink(exe, link, sizeof(link));
		if (length == (ssize_t)strlen(path) && memcmp(link, path, (size_t)length) == 0)
			break;
	}
	if (child_state(child.pid) == 'Z')
		puts("skipped: this kernel runs no 32-bit programs");
	else
		expect_failure(child.pid, HD_ERR_UNSUPPORTED, "is a 32-bit program");
	child_end(&child);
	(void)unlink(path);
}

SUITE(.name = "proc")
