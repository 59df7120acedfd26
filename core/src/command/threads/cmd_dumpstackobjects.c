/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/threads/stack_objects.h"
#include "command/objects/object.h"
#include "command/table.h"
#include "command/threads/stack_text.h"
#include "command/threads/thread_choice.h"
#include "util/alloc.h"
#include "util/sink.h"
#include "util/sort.h"
#include "verify/verify.h"

#define DUMPSTACKOBJECTS_OPTIONS(X)                                                           \
	X(OPT_VERIFY, "verify", VALUE_NONE, NULL, "leave out objects that are damaged", NULL) \
	X(OPT_THREAD, "thread", VALUE_THREAD, "N", "the thread whose managed id is N", NULL)  \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "all threads, also where one is selected", NULL)

OPTIONS(dumpstackobjects, DUMPSTACKOBJECTS_OPTIONS);

#define OBJECT_LIST(X)                                                                 \
	X(OBJECT_SLOT, "slot", "SP/REG", KIND_ADDRESS, 16, 0,                          \
	  "where the word is; null: it is a register")                                 \
	X(OBJECT_ADDRESS, "object", "Object", KIND_ADDRESS, 16, LOOK_ADDRESS,          \
	  "the object that it refers to")                                              \
	X(OBJECT_TYPE, "type", "Name", KIND_TYPE, 0, 0, "name of its type")            \
	X(OBJECT_REGISTER, "register", NULL, KIND_TEXT, 0, 0, "name of the register")  \
	X(OBJECT_NOTE, NULL, "note", KIND_TEXT, 0, 0, NULL) /* the text of a string */ \
	X(OBJECT_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of the object")      \
	X(OBJECT_THREAD_ID, "thread.id", NULL, KIND_NUMBER, 0, LOOK_WHOLE,             \
	  "managed id of the thread; null: a range was given")                         \
	X(OBJECT_THREAD_OS_ID, "thread.os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system")

COLUMNS(stack_object, OBJECT_COLUMNS, OBJECT_LIST);

/* Text has a table for each thread. */
static const struct schema stack_objects_schema = {
	.name = "objects",
	SCHEMA_COLUMNS(stack_object_columns),
	.is_main = true,
};
static const struct schema thread_part_schema = {
	SCHEMA_COLUMNS(stack_object_columns),
	.heading = "          SP/REG           Object Name",
	.lines = "{slot:16} {object:16} {type}[=note   \\d{note}\\.]\n",
};

#define GAP_LIST(X)                                                            \
	X(GAP_ID, "id", NULL, KIND_NUMBER, 0, 0, "managed id of the thread")   \
	X(GAP_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system") \
	X(GAP_MISSING, "missing", NULL, KIND_FLAG, 0, 0,                       \
	  "are its registers or its stack not in the target?")                 \
	X(GAP_WHY, "why", NULL, KIND_TEXT, 0, 0, "what is missing, or why the walk failed")

COLUMNS(gap, GAP_COLUMNS, GAP_LIST);
static const struct schema gaps_schema = { .name = "incomplete", SCHEMA_COLUMNS(gap_columns) };

/* A thread whose stack is not complete. */
struct stack_gap {
	const struct runtime_thread *thread;
	bool is_missing;
	char why[sizeof(((struct thread_stack *)NULL)->why)];
};

/* The list that is written. */
struct object_list {
	struct call *call;
	struct stack_objects objects;
	struct stack_gap *gaps;
	size_t gaps_count, gaps_capacity;
	struct verify_result verified; /* -verify: which objects are damaged */
	uint64_t damaged;              /* references to such objects, which are left out */
};

static void write_stack_object(struct call *call, const struct stack_object *found,
			       const struct runtime_thread *thread)
{
	const struct object *object = &found->object;
	size_t size;
	const char *name = type_name(call->heap->runtime, object->type, &size);
	HD_CLEANUP(text) struct text note = { 0 };
	if (answer_is_text(&call->answer))
		object_note(call, object, &note);
	struct cell cells[OBJECT_COLUMNS] = {
		[OBJECT_ADDRESS] = cell_number(object->address),
		[OBJECT_TYPE] = cell_type(name, size, object->type->method_table),
		[OBJECT_NOTE] = note.size ? cell_text(note.bytes, note.size) : (struct cell){ 0 },
		[OBJECT_MT] = cell_number(object->type->method_table),
	};
	if (found->slot) {
		cells[OBJECT_SLOT] = cell_number(found->slot);
	} else {
		const char *base = runtime_arch(call->heap->runtime)->register_names[found->base];
		cells[OBJECT_REGISTER] = cell_string(base);
		cells[OBJECT_SLOT].shown = base;
	}
	if (thread) {
		cells[OBJECT_THREAD_ID] = cell_number(thread->id);
		cells[OBJECT_THREAD_OS_ID] = cell_number(thread->os_id);
	}
	answer_row(&call->answer, cells);
}

static bool is_damaged_object(const struct object_list *list, uint64_t address)
{
	const struct verify_result *verified = &list->verified;
	size_t at = lower_bound_u64(verified->damaged, verified->damaged_count, address);
	return at < verified->damaged_count && verified->damaged[at] == address;
}

/* All that list->objects finds from where it has begun. */
static enum hd_status write_found_objects(struct object_list *list,
					  const struct runtime_thread *thread)
{
	struct call *call = list->call;
	struct stack_object found;
	bool is_text = answer_is_text(&call->answer);
	if (is_text)
		answer_table(&call->answer, &thread_part_schema, NULL);
	for (;;) {
		TRY(stack_objects_next(&list->objects, &call->job, &found, call->err));
		if (!found.object.type)
			break;
		if (is_damaged_object(list, found.object.address)) {
			list->damaged++;
		} else {
			write_stack_object(call, &found, thread);
		}
		TRY(call_check(call));
	}
	if (is_text)
		(void)answer_table_end(&call->answer);
	return HD_OK;
}

static enum hd_status keep_gap(struct object_list *list, const struct thread_stack *stack)
{
	if (!stack->is_missing && !stack->is_partial)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(list, gaps), list->call->err);
	struct stack_gap *gap = &list->gaps[list->gaps_count++];
	gap->thread = stack->thread;
	gap->is_missing = stack->is_missing;
	memcpy(gap->why, stack->why, sizeof(gap->why));
	return HD_OK;
}

static enum hd_status write_thread_objects(void *arg, const struct thread_stack *stack)
{
	struct object_list *list = arg;
	stack_text_heading(list->call, stack);
	TRY(stack_objects_begin(&list->objects, stack, list->call->err));
	TRY(keep_gap(list, stack));
	return write_found_objects(list, stack->thread);
}

static enum hd_status write_stacks_objects(struct object_list *list)
{
	static const struct stack_options options = { .conservative = true };
	struct call *call = list->call;
	const struct thread_choice choice =
		thread_choice(call, NULL, &call->options[OPT_THREAD], &call->options[OPT_ALL]);
	return chosen_stacks_write(call, &choice, &options, write_thread_objects, list);
}

static void write_stack_gaps(const struct object_list *list)
{
	struct answer *answer = &list->call->answer;
	if (answer_is_text(answer))
		return;
	answer_table(answer, &gaps_schema, NULL);
	for (size_t i = 0; i < list->gaps_count; i++) {
		const struct stack_gap *gap = &list->gaps[i];
		const struct cell cells[GAP_COLUMNS] = {
			[GAP_ID] = cell_number(gap->thread->id),
			[GAP_OS_ID] = cell_number(gap->thread->os_id),
			[GAP_MISSING] = cell_flag(gap->is_missing),
			[GAP_WHY] = cell_string(gap->why),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

/* The rest of a range, which was not read. */
static void write_unread_range(const struct object_list *list)
{
	static const struct column columns[] = {
		{ "missing", NULL, KIND_BYTES, 0, 0,
		  "bytes at the end of the range that were not looked at, as the target lacks the "
		  "first of them" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	const struct cell missing = cell_number(list->objects.missing);
	answer_data(&list->call->answer, &schema, &missing);
	if (list->objects.missing) {
		answer_remark(&list->call->answer,
			      "\nThe last %" PRIu64 " bytes of the range were not looked at: the "
			      "target does not hold the first of them.\n",
			      list->objects.missing);
	}
}

/* A sentence below the text; a warning next to other formats, as CSV has no place for it. */
static void tell_left_out(struct call *call, struct text *text)
{
	if (answer_is_text(&call->answer)) {
		answer_remark(&call->answer, "\n%s\n", text->bytes);
	} else if (!text->failed) {
		sink_warn(call->sink, text->bytes);
	}
	text->size = 0;
}

/* -verify: how many are not shown; and may there be damaged ones among those that are? */
static void write_left_out(const struct object_list *list)
{
	static const struct column columns[] = {
		{ "not_shown", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,
		  "-verify: references to damaged objects, which are left out" },
		{ "damage_not_kept", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,
		  "-verify: findings of the heap that were too many to be kept; objects that are damaged "
		  "by these are shown" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	HD_CLEANUP(text) struct text text = { 0 };
	char number[COUNT_SIZE];
	if (!list->call->options[OPT_VERIFY].given)
		return;
	const struct cell cells[] = { cell_number(list->damaged),
				      cell_number(list->verified.not_kept) };
	answer_data(&list->call->answer, &schema, cells);
	if (list->damaged) {
		text_printf(&text, "Not shown: %s to damaged objects",
			    format_count(list->damaged, "reference", number));
		tell_left_out(list->call, &text);
	}
	if (list->verified.not_kept) {
		text_printf(
			&text,
			"The heap has more damage than is kept (%s more): damaged objects may be "
			"among those shown",
			format_count(list->verified.not_kept, "finding", number));
		tell_left_out(list->call, &text);
	}
}

static enum hd_status write_object_list(struct object_list *list)
{
	struct call *call = list->call;
	const struct value *words = call->words;
	bool is_data = !answer_is_text(&call->answer);
	if (is_data)
		answer_table(&call->answer, &stack_objects_schema, NULL);
	if (words[0].given) {
		bool is_ascending = words[0].number < words[1].number;
		stack_objects_begin_range(&list->objects, words[!is_ascending].number,
					  words[is_ascending].number);
		TRY(write_found_objects(list, NULL));
	} else {
		TRY(write_stacks_objects(list));
	}
	if (is_data)
		(void)answer_table_end(&call->answer);
	write_stack_gaps(list);
	write_unread_range(list);
	write_left_out(list);
	return HD_OK;
}

static enum hd_status run_dumpstackobjects(struct call *call)
{
	static const struct verify_options options = { .list_damaged = true };
	struct object_list list = { .call = call };
	if (!call->words[0].given)
		TRY(threads_check(call));
	TRY(stack_objects_open(call->heap, &call->job, &list.objects, call->err));
	enum hd_status status = HD_OK;
	if (call->options[OPT_VERIFY].given)
		status = verify_heap(call->heap, &options, &call->job, &list.verified, call->err);
	job_end(&call->job);
	if (status == HD_OK)
		status = write_object_list(&list);
	verify_result_deinit(&list.verified);
	stack_objects_close(&list.objects);
	pages_free(list.gaps, list.gaps_capacity, sizeof(*list.gaps));
	return status;
}

static enum hd_status check_dumpstackobjects(struct call *call)
{
	bool is_of_threads = call->options[OPT_THREAD].given || call->options[OPT_ALL].given;
	if (call->words[0].given && !call->words[1].given)
		return call_usage(call, "a range has two ends");
	if (call->words[0].given && is_of_threads)
		return call_usage(call, "a range is not of a thread");
	return HD_OK;
}

COMMAND(dumpstackobjects, .alias = "dso", .has_rows = true,
	.summary = "list the objects that the words of a stack refer to",
	.description =
		"Registers come first, then the words of the stack by address. Every word is shown in\n"
		"which the address of an object is, also where it is old and keeps nothing alive:\n"
		"clrstack -roots tells those that do. Without -thread: the thread that is selected in\n"
		"the debugger or by setthread; all threads where there is none, and with -all. TOP and\n"
		"BOTTOM are the ends of a range of memory, whose words are shown instead.\n",
	.example = "dumpstackobjects -thread 1", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_THREADS, .options = dumpstackobjects_options,
	.words = { { "TOP", VALUE_ADDRESS, true }, { "BOTTOM", VALUE_ADDRESS, true } },
	.check = check_dumpstackobjects);
