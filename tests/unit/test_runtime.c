/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gc/heap.h"
#include "mem/memory.h"
#include "runtime/code.h"
#include "runtime/runtime_base.h"
#include "runtime/type.h"
#include "stack/stack_ops.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/open_core.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/text.h"

/*
 * A runtime that does not exist: it has the GC of .NET, and a struct, threads, names and tables of code
 * of its own.  Its MethodTables have no EEClass, it has no metadata, and nothing of its own on stacks.
 */
#define HAS_COMPONENTS 0x80000000u
#define HAS_POINTERS   0x01000000u
#define HAS_FINALIZER  0x00100000u
#define FREE_FLAGS     0x80000001u
#define FREE_SIZE      24u

/* Where it keeps code: methods of so many bytes, each with the address of its header in front. */
#define CODE         ((uint64_t)0x7f4000000000)
#define METHOD_SIZE  0x200u
#define METHODS_MAX  16u
#define GC_VERSION   4u
#define THREADS_FROM ((uint64_t)0x1000)

/* Its own struct is smaller than that of any other: a sanitizer sees who reads beyond. */
struct made_up {
	struct runtime base;
	uint64_t methods;
};

/* The header of a method. */
struct header {
	uint64_t unused[2], gc_info, method;
	uint32_t count, function[3];
};

static const struct runtime_ops made_up, bare;
static bool has_threads = true;

static bool is_free_table(const struct runtime *runtime, uint64_t at)
{
	uint32_t words[2];
	return memory_read(runtime->memory, at, words, sizeof(words)) && words[0] == FREE_FLAGS &&
	       words[1] == FREE_SIZE;
}

/* The variables of the GC, and the MethodTable of Free, by their shape. */
static bool find_variables(struct runtime *runtime)
{
	const struct target_map *map = &runtime->target->map;
	uint8_t bytes[GC_VARS_SIZE];
	for (size_t i = 0; i < map->range_count; i++) {
		for (uint64_t at = map->ranges[i].start; at < map->ranges[i].end; at += 8) {
			if (!runtime->tables.free && is_free_table(runtime, at))
				runtime->tables.free = at;
			if (!runtime->gc.address &&
			    memory_read(runtime->memory, at, bytes, sizeof(bytes)) &&
			    gc_vars_have_shape(runtime->memory, bytes))
				runtime->gc.address = at;
		}
	}
	if (!runtime->gc.address ||
	    !memory_read(runtime->memory, runtime->gc.address, bytes, sizeof(bytes)))
		return false;
	gc_vars_take(bytes, &runtime->gc);
	runtime->gc.heap_type = 1;
	runtime->has_cross_references = true;
	return gc_vars_read(runtime->target, bytes, &runtime->gc, NULL) == HD_OK;
}

static void close_made_up(struct runtime *runtime)
{
	runtime_base_deinit(runtime);
	mem_free(runtime);
}

static enum hd_status open_made_up(struct target *target, struct job *job, struct runtime **ret,
				   struct hd_error *err)
{
	(void)job;
	struct made_up *own = mem_calloc(1, sizeof(*own));
	TRY_MEMORY(own, err);
	own->base.ops = has_threads ? &made_up : &bare;
	own->base.target = target;
	own->base.memory = target->memory;
	own->base.alloc_layout = (struct alloc_layout){ 0, 8 };
	(void)snprintf(own->base.version, sizeof(own->base.version), "1.0");
	if (!find_variables(&own->base)) {
		close_made_up(&own->base);
		return fail(err, HD_ERR_UNSUPPORTED, 0, "no MadeUp here");
	}
	*ret = &own->base;
	return HD_OK;
}

/* All threads of the process are its own. */
static enum hd_status read_threads(struct runtime *runtime, struct hd_error *err)
{
	const struct target *target = runtime->target;
	struct runtime_threads *threads = &runtime->threads;
	threads->rows = mem_calloc(target->threads.count + 1, sizeof(*threads->rows));
	TRY_MEMORY(threads->rows, err);
	for (size_t i = 0; i < target->threads.count; i++) {
		threads->rows[threads->count++] =
			(struct runtime_thread){ .address = THREADS_FROM * (i + 1),
						 .id = (uint32_t)i + 1,
						 .os_id = (uint64_t)target->threads.rows[i].tid };
	}
	threads->is_whole = threads->knows_modes = true;
	return HD_OK;
}

static bool describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret)
{
	uint32_t words[2];
	*ret = (struct type){ .method_table = method_table };
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
	text_printf(text, "Symbol_%" PRIx64, method_table);
}

static bool code_at(struct runtime *runtime, uint64_t code, struct code_info *ret)
{
	struct header header;
	uint64_t at, start = code - code % METHOD_SIZE;
	if (start <= CODE || start > CODE + METHODS_MAX * METHOD_SIZE ||
	    !memory_u64(runtime->memory, start - 8, &at) || !at ||
	    !memory_read(runtime->memory, at, &header, sizeof(header)) || header.count != 1)
		return false;
	*ret = (struct code_info){ .method_desc = header.method,
				   .start = start,
				   .function = start,
				   .unwind_info = CODE + header.function[2],
				   .image_base = CODE,
				   .gc_info = header.gc_info,
				   .gc_info_version = GC_VERSION };
	return true;
}

static bool name_method(struct runtime *runtime, uint64_t method, char *buf, size_t size,
			uint32_t *ret_token)
{
	(void)runtime;
	if (method < CODE || method >= CODE + 0x2000000)
		return false;
	(void)snprintf(buf, size, "Method_%" PRIx64, method);
	if (ret_token)
		*ret_token = 0;
	return true;
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
	.method_name = name_method,
	.stack = &no_stack,
};

/* It has nothing that a runtime may lack. */
static const struct runtime_ops bare = {
	.name = "Bare",
	.open = open_made_up,
	.close = close_made_up,
	.describe_type = describe_type,
	.type_name = name_type,
	.stack = &no_stack,
};

static struct open_core open_core_of_made_up(void)
{
	runtime_set_made_up(&made_up);
	return core_open(NULL);
}

static void close_core_of_made_up(struct open_core *opened)
{
	core_close(opened);
	runtime_set_made_up(NULL);
}

static void check_answer(struct open_core *opened, const char *line, const char *part,
			 bool is_there)
{
	struct answer answer = command_run(opened->session, line);
	bool is_right = (strstr(answer_text(&answer), part) || strstr(answer.err.message, part)) ==
			is_there;
	CU_ASSERT(is_right);
	if (!is_right)
		printf("%s: %s%s\n", line, answer_text(&answer), answer.err.message);
	answer_deinit(&answer);
}

/* The first line of an answer that has @p part. */
static void take_line(struct open_core *opened, const char *line, const char *part, char *ret,
		      size_t size)
{
	struct answer answer = command_run(opened->session, line);
	const char *at = strstr(answer_text(&answer), part);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	(void)snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
	answer_deinit(&answer);
}

TEST(commands_are_about_any_runtime)
{
	char line[64], total[96];
	struct open_core usual = core_open(NULL);
	take_line(&usual, "dumpheap -stat", "Total ", total, sizeof(total));
	check_answer(&usual, "clrstack -all", "InlinedCallFrame", true);
	core_close(&usual);

	struct open_core opened = open_core_of_made_up();
	check_answer(&opened, "dumpheap -stat", total, true);
	(void)snprintf(line, sizeof(line), "Symbol_%" PRIx64, opened.core.type);
	check_answer(&opened, "dumpheap -stat", line, true);
	check_answer(&opened, "dumpheap -stat", "System.", false);
	check_answer(&opened, "clrthreads", "ThreadCount:      3\n", true);
	check_answer(&opened, "clrstack -all", "InlinedCallFrame", false);
	check_answer(&opened, "clrstack -all", "Method_7f4001000200", true);
	check_answer(&opened, "verifyheap", "objects verified", true);
	check_answer(&opened, "verifyheap", "Finding", false);
	(void)snprintf(line, sizeof(line), "gcroot %" PRIx64, opened.core.object);
	check_answer(&opened, line, "[Method_7f4001000200]+0x10", true);
	check_answer(&opened, line, " Symbol_", true);
	close_core_of_made_up(&opened);
}

/* Everybody answers, or says what is missing. */
static void check_command(struct open_core *opened, const char *line)
{
	struct answer answer = command_run(opened->session, line);
	/* setthread has nothing to say. */
	bool is_answered =
		*answer_text(&answer) || *answer.err.message || strncmp(line, "setthread", 9) == 0;
	bool is_honest =
		answer.err.status != HD_ERR_NOMEM && !strstr(answer.err.message, "CoreCLR");
	CU_ASSERT(is_answered && is_honest);
	if (!is_answered || !is_honest || getenv("SHOW"))
		printf("== %s: %d %s\n%.600s\n", line, answer.status, answer.err.message,
		       answer_text(&answer));
	answer_deinit(&answer);
}

static void check_with_words(struct open_core *opened, const char *name)
{
	const uint64_t words[] = { opened->core.object, opened->core.array,
				   opened->core.string, opened->core.type,
				   opened->core.code,   opened->core.module,
				   CODE + 0x1000200,    1 };
	char line[96];
	check_command(opened, name);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		(void)snprintf(line, sizeof(line), "%s %" PRIx64, name, words[i]);
		check_command(opened, line);
	}
}

static void check_every_command(struct open_core *opened)
{
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++) {
		if (!info.writes && info.needs_open && info.role == HD_ROLE_QUERY)
			check_with_words(opened, info.name);
	}
	check_command(opened, "sql 'select count(*) from objects'");
	check_command(opened, "sql 'select * from methods'");
	check_command(opened, "sql 'select * from modules'");
	check_command(opened, "info -layout");
	check_command(opened, "clrstack -all -a");
	check_command(opened, "clrstack -all -roots");
}

TEST(every_command_answers_about_any_runtime)
{
	struct open_core opened = open_core_of_made_up();
	check_every_command(&opened);
	close_core_of_made_up(&opened);
}

TEST(every_command_answers_about_a_runtime_without_threads_and_code)
{
	has_threads = false;
	struct open_core opened = open_core_of_made_up();
	check_every_command(&opened);
	check_answer(&opened, "dumpheap -stat", "Total ", true);
	check_answer(&opened, "clrthreads", "which a program with Bare does not keep", true);
	check_answer(&opened, "clrstack", "which a program with Bare does not keep", true);
	close_core_of_made_up(&opened);
	has_threads = true;
}

TEST(a_command_says_what_the_runtime_does_not_keep)
{
	struct open_core opened = open_core_of_made_up();
	struct answer answer = command_run(opened.session, "dumpil 7f4000000000");
	ASSERT_UINT((uint64_t)answer.err.status, HD_ERR_UNSUPPORTED);
	ASSERT_TEXT(
		answer.err.message,
		"dumpil needs the metadata of methods, which a program with MadeUp does not keep; "
		"a debugger shows the machine code: x/20i ADDRESS, disassemble");
	answer_deinit(&answer);
	answer = command_run(opened.session, "clrmodules");
	ASSERT_TEXT(
		answer.err.message,
		"clrmodules needs the list of assemblies and their modules, which a program with "
		"MadeUp does not keep; modules shows the files that the program has loaded");
	answer_deinit(&answer);
	answer = command_run(opened.session, "dumptasks");
	ASSERT_TEXT(answer.err.message,
		    "dumptasks needs the fields of types, which a program with MadeUp does not "
		    "keep; dumpheap -stat counts objects by their types, and gcroot shows who "
		    "keeps one");
	answer_deinit(&answer);
	answer = command_run(opened.session, "syncblk");
	ASSERT_TEXT(answer.err.message, "the table of sync blocks was not found in this runtime");
	answer_deinit(&answer);
	close_core_of_made_up(&opened);
}

TEST(an_answer_says_what_is_not_known_of_the_runtime)
{
	char line[64];
	struct open_core opened = open_core_of_made_up();
	check_answer(&opened, "info", "Layout:", false);
	check_answer(&opened, "info", "MadeUp", true);
	check_answer(&opened, "info",
		     "where a program with MadeUp has its static fields is not known", true);
	(void)snprintf(line, sizeof(line), "dumpobj %" PRIx64, opened.core.object);
	check_answer(&opened, line, "Fields:\nNot known\n", true);
	close_core_of_made_up(&opened);
}

SUITE(.name = "runtime")
