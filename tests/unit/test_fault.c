/* SPDX-License-Identifier: MIT */
/* Where the signal hit: struct ucontext of arch/x86/include/uapi/asm/ucontext.h. */
#include "arch/x86_64/frame_registers.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "unwind/fault.h"

#define STACK   UINT64_C(0x7ffe00000000)
#define OTHER   UINT64_C(0x7ffd00000000) /* the stack for signals */
#define SIZE    0x4000u
#define RUNTIME UINT64_C(0x7f0000400000)
#define OBJECT  UINT64_C(0x7e0000001230)

static char runtime_path[] = "/r/libcoreclr.so", library_path[] = "/l/libc.so.6";

struct fixture {
	struct fake_memory fake;
	struct target target;
	struct target_thread threads[2];
	struct target_mapping mappings[4];
};

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){ .target = { .kind = TARGET_CORE, .arch = &arch_x86_64 } };
	fake_memory_init(&fixture->fake);
	fake_map(&fixture->fake, STACK, SIZE);
	fake_map(&fixture->fake, OTHER, SIZE);
	fixture->mappings[0] = (struct target_mapping){ .start = RUNTIME - 0x2000,
							.end = RUNTIME,
							.path = runtime_path };
	fixture->mappings[1] = fixture->mappings[0];
	fixture->mappings[1].start = RUNTIME;
	fixture->mappings[1].end = RUNTIME + 0x10000;
	fixture->mappings[1].offset = 0x2000;
	fixture->mappings[2] = (struct target_mapping){ .start = RUNTIME + 0x100000,
							.end = RUNTIME + 0x110000,
							.path = library_path };
	for (int i = 0; i < 2; i++) {
		fixture->threads[i].tid = 100 + i;
		fixture->threads[i].registers[REGISTER_RSP] = STACK + 0x100;
		fixture->threads[i].registers[REGISTER_RIP] = RUNTIME + 0x100040;
	}
	fixture->target.memory = &fixture->fake.memory;
	fixture->target.threads.rows = fixture->threads;
	fixture->target.threads.count = 2;
	fixture->target.map.mappings = fixture->mappings;
	fixture->target.map.mapping_count = 3;
}

/* uc_mcontext: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags, selectors, ..., fpstate. */
static void put_context(struct fixture *fixture, uint64_t at, uint64_t rip)
{
	struct fake_memory *fake = &fixture->fake;
	fake_poke_u64(fake, at + 40 + 8 * 8, OBJECT); /* rdi */
	fake_poke_u64(fake, at + 40 + 8 * 15, STACK + 0x2000);
	fake_poke_u64(fake, at + 40 + 8 * 16, rip);
	fake_poke_u64(fake, at + 40 + 8 * 18, UINT64_C(0x002b000000000033));
	fake_poke_u64(fake, at + 40 + 8 * 23, (at + 0x200) & ~UINT64_C(15));
}

TEST(nothing_is_found_without_a_signal)
{
	struct fixture fixture;
	struct fault fault = { .tid = 77 };
	begin(&fixture);
	CU_ASSERT_FALSE(fault_find(&fixture.target, &fault));
	fixture.threads[1].signal = 19; /* SIGSTOP */
	CU_ASSERT_FALSE(fault_find(&fixture.target, &fault));
	fixture.threads[1].signal = 5; /* SIGTRAP, of a debugger */
	CU_ASSERT_FALSE(fault_find(&fixture.target, &fault));
	CU_ASSERT(fault.tid == 77);
	fake_memory_deinit(&fixture.fake);
}

/* Whatever ends a process with a core is a crash: a system call that is forbidden, a limit, a person. */
TEST(every_signal_that_writes_a_core_is_one)
{
	static const int signals[] = { 3, 4, 6, 7, 8, 11, 24, 25, 31 };
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct fixture fixture;
		struct fault fault;
		begin(&fixture);
		fixture.threads[1].signal = signals[i];
		CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
		ASSERT_UINT((uint64_t)fault.signal, (uint64_t)signals[i]);
		ASSERT_UINT((uint64_t)fault.tid, 101);
		CU_ASSERT_PTR_NOT_NULL(target_crash_name(signals[i]));
		fake_memory_deinit(&fixture.fake);
	}
}

/* As the kernel writes a core: the thread stands where it was. */
TEST(the_thread_may_stand_where_it_was)
{
	struct fixture fixture;
	struct fault fault;
	begin(&fixture);
	fixture.threads[1].signal = 11;
	fixture.threads[1].registers[REGISTER_RIP] = RUNTIME + 0x123;
	fixture.threads[1].registers[REGISTER_RDI] = OBJECT;
	CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
	ASSERT_UINT((uint64_t)fault.tid, 101);
	ASSERT_UINT((uint64_t)fault.signal, 11);
	CU_ASSERT_FALSE(fault.is_in_handler);
	ASSERT_UINT(fault.registers.values[REG_RDI], OBJECT);
	ASSERT_UINT(fault.offset, 0x2123);
	CU_ASSERT_STRING_EQUAL(fault.mapping->path, "/r/libcoreclr.so");
	fixture.threads[1].registers[REGISTER_RIP] = 0x1000;
	CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
	CU_ASSERT(fault.mapping == NULL);
	fake_memory_deinit(&fixture.fake);
}

TEST(the_address_of_a_page_fault_is_told)
{
	for (uint64_t trap = 13; trap < 16; trap++) {
		struct fixture fixture;
		struct fault fault;
		begin(&fixture);
		fixture.threads[0].signal = 11;
		put_context(&fixture, STACK + 0x1000, RUNTIME + 0x4567);
		fake_poke_u64(&fixture.fake, STACK + 0x1000 + 40 + 8 * 20, trap);
		fake_poke_u64(&fixture.fake, STACK + 0x1000 + 40 + 8 * 22, 0x18);
		CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
		CU_ASSERT_EQUAL(fault.has_address, trap == 14);
		ASSERT_UINT(fault.has_address ? fault.address : 0x18, 0x18);
		fake_memory_deinit(&fixture.fake);
	}
}

/* As createdump's caller stands in the handler, whose argument leads to the context on another stack. */
TEST(a_handler_has_the_registers_of_the_fault)
{
	for (int i = 0; i < 2; i++) {
		struct fixture fixture;
		struct fault fault;
		uint64_t place = i ? OTHER + 0x800 : STACK + 0x1000;
		begin(&fixture);
		fixture.threads[0].signal = 6;
		put_context(&fixture, place, RUNTIME + 0x4567);
		if (i)
			fake_poke_u64(&fixture.fake, STACK + 0x308, place);
		/* One that looks the same, but of code of no file. */
		put_context(&fixture, STACK + 0x600, 0x5000);
		CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
		CU_ASSERT(fault.is_in_handler);
		ASSERT_UINT(fault.registers.values[REG_RIP], RUNTIME + 0x4567);
		ASSERT_UINT(fault.registers.values[REG_RDI], OBJECT);
		ASSERT_UINT(fault.offset, 0x6567);
		fake_memory_deinit(&fixture.fake);
	}
}

/* The runtime maps some assemblies as they are in the file, and as an image at another place. */
TEST(the_place_in_a_file_that_is_mapped_twice_is_in_its_own_image)
{
	struct fixture fixture;
	struct fault fault;
	begin(&fixture);
	memmove(fixture.mappings + 1, fixture.mappings, 3 * sizeof(*fixture.mappings));
	fixture.mappings[0].start -= 0x10000000;
	fixture.mappings[0].end = fixture.mappings[0].start + 0x8000;
	fixture.target.map.mapping_count = 4;
	fixture.threads[1].signal = 11;
	fixture.threads[1].registers[REGISTER_RIP] = RUNTIME + 0x123;
	CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
	ASSERT_UINT(fault.offset, 0x2123);
	fixture.threads[1].registers[REGISTER_RIP] = fixture.mappings[0].start + 0x456;
	CU_ASSERT_FATAL(fault_find(&fixture.target, &fault));
	ASSERT_UINT(fault.offset, 0x456);
	fake_memory_deinit(&fixture.fake);
}

SUITE(.name = "fault")
