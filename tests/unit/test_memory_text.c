/* SPDX-License-Identifier: MIT */
/* The words of memory about a cgroup, and of advice about whether memory is short. */
#include <stdio.h>
#include <stdlib.h>

#include "command/memory/memory_advice_text.h"
#include "command/memory/memory_cgroup_text.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define MB ((uint64_t)1 << 20)

static int keep(void *arg, const char *text, size_t size)
{
	text_append(arg, text, size);
	return 0;
}

/* A cgroup of 900 MB with 800 MB in use. */
static struct cgroup_memory a_group(char *path)
{
	struct cgroup_memory group = { .version = 2,
				       .path = path,
				       .limit = 900 * MB,
				       .limit_path = path,
				       .tight = { path, 900 * MB, 100 * MB },
				       .known = 1u << CGROUP_CURRENT };
	group.numbers[CGROUP_CURRENT] = 800 * MB;
	return group;
}

static void check_text(const struct cgroup_memory *group, const struct advice_facts *facts,
		       const char *expected)
{
	struct text got = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = keep };
	struct call *call = calloc(1, sizeof(*call));
	CU_ASSERT_FATAL(call != NULL);
	out_init(&call->out, &sink, 0, false);
	answer_init(&call->answer, FORMAT_TEXT, &call->out, &call->json);
	if (group)
		memory_write_cgroup(call, group);
	if (facts)
		memory_write_advice(call, facts);
	out_flush(&call->out);
	ASSERT_TEXT(got.bytes, expected);
	out_deinit(&call->out);
	text_deinit(&got);
	free(call);
}

TEST(the_name_of_a_cgroup_cannot_move_the_cursor)
{
	char path[] = "/a\033[2J", above[] = "/\xff";
	struct cgroup_memory group = a_group(path);
	group.limit_path = group.tight.path = above;
	check_text(
		&group, NULL,
		"Cgroup:  800 MB of 900 MB (/a\\u001b[2J; the limit is that of /\\xff)\n"
		"         100 MB left by the limit of /\\xff, with what the kernel can drop\n\n");
}

TEST(what_happened_is_counted)
{
	char path[] = "/shop";
	struct cgroup_memory group = a_group(path);
	group.known |= 1u << CGROUP_HIGH | 1u << CGROUP_MAX | 1u << CGROUP_KILLED;
	group.numbers[CGROUP_HIGH] = 1;
	group.numbers[CGROUP_KILLED] = 1;
	check_text(&group, NULL,
		   "Cgroup:  800 MB of 900 MB (/shop)\n"
		   "         100 MB left, with what the kernel can drop\n"
		   "         1 time slowed down (memory.high), 0 times at its limit, "
		   "1 process killed for it\n\n");
	group.known = 1u << CGROUP_OOM | 1u << CGROUP_KILLED;
	group.numbers[CGROUP_OOM] = 2;
	group.numbers[CGROUP_KILLED] = 2;
	group.tight.path = NULL;
	check_text(&group, NULL,
		   "Cgroup:  its use is not known, its limit is 900 MB (/shop)\n"
		   "         2 times out of memory, 2 processes killed for it\n\n");
}

/* 60 MB of gaps in the GC's memory, with the settings of @p facts. */
static struct advice_facts some_facts(void)
{
	struct advice_facts facts = { .evidence = { .all = 200 * MB, .unused = 60 * MB } };
	facts.settings.has_environment = facts.settings.has_config = true;
	facts.settings.rows[MEMORY_SETTING_CONSERVE].name = "C";
	facts.settings.rows[MEMORY_SETTING_DATAS].name = "D";
	facts.settings.rows[MEMORY_SETTING_LIMIT].name = "L";
	facts.settings.rows[MEMORY_SETTING_LIMIT_PERCENT].name = "P";
	return facts;
}

#define UNUSED                                                                                   \
	"\nAdvice:\n* the GC keeps 60 MB without objects, for objects of 0 bytes: "              \
	"DOTNET_GCConserveMemory, DOTNET_GCDynamicAdaptationMode (DATAS, for the server GC) or " \
	"DOTNET_GCHeapHardLimit make the heap smaller; here C is not set, D is not set, "

static void check_advice(const struct advice_facts *facts, const char *end)
{
	struct text expected = { 0 };
	text_puts(&expected, UNUSED);
	text_printf(&expected, "%s\n", end);
	check_text(NULL, facts, expected.bytes);
	text_deinit(&expected);
}

static void set(struct advice_facts *facts, enum memory_setting_name name, const char *value)
{
	facts->settings.rows[name].source = MEMORY_SET_IN_ENVIRONMENT;
	(void)snprintf(facts->settings.rows[name].value, sizeof(facts->settings.rows[name].value),
		       "%s", value);
}

/* The environment has hexadecimal numbers. */
TEST(a_limit_in_bytes_counts_before_one_in_percent)
{
	struct advice_facts facts = some_facts();
	check_advice(&facts, "L is not set");
	set(&facts, MEMORY_SETTING_LIMIT_PERCENT, "32");
	check_advice(&facts, "P is 0x32 in its environment");
	set(&facts, MEMORY_SETTING_LIMIT, "0x0");
	check_advice(&facts, "P is 0x32 in its environment");
	set(&facts, MEMORY_SETTING_LIMIT, "0XC800000");
	check_advice(&facts, "L is 0XC800000 in its environment");
	set(&facts, MEMORY_SETTING_LIMIT, "C800000");
	check_advice(&facts, "L is 0xC800000 in its environment");
}

TEST(whether_memory_is_short_is_said_with_the_limit)
{
	char path[] = "/web", above[] = "/shop\n";
	struct advice_facts facts = some_facts();
	struct cgroup_memory *group = &facts.group;
	facts.has_group = true;
	*group = a_group(path);
	check_advice(&facts, "L is not set; nothing needs it now: the limit of the cgroup, 900 MB, "
			     "leaves 100 MB");
	group->is_tight = true;
	group->tight = (struct cgroup_bound){ above, 2048 * MB, 90 * MB };
	group->some = (struct cgroup_pressure){ .is_known = true, .average = { 1, 125, 3 } };
	check_advice(&facts,
		     "L is not set; memory is short: the limit of the cgroup /shop\\u000a, "
		     "2 GB, leaves 90 MB, and its tasks waited for memory for 1.25 % of the "
		     "last minute");
	group->is_machine = true;
	group->tight.path = NULL;
	group->limit = UINT64_MAX;
	check_advice(&facts, "L is not set; memory is short: the cgroup has no limit, and tasks of "
			     "this machine waited for memory for 1.25 % of the last minute");
	/* Neither a limit nor the pressure is known. */
	group->is_tight = group->some.is_known = false;
	check_advice(&facts, "L is not set; whether anything needs it is not known: the cgroup has "
			     "no limit");
	group->limit = 900 * MB;
	check_advice(&facts, "L is not set; whether anything needs it is not known: the cgroup has "
			     "a limit of 900 MB, its use is not known");
}

SUITE(.name = "memory_text")
