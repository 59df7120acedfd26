/* SPDX-License-Identifier: MIT */
/* Tests which part of a process's native memory is copied, and which is left out. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/process/process_memory.h"
#include "targets/target_files.h"

#define PAGE      ((size_t)4096)
#define LARGE     ((size_t)64 << 20)
#define LITTLE    ((size_t)8 << 20)
#define HEAP_PAGE ((size_t)1000)
#define KEPT_PAGE ((size_t)9000)
/* Enough to ask twice, on any machine. */
#define HELD_SECONDS 3

static uint8_t *memory;
static size_t size;
static enum hd_status found = HD_OK;

static void fill(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < size; i += PAGE)
		memory[i] = (uint8_t)(i / PAGE * 7 + 1);
}

static uint64_t page_at(size_t page)
{
	return (uintptr_t)memory + page * PAGE;
}

/* The process stands still and can be read. */
static enum hd_status find_heap(void *arg, struct memory *of, struct page_list *ret,
				struct hd_error *err)
{
	uint8_t byte = 0;
	(void)arg;
	(void)err;
	CU_ASSERT(memory_u8(of, page_at(HEAP_PAGE), &byte));
	ASSERT_UINT(byte, (uint8_t)(HEAP_PAGE * 7 + 1));
	page_list_add(ret, page_at(HEAP_PAGE) + 1, PAGE);
	return found;
}

static struct target *open_child(pid_t pid, struct page_list *kept, uint64_t max_mem)
{
	struct target *target = NULL;
	struct hd_error err = { 0 };
	const struct target_options how = { .kept = kept,
					    .find_heap = find_heap,
					    .max_mem = max_mem };
	ASSERT_UINT(target_open_process(pid, &how, NULL, &target, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(target);
	return target;
}

static bool has_page(struct target *target, size_t page)
{
	uint8_t byte = 0;
	return memory_u8(target->memory, page_at(page), &byte) && byte == (uint8_t)(page * 7 + 1);
}

static struct live_child start(size_t bytes)
{
	void *got = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	REQUIRE(got != MAP_FAILED ? got : NULL);
	memory = got;
	size = bytes;
	found = HD_OK;
	return child_start(0, fill, NULL);
}

static void stop(struct live_child *child)
{
	child_end(child);
	(void)munmap(memory, size);
}

/* The pages that are read while it runs have to be copied: here the list of modules. */
static void look(pid_t pid, struct page_list *kept)
{
	struct target *target = NULL;
	const struct target_options how = { .no_stop = true, .kept = kept };
	ASSERT_UINT(target_open_process(pid, &how, NULL, &target, NULL), HD_OK);
	REQUIRE(target);
	/* For which it was stopped for a moment. */
	ASSERT_UINT(target->threads.count, 1);
	CU_ASSERT(kept->rows_count > 0);
	target_destroy(target);
}

static bool runs_at_last(const struct live_child *child)
{
	bool runs = false;
	for (unsigned int turn = 0; turn < 600 && !runs; turn++)
		runs = child_is_running(child);
	return runs;
}

/* Looks for the heap until the process runs again: so slow is this machine. */
static enum hd_status wait_until_it_runs(void *arg, struct memory *of, struct page_list *ret,
					 struct hd_error *err)
{
	const struct live_child *child = arg;
	(void)of;
	(void)ret;
	(void)err;
	CU_ASSERT(runs_at_last(child));
	return HD_OK;
}

/* The helper that holds it lets it go, and does not wait for us. */
TEST(it_is_not_stopped_for_longer_than_it_may_be)
{
	struct live_child child = start(LITTLE);
	struct page_list kept = { 0 };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	const struct target_options how = { .kept = &kept,
					    .find_heap = wait_until_it_runs,
					    .find_heap_arg = &child,
					    .stop_seconds = 1 };
	ASSERT_UINT(target_open_process(child.pid, &how, NULL, &target, &err), HD_ERR_OS);
	CU_ASSERT_PTR_NULL(target);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, " was let go after 1 s, when not all"));
	CU_ASSERT(runs_at_last(&child));
	page_list_deinit(&kept);
	stop(&child);
}

/* The same after it was copied: what was read last may be newer than the rest. */
TEST(a_copy_is_right_only_if_it_was_stopped_until_its_end)
{
	struct live_child child = start(LITTLE);
	struct process_server *server = NULL;
	const struct target_thread *threads;
	size_t count = 0;
	double seconds = 0;
	struct hd_error err = { 0 };
	ASSERT_UINT(process_server_create(child.pid, &server, NULL), HD_OK);
	REQUIRE(server);
	process_server_set_limit(server, 1);
	ASSERT_UINT(process_server_stop(server, &threads, &count, &err), HD_OK);
	CU_ASSERT(runs_at_last(&child));
	ASSERT_UINT(process_server_resume(server, &seconds, &err), HD_ERR_OS);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, " was let go after 1 s, when not all"));
	process_server_release(server);
	stop(&child);
}

TEST(what_is_held_stays_stopped)
{
	struct live_child child = start(LITTLE);
	struct process_server *server = NULL;
	const struct target_thread *threads;
	size_t count = 0;
	struct hd_error err = { 0 };
	ASSERT_UINT(process_server_create(child.pid, &server, NULL), HD_OK);
	REQUIRE(server);
	process_server_set_limit(server, HELD_SECONDS);
	ASSERT_UINT(process_server_stop(server, &threads, &count, &err), HD_OK);
	ASSERT_UINT(process_server_hold(server, &err), HD_OK);
	(void)sleep(HELD_SECONDS);
	ASSERT_UINT((uint64_t)child_state(child.pid), 't');
	ASSERT_UINT(process_server_resume(server, NULL, &err), HD_OK);
	CU_ASSERT(runs_at_last(&child));
	process_server_release(server);
	stop(&child);
}

TEST(what_is_not_kept_is_left_out)
{
	if (!child_can_be_opened())
		return;
	struct live_child child = start(LARGE);
	struct page_list kept = { 0 };
	look(child.pid, &kept);
	page_list_add(&kept, page_at(KEPT_PAGE), 1);
	struct target *target = open_child(child.pid, &kept, (uint64_t)32 << 20);
	CU_ASSERT(child_is_running(&child));
	REQUIRE(target->process.copy);
	CU_ASSERT(process_copy_left(target->process.copy) > LARGE - (1 << 20));
	ASSERT_UINT(target->findings.count, 0);
	CU_ASSERT(has_page(target, HEAP_PAGE));
	CU_ASSERT(has_page(target, HEAP_PAGE + 1));
	CU_ASSERT(has_page(target, KEPT_PAGE));
	ASSERT_UINT(process_copy_missed(target->process.copy)->rows_count, 0);
	target_add_file_findings(target);
	CU_ASSERT_FALSE(findings_has(&target->findings, FINDING_MISSING_NATIVE));
	/* Missing pages are told, however they are asked for. */
	uint8_t bytes[2 * 4096];
	uint64_t run;
	CU_ASSERT_FALSE(has_page(target, 100));
	CU_ASSERT_PTR_NULL(memory_run(target->memory, page_at(100), &run));
	ASSERT_UINT(memory_next(target->memory, page_at(100)), page_at(HEAP_PAGE));
	ASSERT_UINT(memory_prefix(target->memory, page_at(KEPT_PAGE) + 1, bytes, sizeof(bytes)),
		    PAGE - 1);
	const struct page_list *missed = process_copy_missed(target->process.copy);
	ASSERT_UINT(missed->rows_count, 2);
	ASSERT_UINT(missed->rows[0].start, page_at(100));
	ASSERT_UINT(missed->rows[1].start, page_at(KEPT_PAGE + 1));
	target_add_file_findings(target);
	CU_ASSERT(findings_has(&target->findings, FINDING_MISSING_NATIVE));
	target_destroy(target);
	page_list_deinit(&kept);
	stop(&child);
}

/* The stack of the thread, from its stack pointer on. */
TEST(stacks_are_copied)
{
	if (!child_can_be_opened())
		return;
	struct live_child child = start(LARGE);
	struct page_list kept = { 0 };
	struct target *target = open_child(child.pid, &kept, 0);
	REQUIRE(target->process.copy);
	REQUIRE(target->threads.rows);
	const struct arch *arch = target->arch;
	const uint64_t *registers = target->threads.rows[0].registers;
	uint64_t word, sp = registers[arch->words_of_registers[arch->sp]];
	CU_ASSERT(memory_u64(target->memory, sp, &word));
	CU_ASSERT(memory_u64(target->memory, sp - arch->space.red_zone, &word));
	if (arch->prstatus.thread != ARCH_NONE)
		CU_ASSERT(memory_u64(target->memory, registers[arch->prstatus.thread], &word));
	target_destroy(target);
	page_list_deinit(&kept);
	stop(&child);
}

static void all_is_copied(size_t bytes, enum hd_status status)
{
	struct live_child child = start(bytes);
	struct page_list kept = { 0 };
	found = status;
	struct target *target = open_child(child.pid, &kept, 0);
	CU_ASSERT_PTR_NULL(target->process.copy);
	ASSERT_UINT(target->findings.count, 0);
	CU_ASSERT(has_page(target, 100));
	CU_ASSERT(has_page(target, bytes / PAGE - 1));
	target_destroy(target);
	page_list_deinit(&kept);
	stop(&child);
}

TEST(all_is_copied_where_the_heap_is_not_known)
{
	if (child_can_be_opened())
		all_is_copied(LARGE, HD_ERR_NOTFOUND);
}

/* HEAP_PAGE and KEPT_PAGE take next to nothing of it. */
TEST(little_is_copied_in_any_case)
{
#ifdef __SANITIZE_ADDRESS__
	(void)puts("skipped: what AddressSanitizer itself has is not little");
	return;
#endif
	if (child_can_be_opened())
		all_is_copied(LITTLE, HD_OK);
}

static struct target_thread thread_at(uint64_t block)
{
	struct target_thread thread = { .tid = 1 };
	thread.registers[REGISTER_FS_BASE] = block;
	return thread;
}

TEST(a_stack_ends_behind_its_control_block)
{
	const struct target target = { .arch = &arch_x86_64 };
	struct target_thread thread = thread_at(0x7000640);
	ASSERT_UINT(target_stack_end(&target, &thread, 0x6ff0000, 0x9000000), 0x7002000);
	/* Up to the end of what can be written, where that is near. */
	ASSERT_UINT(target_stack_end(&target, &thread, 0x6ff0000, 0x7001000), 0x7001000);
	/* The block lies elsewhere, as that of the first thread. */
	ASSERT_UINT(target_stack_end(&target, &thread, 0x7100000, 0x9000000), 0x9000000);
	ASSERT_UINT(target_stack_end(&target, &thread, 0x6ff0000, 0x6ffe000), 0x6ffe000);
	thread = thread_at(0);
	ASSERT_UINT(target_stack_end(&target, &thread, 0x6ff0000, 0x9000000), 0x9000000);
}

SUITE(.name = "process_lean")
