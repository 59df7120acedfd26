/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <heapdump/debugger.h>

#include "arch/arch.h"
#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/live_child.h"
#include "support/suite.h"
#include "targets/target_modules.h"
#include "util/alloc.h"

#define BASE UINT64_C(0x7f1200000000)
#define SIZE ((size_t)0x20000)

/* The memory that a debugger shows: a buffer at BASE, or a process. */
struct shown {
	uint8_t bytes[SIZE];
	pid_t pid;
	unsigned int calls;
	size_t claim; /* to be returned in place of the truth; 0 = the truth */
};

static struct shown shown;

static size_t read_shown(void *arg, uint64_t address, void *buf, size_t size)
{
	struct shown *from = arg;
	from->calls++;
	if (from->claim)
		return from->claim;
	if (from->pid) {
		struct iovec local = { buf, size }, remote = { (void *)(uintptr_t)address, size };
		ssize_t got = process_vm_readv(from->pid, &local, 1, &remote, 1, 0);
		return got > 0 ? (size_t)got : 0;
	}
	if (address < BASE || address >= BASE + SIZE)
		return 0;
	size_t left = (size_t)(BASE + SIZE - address), piece = left < size ? left : size;
	memcpy(buf, from->bytes + (address - BASE), piece);
	return piece;
}

#define REGISTERS 17u

static struct hd_debugger make_debugger(void)
{
	memset(&shown, 0, sizeof(shown));
	for (size_t i = 0; i < SIZE; i++)
		shown.bytes[i] = (uint8_t)(i * 7 + i / 256);
	return (struct hd_debugger){
		.struct_size = sizeof(struct hd_debugger),
		.arg = &shown,
		.read = read_shown,
		.stack_pointer = BASE + 0x1000,
		.register_count = REGISTERS,
		.processor = "x86_64",
	};
}

static struct target *open_debugger(const struct hd_debugger *debugger, const char *backend,
				    enum hd_status expected, const char *part)
{
	const struct target_options options = { .backend = backend };
	struct target *target = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(target_open_debugger(debugger, &options, NULL, &target, &err), expected);
	ASSERT_UINT(err.status, expected);
	if (!strstr(err.message, part))
		ASSERT_TEXT(err.message, part);
	return target;
}

TEST(callback_is_read_through_a_cache)
{
	struct hd_debugger debugger = make_debugger();
	debugger.pid = 42;
	struct target *target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_UINT(target->kind, TARGET_DEBUGGER);
	ASSERT_TEXT(target->debugger.route, "the debugger");
	ASSERT_UINT((uint64_t)target->pid, 42);
	CU_ASSERT_PTR_EQUAL(target->own, target->memory);
	uint8_t buf[300];
	unsigned int before = shown.calls;
	for (uint64_t at = BASE; at + sizeof(buf) <= BASE + SIZE; at += 97) {
		CU_ASSERT(memory_read(target->memory, at, buf, sizeof(buf)));
		ASSERT_UINT((uint64_t)memcmp(buf, shown.bytes + (at - BASE), sizeof(buf)), 0);
	}
	ASSERT_UINT(shown.calls - before, SIZE >> 14);
	ASSERT_UINT(memory_prefix(target->memory, BASE + SIZE - 5, buf, 100), 5);
	ASSERT_UINT(memory_prefix(target->memory, BASE + SIZE, buf, 100), 0);
	target_destroy(target);
}

TEST(callback_that_claims_too_much)
{
	struct hd_debugger debugger = make_debugger();
	struct target *target = open_debugger(&debugger, "debugger", HD_OK, "");
	REQUIRE(target);
	shown.claim = SIZE_MAX;
	uint8_t buf[100];
	CU_ASSERT(memory_prefix(target->memory, BASE, buf, sizeof(buf)) <= sizeof(buf));
	target_destroy(target);
}

TEST(wrong_use)
{
	struct hd_debugger debugger = make_debugger();
	debugger.read = NULL;
	open_debugger(&debugger, NULL, HD_ERR_ARGUMENT, "nothing to read");
	open_debugger(&debugger, "debugger", HD_ERR_ARGUMENT, "nothing to read");
	debugger = make_debugger();
	open_debugger(&debugger, "file", HD_ERR_ARGUMENT, "no core file");
	open_debugger(&debugger, "process", HD_ERR_ARGUMENT, "no process stopped on this machine");
}

TEST(modules_of_the_debugger)
{
	struct hd_debugger debugger = make_debugger();
	const struct image_symbol symbol = { "the_symbol", 0x1230, 8 };
	const struct image_spec spec = {
		.base = BASE + 0x4000,
		.soname = "libx.so",
		.symbols = &symbol,
		.symbol_count = 1,
	};
	struct text image = image_make(&spec, true);
	CU_ASSERT_FATAL(image.size < SIZE - 0x4000);
	memcpy(shown.bytes + 0x4000, image.bytes, image.size);
	const struct hd_debugger_module modules[] = {
		{ "/bin/nothing", 0x1000 },
		{ "/lib/no-elf.so", BASE },
		{ NULL, BASE + 0x4000 },
		{ "/lib/libx.so", BASE + 0x4000 },
		{ "/lib/end.so", BASE + SIZE - 32 },
		{ "/lib/top.so", UINT64_MAX - 8 },
	};
	debugger.modules = modules;
	debugger.module_count = sizeof(modules) / sizeof(modules[0]);
	struct target *target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_UINT_FATAL(target->module_count, 1);
	ASSERT_TEXT(target->modules[0].path, "/lib/libx.so");
	ASSERT_UINT(target->modules[0].base, BASE + 0x4000);
	ASSERT_UINT(target->modules[0].dynamic, BASE + 0x4000 + IMAGE_DYNAMIC);
	uint64_t address = 0;
	CU_ASSERT(target_symbol(target, &target->modules[0], "the_symbol", &address, NULL));
	ASSERT_UINT(address, BASE + 0x4000 + 0x1230);
	target_destroy(target);
	/* Whatever its header says. */
	for (size_t i = 0; i < 0x200; i++) {
		uint8_t saved = shown.bytes[0x4000 + i];
		shown.bytes[0x4000 + i] = (uint8_t)~saved;
		target_destroy(open_debugger(&debugger, NULL, HD_OK, ""));
		shown.bytes[0x4000 + i] = saved;
	}
	text_deinit(&image);
}

/* Two threads whose registers have the values 16 * k and 16 * k + 1. */
static void make_threads(struct hd_debugger_thread threads[2])
{
	static uint64_t registers[2][REGISTERS];
	for (unsigned int i = 0; i < 2; i++) {
		threads[i] =
			(struct hd_debugger_thread){ .tid = (int32_t)(100 + i), .number = 7u + i };
		for (unsigned int k = 0; k < REGISTERS; k++)
			registers[i][k] = 16 * k + i;
		threads[i].registers = registers[i];
	}
}

static void check_threads(const struct target *target)
{
	/* Where each register of the processor's order (0 rax ... 16 rip) is in a target. */
	static const uint8_t rows[][2] = {
		{ 0, REGISTER_RAX },  { 1, REGISTER_RCX },  { 2, REGISTER_RDX },
		{ 3, REGISTER_RBX },  { 4, REGISTER_RSP },  { 5, REGISTER_RBP },
		{ 6, REGISTER_RSI },  { 7, REGISTER_RDI },  { 8, REGISTER_R8 },
		{ 9, REGISTER_R9 },   { 10, REGISTER_R10 }, { 11, REGISTER_R11 },
		{ 12, REGISTER_R12 }, { 13, REGISTER_R13 }, { 14, REGISTER_R14 },
		{ 15, REGISTER_R15 }, { 16, REGISTER_RIP },
	};
	ASSERT_UINT_FATAL(target->threads.count, 2);
	for (unsigned int i = 0; i < 2; i++) {
		const struct target_thread *thread = target_thread(target, (int32_t)(100 + i));
		REQUIRE(thread);
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			ASSERT_UINT(thread->registers[rows[k][1]], 16 * rows[k][0] + i);
		ASSERT_UINT(thread->registers[REGISTER_FS_BASE], 0);
		ASSERT_UINT(thread->registers[15], 0); /* orig_rax */
		ASSERT_UINT((uint64_t)target_thread_number(target, 100 + i), 7 + i);
	}
	CU_ASSERT_EQUAL(target_thread_number(target, 42), -1);
	CU_ASSERT_EQUAL(target_thread_number(target, 0), -1);
	CU_ASSERT_EQUAL(target_thread_number(target, ((uint64_t)1 << 32) + 100), -1);
	CU_ASSERT_PTR_NULL(target_thread(target, 42));
}

TEST(threads_of_the_debugger)
{
	struct hd_debugger_thread threads[2];
	struct hd_debugger debugger = make_debugger();
	make_threads(threads);
	struct target *target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_UINT(target->threads.count, 0);
	target_destroy(target);
	debugger.thread_count = 2; /* of none */
	target_destroy(open_debugger(&debugger, NULL, HD_OK, ""));
	debugger.threads = threads;
	target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	check_threads(target);
	target_destroy(target);
}

/* The process of a child, as a debugger that has it stopped shows it. */
static struct hd_debugger show_child(const struct live_child *child)
{
	struct hd_debugger debugger = make_debugger();
	shown.pid = child->pid;
	debugger.pid = child->pid;
	debugger.is_local = 1;
	debugger.stack_pointer = (uintptr_t)shown.bytes + 0x1000;
	return debugger;
}

TEST(local_process_is_read_past_the_debugger)
{
	(void)make_debugger();
	struct live_child child = child_start(0, NULL, NULL);
	struct hd_debugger debugger = show_child(&child);
	struct hd_debugger_thread threads[2];
	make_threads(threads);
	debugger.threads = threads;
	debugger.thread_count = 2;
	for (unsigned int turn = 0; turn < 2; turn++) {
		struct target *target =
			open_debugger(&debugger, turn ? "process" : NULL, HD_OK, "");
		REQUIRE(target);
		ASSERT_UINT(target->kind, TARGET_PROCESS);
		ASSERT_TEXT(target->debugger.route, "the process, past the debugger");
		ASSERT_TEXT(target->name, program_invocation_short_name);
		unsigned int before = shown.calls;
		uint8_t buf[64];
		CU_ASSERT(memory_read(target->memory, (uintptr_t)shown.bytes, buf, sizeof(buf)));
		ASSERT_UINT((uint64_t)memcmp(buf, shown.bytes, sizeof(buf)), 0);
		ASSERT_UINT(shown.calls, before);
		CU_ASSERT(target->module_count > 1 && target->map.mapping_count > 4);
		CU_ASSERT(target->auxv.phdr != 0);
		ASSERT_UINT(target->findings.count, 0);
		/* On another machine the process is of that machine's processor. */
		if (arch_of_host() == &arch_x86_64)
			check_threads(target);
		target_destroy(target);
		CU_ASSERT(child_is_running(&child));
	}
	struct target *target = open_debugger(&debugger, "debugger", HD_OK, "");
	REQUIRE(target);
	ASSERT_UINT(target->kind, TARGET_DEBUGGER);
	target_destroy(target);
	child_end(&child);
}

TEST(other_bytes_step_down_to_the_debugger)
{
	(void)make_debugger();
	struct live_child child = child_start(0, NULL, NULL);
	struct hd_debugger debugger = show_child(&child);
	/* A record of the past, or another process of the same number. */
	shown.pid = 0;
	debugger.stack_pointer = BASE + 0x1000;
	struct target *target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_TEXT(target->debugger.route, "the debugger");
	target_destroy(target);
	open_debugger(&debugger, "process", HD_ERR_ARGUMENT, "is not what the debugger shows");
	/* The stack is there, with other bytes. */
	shown.pid = child.pid;
	debugger.stack_pointer = (uintptr_t)shown.bytes + 0x1000;
	debugger.arg = &shown;
	shown.claim = 64; /* claims to have read what it has not written */
	open_debugger(&debugger, "process", HD_ERR_ARGUMENT, "is not what the debugger shows");
	shown.claim = 0;
	debugger.stack_pointer = 0;
	open_debugger(&debugger, "process", HD_ERR_ARGUMENT, "cannot be compared");
	target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_TEXT(target->debugger.route, "the debugger");
	target_destroy(target);
	debugger.pid = 0;
	target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_TEXT(target->debugger.route, "the debugger");
	target_destroy(target);
	child_end(&child);
}

/* A core with the first half of the shown bytes, and one thread or none. */
static char core_path[64];

static void write_core_with(bool has_thread)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	elf_maker_load(&maker, BASE, shown.bytes, SIZE / 2, SIZE, PF_R | PF_W);
	if (has_thread)
		elf_maker_thread(&maker, 42, NULL, 6);
	struct text core = elf_maker_build(&maker);
	(void)snprintf(core_path, sizeof(core_path), "/tmp/heapdump-test-%d.core", (int)getpid());
	CU_ASSERT_FATAL(write_file(core_path, core.bytes, core.size));
	text_deinit(&core);
	elf_maker_deinit(&maker);
}

static void write_core(void)
{
	write_core_with(true);
}

TEST(core_with_threads_of_the_debugger)
{
	struct hd_debugger_thread threads[2];
	struct hd_debugger debugger = make_debugger();
	make_threads(threads);
	debugger.core = core_path;
	debugger.threads = threads;
	debugger.thread_count = 2;
	write_core_with(false);
	struct target *target = open_debugger(&debugger, "file", HD_OK, "");
	REQUIRE(target);
	check_threads(target);
	target_destroy(target);
	/* Its own come first; their numbers are the debugger's. */
	write_core();
	for (uint32_t number = 0; number < 6; number += 5) {
		threads[1].tid = number ? 42 : 101;
		threads[1].number = number;
		target = open_debugger(&debugger, "file", HD_OK, "");
		REQUIRE(target);
		ASSERT_UINT_FATAL(target->threads.count, 1);
		ASSERT_UINT((uint64_t)target->threads.rows[0].tid, 42);
		CU_ASSERT_EQUAL(target_thread_number(target, 42), number ? 5 : -1);
		CU_ASSERT_EQUAL(target_thread_number(target, 100), -1);
		target_destroy(target);
	}
	(void)unlink(core_path);
}

TEST(core_comes_first)
{
	struct hd_debugger debugger = make_debugger();
	write_core();
	debugger.core = core_path;
	for (unsigned int turn = 0; turn < 2; turn++) {
		struct target *target = open_debugger(&debugger, turn ? "file" : NULL, HD_OK, "");
		REQUIRE(target);
		ASSERT_UINT(target->kind, TARGET_CORE);
		ASSERT_TEXT(target->debugger.route, "the core file, then the debugger");
		ASSERT_UINT(target->threads.count, 1);
		unsigned int before = shown.calls;
		uint8_t buf[256];
		CU_ASSERT(memory_read(target->memory, BASE + 0x2000, buf, sizeof(buf)));
		ASSERT_UINT((uint64_t)memcmp(buf, shown.bytes + 0x2000, sizeof(buf)), 0);
		ASSERT_UINT(shown.calls, before);
		/* The debugger has the bytes that the core lacks. */
		CU_ASSERT(memory_read(target->memory, BASE + SIZE / 2 - 100, buf, sizeof(buf)));
		ASSERT_UINT((uint64_t)memcmp(buf, shown.bytes + SIZE / 2 - 100, sizeof(buf)), 0);
		CU_ASSERT(shown.calls > before);
		CU_ASSERT_FALSE(memory_read(target->own, BASE + SIZE / 2, buf, 1));
		target_destroy(target);
	}
	debugger.read = NULL;
	struct target *target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_TEXT(target->debugger.route, "the core file");
	target_destroy(target);
	(void)unlink(core_path);
}

TEST(core_that_the_debugger_does_not_show)
{
	struct hd_debugger debugger = make_debugger();
	write_core();
	debugger.core = core_path;
	shown.bytes[0x1010] ^= 1;
	struct target *target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	ASSERT_TEXT(target->debugger.route, "the debugger");
	CU_ASSERT(findings_has(&target->findings, FINDING_CORE_NOT_USED));
	target_destroy(target);
	open_debugger(&debugger, "file", HD_ERR_FORMAT, "is not what the debugger shows");
	(void)unlink(core_path);
	/* None at all. */
	target = open_debugger(&debugger, NULL, HD_OK, "");
	REQUIRE(target);
	CU_ASSERT(findings_has(&target->findings, FINDING_CORE_NOT_USED));
	target_destroy(target);
	open_debugger(&debugger, "file", HD_ERR_OS, core_path);
	debugger.read = NULL;
	open_debugger(&debugger, NULL, HD_ERR_OS, core_path);
}

TEST(memory_may_be_exhausted)
{
	struct hd_debugger_thread threads[2];
	struct hd_debugger debugger = make_debugger();
	make_threads(threads);
	debugger.threads = threads;
	debugger.thread_count = 2;
	write_core_with(false);
	for (unsigned int route = 0; route < 2; route++) {
		debugger.core = route ? core_path : NULL;
		uint64_t nth = 0;
		bool failed = true;
		while (failed && ++nth < 500) {
			struct target *target = NULL;
			struct hd_error err = { 0 };
			alloc_fail_at(nth);
			enum hd_status status =
				target_open_debugger(&debugger, NULL, NULL, &target, &err);
			failed = alloc_calls() >= nth;
			alloc_fail_at(0);
			CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
			target_destroy(target);
		}
		CU_ASSERT(nth > 2 && nth < 500);
	}
	(void)unlink(core_path);
}

SUITE(.name = "debugger")
