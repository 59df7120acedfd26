/* SPDX-License-Identifier: MIT */
/* Advice about memory as sentences, with the evidence and what is set here. */
#include "command/memory/memory_advice_text.h"

#include <string.h>

#include "native/memory_settings_text.h"
#include "util/text.h"

#define ADVICE_LIST(X)                                                                  \
	X(ADVICE_WORD, "advice", NULL, KIND_TEXT, 0, 0,                                 \
	  "arenas, gc-unused, gc-dead, loh-gaps, stacks or contexts")                   \
	X(ADVICE_BYTES, "bytes", NULL, KIND_BYTES, 0, 0, "how much memory it is about") \
	X(ADVICE_TEXT, "text", NULL, KIND_TEXT, 0, 0, "the evidence, and what can be done")

COLUMNS(advice, ADVICE_COLUMNS, ADVICE_LIST);

SCHEMA(advice, .name = "advice", .lines = "* {text}\n");

static const char *const words[MEMORY_ADVICES] = {
	[MEMORY_ADVICE_ARENAS] = "arenas", [MEMORY_ADVICE_UNUSED] = "gc-unused",
	[MEMORY_ADVICE_DEAD] = "gc-dead",  [MEMORY_ADVICE_LOH] = "loh-gaps",
	[MEMORY_ADVICE_STACKS] = "stacks", [MEMORY_ADVICE_CONTEXTS] = "contexts",
};

/* Append the room that the limits leave. */
static void append_left(struct text *text, const struct cgroup_memory *group)
{
	const struct cgroup_bound *tight = &group->tight;
	char limit[32], left[32];
	if (tight->path) {
		text_printf(text, "the limit of the cgroup%s%s, %s, leaves %s",
			    strcmp(tight->path, group->path) == 0 ? "" : " ",
			    strcmp(tight->path, group->path) == 0 ? "" : tight->path,
			    format_bytes(tight->limit, limit), format_bytes(tight->left, left));
	} else if (group->limit == UINT64_MAX) {
		text_puts(text, "the cgroup has no limit");
	} else {
		text_printf(text, "the cgroup has a limit of %s, its use is not known",
			    format_bytes(group->limit, limit));
	}
}

/* Does anything need the memory? */
static void append_pressure(struct text *text, const struct advice_facts *facts)
{
	const struct cgroup_memory *group = &facts->group;
	if (!facts->has_group)
		return;
	if (group->is_tight) {
		text_puts(text, "; memory is short: ");
	} else if (group->tight.path || group->some.is_known) {
		text_puts(text, "; nothing needs it now: ");
	} else {
		text_puts(text, "; whether anything needs it is not known: ");
	}
	append_left(text, group);
	if (group->some.is_known && group->some.average[1]) {
		text_printf(text, ", and %s waited for memory for %.2f %% of the last minute",
			    group->is_machine ? "tasks of this machine" : "its tasks",
			    group->some.average[1] / 100.0);
	}
}

static void append_advice(struct text *text, enum memory_advice advice,
			  const struct advice_facts *facts)
{
	const struct memory_evidence *evidence = &facts->evidence;
	const struct memory_settings *settings = &facts->settings;
	char bytes[32], other[32], count[COUNT_SIZE];
	(void)format_bytes(memory_advice_bytes(advice, evidence), bytes);
	switch (advice) {
	case MEMORY_ADVICE_ARENAS:
		text_printf(text,
			    "malloc keeps at least %s free in %s: MALLOC_ARENA_MAX=2 makes it "
			    "fewer, malloc_trim() gives memory back",
			    bytes, format_count(evidence->arenas, "arena", count));
		text_puts(text, "; here ");
		memory_setting_append(text, settings, MEMORY_SETTING_ARENAS);
		break;
	case MEMORY_ADVICE_UNUSED:
		text_printf(text, "the GC keeps %s without objects, for objects of %s: ", bytes,
			    format_bytes(evidence->objects, other));
		memory_settings_append_gc(text, settings);
		append_pressure(text, facts);
		break;
	case MEMORY_ADVICE_DEAD:
		text_printf(text,
			    "%s of objects are dead, %s alive, and no collection has taken them "
			    "yet: ",
			    bytes, format_bytes(evidence->live, other));
		memory_settings_append_gc(text, settings);
		append_pressure(text, facts);
		break;
	case MEMORY_ADVICE_LOH:
		text_printf(text,
			    "%s of %s for large objects are gaps: use ArrayPool, or set "
			    "GCSettings.LargeObjectHeapCompactionMode for one collection; "
			    "dumpheap -gen loh shows who is next to them",
			    bytes, format_bytes(evidence->loh, other));
		break;
	case MEMORY_ADVICE_STACKS:
		text_printf(text,
			    "%s of stacks were used once, in %s with a megabyte or more: deep "
			    "recursion or large stackalloc on threads that stay; memory -detail "
			    "shows which",
			    bytes, format_count(evidence->stacks, "thread", count));
		break;
	case MEMORY_ADVICE_CONTEXTS:
		text_printf(text,
			    "%s with Unload() called %s still there; collectible contexts have %s "
			    "of loader and code heaps: dumpalc shows what keeps them",
			    format_count(evidence->unloading, "context", count),
			    evidence->unloading == 1 ? "is" : "are", bytes);
		break;
	case MEMORY_ADVICES:
		break;
	}
}

void memory_write_advice(struct call *call, const struct advice_facts *facts)
{
	bool is_first = true;
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	answer_table(&call->answer, &advice_schema, &options);
	for (enum memory_advice advice = 0; advice < MEMORY_ADVICES; advice++) {
		uint64_t bytes = memory_advice_bytes(advice, &facts->evidence);
		struct text text = { 0 };
		if (!bytes)
			continue;
		append_advice(&text, advice, facts);
		text_append(&text, "", 1);
		if (!text.failed) {
			const struct cell cells[ADVICE_COLUMNS] = {
				[ADVICE_WORD] = cell_string(words[advice]),
				[ADVICE_BYTES] = cell_number(bytes),
				[ADVICE_TEXT] = cell_string(text.bytes),
			};
			if (is_first)
				answer_remark(&call->answer, "\nAdvice:\n");
			is_first = false;
			answer_row(&call->answer, cells);
		}
		text_deinit(&text);
	}
	(void)answer_table_end(&call->answer);
}

#define SETTING_LIST(X)                                                          \
	X(SETTING_NAME, "setting", NULL, KIND_TEXT, 0, 0,                        \
	  "a variable of the environment, or a property of runtimeconfig.json")  \
	X(SETTING_VALUE, "value", NULL, KIND_TEXT, 0, 0,                         \
	  "as it was given: variables of the GC are hexadecimal; null: not set") \
	X(SETTING_SOURCE, "source", NULL, KIND_TEXT, 0, 0,                       \
	  "environment or runtimeconfig.json; null: neither has it")

COLUMNS(setting, SETTING_COLUMNS, SETTING_LIST);

SCHEMA(setting, .name = "settings");

#define KNOWN_LIST(X)                                                     \
	X(KNOWN_ENVIRONMENT, "environment", NULL, KIND_FLAG, 0, 0,        \
	  "was the environment of the process found?")                    \
	X(KNOWN_CONFIG, "runtimeconfig", NULL, KIND_FLAG, 0, 0,           \
	  "were the properties of runtimeconfig.json found?")             \
	X(KNOWN_MACHINE, "machine", NULL, KIND_BYTES, 0, 0,               \
	  "memory that the GC takes the machine, or the cgroup, to have") \
	X(KNOWN_HEAP, "heap_limit", NULL, KIND_BYTES, 0, 0,               \
	  "what the GC lets the heap have; 0: as much as it wants")       \
	X(KNOWN_DATAS, "datas", NULL, KIND_FLAG, 0, 0, "does the GC adapt to the size of the heap?")

COLUMNS(known, KNOWN_COLUMNS, KNOWN_LIST);

SCHEMA(known, .name = "gc_settings");

void memory_write_settings(struct call *call, const struct memory_settings *settings)
{
	static const char *const sources[] = { NULL, "environment", "runtimeconfig.json" };
	const struct gc_limits *limits = &settings->limits;
	if (!answer_is_data(&call->answer))
		return;
	answer_table(&call->answer, &setting_schema, NULL);
	for (size_t i = 0; i < MEMORY_SETTINGS; i++) {
		const struct memory_setting *setting = &settings->rows[i];
		struct cell cells[SETTING_COLUMNS] = { [SETTING_NAME] =
							       cell_string(setting->name) };
		if (setting->source != MEMORY_SET_NOWHERE) {
			cells[SETTING_VALUE] = cell_string(setting->value);
			cells[SETTING_SOURCE] = cell_string(sources[setting->source]);
		}
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	struct cell cells[KNOWN_COLUMNS] = {
		[KNOWN_ENVIRONMENT] = cell_flag(settings->has_environment),
		[KNOWN_CONFIG] = cell_flag(settings->has_config),
	};
	if (limits->is_known) {
		cells[KNOWN_MACHINE] = cell_number(limits->machine);
		cells[KNOWN_HEAP] = cell_number(limits->heap);
	}
	if (limits->has_adaptation)
		cells[KNOWN_DATAS] = cell_flag(limits->is_adaptive);
	answer_record(&call->answer, &known_schema, cells);
}
