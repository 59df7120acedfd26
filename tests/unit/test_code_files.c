/* SPDX-License-Identifier: MIT */
/* Which functions a debugger knows, while the code of a fake runtime changes. */
#include <gelf.h>

#include "managed_elf/code_files.h"
#include "runtime/coreclr/internal.h"
#include "runtime/runtime.h"
#include "support/assert_more.h"
#include "support/fake_stack.h"
#include "support/suite.h"
#include "targets/elf_file.h"
#include "util/text.h"

/* In the CodeHeapListNode: the end of what is used (doc/coreclr.md 12.12). */
#define NODE_END 24u

/* Any addresses, which nobody asks for a name. */
#define METHOD_DESC UINT64_C(0x1000)
#define ANOTHER     UINT64_C(0x2000)

static struct fake_clr *fake;
static struct fake_stack *stack;
static struct code_files files;
static size_t written;

static void set_up_release(const struct fake_options *options)
{
	fake = fake_clr_create(options);
	stack = fake_stack_create(fake);
	files = (struct code_files){ 0 };
	fake_poke_u64(stack->memory, stack->node + NODE_END, FAKE_CODE + FAKE_CODE_SIZE);
}

static void set_up(void)
{
	set_up_release(NULL);
}

static void tear_down(void)
{
	code_files_deinit(&files);
	fake_stack_destroy(stack);
	fake_clr_destroy(fake);
}

static void set_method(uint64_t code, uint64_t method_desc)
{
	uint64_t header = fake_peek_u64(stack->memory, code - 8);
	fake_poke_u64(stack->memory, fake_at(fake, header, L_CODE_HEADER_METHOD), method_desc);
}

static uint64_t make_method(void)
{
	uint64_t code = fake_method(stack, &(struct fake_method){ .slots = 0 });
	set_method(code, METHOD_DESC);
	return code;
}

static bool count_bytes(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	(void)bytes;
	written += size;
	return true;
}

static const struct code_files *update(void)
{
	static const struct managed_elf_output output = { count_bytes, NULL, false };
	struct code_files next = { 0 };
	written = 0;
	ASSERT_UINT_FATAL(code_files_update(&files, stack->runtime, NULL, &output, &next, NULL),
			  HD_OK);
	CU_ASSERT(!next.file == !written);
	code_files_deinit(&files);
	files = next;
	return &files;
}

static bool is_current(void)
{
	return code_files_are_current(&files, runtime_memory(stack->runtime));
}

TEST(only_the_functions_that_are_new_are_written)
{
	CU_ASSERT(!is_current());
	uint64_t first = make_method();
	const struct code_files *change = update();
	ASSERT_UINT(change->file, 1);
	ASSERT_UINT(change->functions, 1);
	ASSERT_UINT(change->gone_count, 0);
	CU_ASSERT(is_current());
	change = update();
	ASSERT_UINT(change->file, 0);
	ASSERT_UINT(change->gone_count, 0);
	uint64_t second = make_method();
	CU_ASSERT(!is_current());
	change = update();
	ASSERT_UINT(change->file, 2);
	ASSERT_UINT(change->functions, 1);
	ASSERT_UINT(change->gone_count, 0);
	set_method(second, METHOD_DESC);
	ASSERT_UINT(code_files_method(&files, first), METHOD_DESC);
	ASSERT_UINT(code_files_method(&files, second), METHOD_DESC);
	ASSERT_UINT(code_files_method(&files, FAKE_CODE + FAKE_CODE_SIZE), 0);
}

TEST(a_file_with_a_function_that_is_another_one_now_goes)
{
	uint64_t first = make_method();
	(void)make_method();
	(void)update();
	(void)make_method();
	(void)update();
	set_method(first, ANOTHER);
	const struct code_files *change = update();
	ASSERT_UINT(change->file, 3);
	ASSERT_UINT(change->functions, 2); /* the other function of its file is written again */
	ASSERT_UINT_FATAL(change->gone_count, 1);
	ASSERT_UINT(change->gone[0], 1);
	ASSERT_UINT(code_files_method(&files, first), ANOTHER);
}

static struct text taken;

static bool keep_bytes(void *arg, const char *from, size_t size)
{
	(void)arg;
	text_append(&taken, from, size);
	return true;
}

/* LLDB looks for an address in the section that begins nearest in front of it. */
TEST(no_section_reaches_over_code_that_another_file_has)
{
	static const struct managed_elf_output output = { keep_bytes, NULL, false };
	struct code_files next = { 0 };
	uint64_t code[3];
	for (size_t i = 0; i < 3; i++) {
		code[i] = make_method();
		(void)update();
	}
	set_method(code[0], ANOTHER);
	set_method(code[2], ANOTHER);
	ASSERT_UINT_FATAL(code_files_update(&files, stack->runtime, NULL, &output, &next, NULL),
			  HD_OK);
	ASSERT_UINT(next.functions, 2);
	Elf *elf = elf_of_bytes((uint8_t *)taken.bytes, taken.size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(elf);
	size_t sections = 0;
	GElf_Shdr header;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getshdr(section, &header));
		if (!(header.sh_flags & SHF_EXECINSTR))
			continue;
		ASSERT_UINT(header.sh_addr, code[2 * sections]);
		sections++;
	}
	ASSERT_UINT(sections, 2);
	(void)elf_end(elf);
	text_deinit(&taken);
	code_files_deinit(&next);
}

TEST(many_files_become_one)
{
	for (uint32_t i = 0; i < CODE_FILES_MAX; i++) {
		(void)make_method();
		ASSERT_UINT(update()->file, i + 1);
	}
	(void)make_method();
	const struct code_files *change = update();
	ASSERT_UINT(change->file, CODE_FILES_MAX + 1);
	ASSERT_UINT(change->functions, CODE_FILES_MAX + 1);
	ASSERT_UINT(change->gone_count, CODE_FILES_MAX);
	change = update();
	ASSERT_UINT(change->gone_count, 0);
}

TEST(an_update_that_is_not_taken_changes_nothing)
{
	static const struct managed_elf_output output = { count_bytes, NULL, false };
	uint64_t first = make_method();
	(void)update();
	set_method(first, ANOTHER);
	struct code_files next = { 0 };
	ASSERT_UINT(code_files_update(&files, stack->runtime, NULL, &output, &next, NULL), HD_OK);
	ASSERT_UINT(next.file, 2);
	ASSERT_UINT(code_files_method(&next, first), ANOTHER);
	code_files_deinit(&next);
	ASSERT_UINT(files.last, 1);
	ASSERT_UINT(code_files_method(&files, first), METHOD_DESC);
}

/* Any places of memory, for a Continuation and its ResumeInfo. */
#define CONTINUATION UINT64_C(0x50000000)
#define RESUME_INFO  UINT64_C(0x50001000)

TEST(a_method_that_comes_back_and_waits_says_where_it_goes_on)
{
	const struct fake_options options = { .release = 11 };
	uint64_t registers[16] = { 0 };
	tear_down();
	set_up_release(&options);
	uint64_t code = make_method();
	(void)update();
	fake_map(stack->memory, CONTINUATION, 0x2000);
	fake_poke_u64(stack->memory, fake_at(fake, CONTINUATION, L_CONTINUATION_RESUME),
		      RESUME_INFO);
	fake_poke_u64(stack->memory, fake_at(fake, RESUME_INFO, L_RESUME_IP), code + 4);
	struct memory *memory = runtime_memory(stack->runtime);
	/* rcx */
	registers[1] = CONTINUATION;
	ASSERT_UINT(code_files_awaits(&files, memory, registers, 16), code + 4);
	ASSERT_UINT(code_files_awaits(&files, memory, registers, 1), 0);
	registers[1] = 0; /* it has ended */
	ASSERT_UINT(code_files_awaits(&files, memory, registers, 16), 0);
	registers[1] = UINT64_MAX - 7; /* it leads nowhere */
	ASSERT_UINT(code_files_awaits(&files, memory, registers, 16), 0);
	registers[1] = CONTINUATION;
	fake_poke_u64(stack->memory, fake_at(fake, RESUME_INFO, L_RESUME_IP), RESUME_INFO);
	ASSERT_UINT(code_files_awaits(&files, memory, registers, 16), 0);
	fake_poke_u64(stack->memory, fake_at(fake, CONTINUATION, L_CONTINUATION_RESUME), 0);
	ASSERT_UINT(code_files_awaits(&files, memory, registers, 16), 0);
}

TEST(before_11_no_method_waits_without_a_state_machine)
{
	const uint64_t registers[16] = { CONTINUATION, CONTINUATION };
	(void)make_method();
	(void)update();
	ASSERT_UINT(code_files_awaits(&files, runtime_memory(stack->runtime), registers, 16), 0);
}

static bool refuse(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	(void)bytes;
	(void)size;
	return false;
}

TEST(a_failed_update_leaves_what_is_known)
{
	static const struct managed_elf_output refusing = { refuse, NULL, false };
	struct code_files next = { .file = 77 };
	(void)make_method();
	(void)update();
	(void)make_method();
	ASSERT_UINT(code_files_update(&files, stack->runtime, NULL, &refusing, &next, NULL),
		    HD_ERR_CANCELLED);
	ASSERT_UINT(next.file, 77);
	CU_ASSERT(!is_current());
	const struct code_files *change = update();
	ASSERT_UINT(change->file, 2);
	ASSERT_UINT(change->functions, 1);
}

SUITE(.name = "code_files", .set_up = set_up, .tear_down = tear_down)
