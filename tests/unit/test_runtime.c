/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "gc/heap.h"
#include "runtime/coreclr/internal.h"
#include "runtime/type.h"
#include "stack/stack_ops.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/open_core.h"
#include "support/suite.h"

/*
 * A runtime that does not exist: it has CoreCLR's GC, threads and code, but MethodTables without an
 * EEClass, no metadata, and nothing of its own on stacks.
 */
#define HAS_COMPONENTS 0x80000000u
#define HAS_POINTERS   0x01000000u
#define HAS_FINALIZER  0x00100000u

static const struct runtime_ops made_up;

static enum hd_status open_made_up(struct target *target, struct job *job, struct runtime **ret,
				   struct hd_error *err)
{
	enum hd_status status = coreclr_ops.open(target, job, ret, err);
	if (status == HD_OK)
		(*ret)->ops = &made_up;
	return status;
}

static void close_made_up(struct runtime *runtime)
{
	coreclr_ops.close(runtime);
}

static bool describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret)
{
	uint32_t words[2];
	*ret = (struct type){ .method_table = method_table, .links.canonical = method_table };
	if (!memory_read(runtime->memory, method_table, words, sizeof(words)))
		return false;
	ret->flags = words[0];
	ret->base_size = words[1];
	ret->is_free = method_table == runtime->tables.free;
	ret->is_string = words[1] == 22;
	if (words[0] & HAS_COMPONENTS)
		ret->component_size = (uint16_t)words[0];
	ret->has_finalizer = words[0] & HAS_FINALIZER;
	ret->has_pointers = !ret->is_free && words[0] & HAS_POINTERS;
	return words[1] >= OBJECT_SIZE_MIN - 2 && words[1] < 0x10000;
}

static void name_type(struct runtime *runtime, uint64_t method_table, struct text *text)
{
	(void)runtime;
	text_printf(text, "Symbol_%llx", (unsigned long long)method_table);
}

static bool code_at(struct runtime *runtime, uint64_t code, struct code_info *ret)
{
	return coreclr_ops.code_at(runtime, code, ret);
}

static enum hd_status read_threads(struct runtime *runtime, struct hd_error *err)
{
	return coreclr_ops.threads(runtime, err);
}

static const struct stack_ops no_stack = { .frames = NULL };

static const struct runtime_ops made_up = {
	.name = "MadeUp",
	.open = open_made_up,
	.close = close_made_up,
	.threads = read_threads,
	.describe_type = describe_type,
	.type_name = name_type,
	.code_at = code_at,
	.stack = &no_stack,
};

static void check_answer(struct open_core *opened, const char *line, const char *part,
			 bool is_there)
{
	struct answer answer = command_run(opened->session, line);
	CU_ASSERT_EQUAL(strstr(answer_text(&answer), part) != NULL, is_there);
	answer_deinit(&answer);
}

TEST(commands_are_about_any_runtime)
{
	char line[64], total[96];
	struct open_core usual = core_open(NULL);
	struct answer answer = command_run(usual.session, "dumpheap -stat");
	const char *end = strstr(answer_text(&answer), "Total ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(end);
	(void)snprintf(total, sizeof(total), "%.*s", (int)strcspn(end, "\n"), end);
	answer_deinit(&answer);
	check_answer(&usual, "clrstack -all", "InlinedCallFrame", true);
	core_close(&usual);

	runtime_set_made_up(&made_up);
	struct open_core opened = core_open(NULL);
	check_answer(&opened, "dumpheap -stat", total, true);
	(void)snprintf(line, sizeof(line), "Symbol_%llx", (unsigned long long)opened.core.type);
	check_answer(&opened, "dumpheap -stat", line, true);
	check_answer(&opened, "dumpheap -stat", "System.", false);
	check_answer(&opened, "clrstack -all", "InlinedCallFrame", false);
	check_answer(&opened, "clrstack -all", "<unknown method 7f4001000200>", true);
	check_answer(&opened, "verifyheap", "objects verified", true);
	check_answer(&opened, "verifyheap", "Finding", false);
	(void)snprintf(line, sizeof(line), "gcroot %llx", (unsigned long long)opened.core.object);
	check_answer(&opened, line, "[<unknown method 7f4001000200>]+0x10", true);
	check_answer(&opened, line, " Symbol_", true);
	core_close(&opened);
	runtime_set_made_up(NULL);
}

TEST(a_command_says_what_the_runtime_does_not_keep)
{
	runtime_set_made_up(&made_up);
	struct open_core opened = core_open(NULL);
	struct answer answer = command_run(opened.session, "dumpil 7f4000000000");
	ASSERT_UINT((uint64_t)answer.err.status, HD_ERR_UNSUPPORTED);
	ASSERT_TEXT(
		answer.err.message,
		"dumpil needs the metadata of methods, which a program with MadeUp does not keep; "
		"clrstack shows where the methods of stacks are, and modules what lies there");
	answer_deinit(&answer);
	answer = command_run(opened.session, "clrmodules");
	ASSERT_TEXT(
		answer.err.message,
		"clrmodules needs the list of assemblies and their modules, which a program with "
		"MadeUp does not keep; modules shows the files that the program has loaded");
	answer_deinit(&answer);
	core_close(&opened);
	runtime_set_made_up(NULL);
}

SUITE(.name = "runtime")
