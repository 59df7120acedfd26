/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <heapdump/debugger.h>

#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_stack.h"
#include "support/made_up_arch.h"
#include "support/open_core.h"
#include "support/suite.h"

static const struct fake_core_options made_up_options = { .release = 10, .arch = &made_up_arch };

static void check_same(const struct open_core *usual, const struct open_core *other,
		       const char *line)
{
	struct answer first = command_run(usual->session, line);
	struct answer second = command_run(other->session, line);
	CU_ASSERT(first.text.size > 0);
	ASSERT_UINT((uint64_t)second.status, (uint64_t)first.status);
	ASSERT_TEXT(answer_text(&second), answer_text(&first));
	answer_deinit(&first);
	answer_deinit(&second);
}

TEST(commands_answer_the_same_about_another_processor)
{
	static const char *const lines[] = {
		"dumpheap -stat", "dumpheap", "clrstack -all", "clrstack -a",   "verifyheap",
		"gchandles",      "eeheap",   "threads",       "finalizequeue",
	};
	char line[64];
	arch_set_made_up(&made_up_arch);
	struct open_core usual = core_open(NULL), other = core_open(&made_up_options);
	ASSERT_UINT(other.core.object, usual.core.object);
	(void)snprintf(line, sizeof(line), "gcroot %llx", (unsigned long long)usual.core.object);
	check_same(&usual, &other, line);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_same(&usual, &other, lines[i]);
	core_close(&usual);
	core_close(&other);
	arch_set_made_up(NULL);
}

static void check_has(struct hd_session *session, const char *line, const char *part)
{
	struct answer answer = command_run(session, line);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), part));
	answer_deinit(&answer);
}

TEST(names_of_registers_are_those_of_the_processor)
{
	arch_set_made_up(&made_up_arch);
	struct open_core other = core_open(&made_up_options);
	check_has(other.session, "roots", "(st+0 of [");
	check_has(other.session, "clrstack -r", "    fa=0000");
	check_has(other.session, "clrstack -r", " pc=00007f40");
	check_has(other.session, "clrstack -r --json", "\"ra\"");
	core_close(&other);
	arch_set_made_up(NULL);
}

/* Native code without a frame: its return address is in the link register, with a signature. */
TEST(a_leaf_is_left_by_its_link_register)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .arch = &made_up_arch });
	struct fake_stack *stack = fake_stack_create(fake);
	uint64_t main = fake_method(stack, &(struct fake_method){ .slots = 1 });
	uint64_t sp = FAKE_STACK + 0x8000;
	(void)fake_frame(stack, sp, 0, FAKE_NATIVE);
	fake_stop_at(stack, FAKE_NATIVE, sp, fake_rbp(sp));
	stack->thread->is_cooperative = true;
	stack->registers.registers[made_up_arch.words_of_registers[MADE_UP_RA]] =
		fake_call(main, 3) | FAKE_SIGNATURE;
	struct thread_stack result;
	fake_walk(stack, NULL, &result);
	ASSERT_UINT_FATAL(result.managed_count, 1);
	ASSERT_UINT(result.frames[0].ip, fake_call(main, 3));
	ASSERT_UINT(result.frames[0].sp, sp);
	ASSERT_UINT(result.frames[0].caller_sp, sp + FAKE_FRAME_SIZE);
	thread_stack_deinit(&result);
	fake_stack_destroy(stack);
	fake_clr_destroy(fake);
}

TEST(processors_are_found_by_machine_and_by_word)
{
	size_t count = 0;
	CU_ASSERT_PTR_EQUAL(arch_of_machine(arch_x86_64.machine), &arch_x86_64);
	CU_ASSERT_PTR_EQUAL(arch_of_word("i386:x86-64"), &arch_x86_64);
	CU_ASSERT_PTR_EQUAL(arch_of_word("x86_64"), &arch_x86_64);
	CU_ASSERT_PTR_NULL(arch_of_word("i386"));
	CU_ASSERT_PTR_NULL(arch_of_machine(made_up_arch.machine));
	CU_ASSERT_PTR_NULL(hd_debugger_registers("made-up", &count));
	ASSERT_UINT(count, 0);
	arch_set_made_up(&made_up_arch);
	CU_ASSERT_PTR_EQUAL(arch_of_machine(made_up_arch.machine), &made_up_arch);
	const char *const *names = hd_debugger_registers("made-up", &count);
	ASSERT_UINT_FATAL(count, 13);
	ASSERT_TEXT(names[12], "pc");
	arch_set_made_up(NULL);
	names = hd_debugger_registers("i386:x86-64", &count);
	ASSERT_UINT_FATAL(count, 17);
	ASSERT_TEXT(names[0], "rax");
	ASSERT_TEXT(names[4], "rsp");
	ASSERT_TEXT(names[16], "rip");
}

/* Offsets of x86-64 are no offsets of another processor: without the descriptor, nothing is read by them. */
TEST(offsets_of_another_processor_come_from_the_descriptor)
{
	struct open_core without =
		core_open(&(struct fake_core_options){ .release = 10, .arch = &arch_arm64 });
	struct open_core with =
		core_open(&(struct fake_core_options){ .release = 11, .arch = &arch_arm64 });
	struct open_core usual = core_open(&(struct fake_core_options){ .release = 11 });
	check_has(without.session, "info", "the offsets on arm64 are not known without it");
	check_same(&usual, &with, "dumpheap -stat");
	check_same(&usual, &with, "verifyheap");
	core_close(&without);
	core_close(&with);
	core_close(&usual);
}

SUITE(.name = "arch")
