/* SPDX-License-Identifier: MIT */
#include "command/threads/wait_text.h"

#include <inttypes.h>

#include "clr/code/code.h"
#include "clr/types/type_name.h"
#include "inspect/async_name.h"
#include "inspect/thread_name.h"
#include "report/fit.h"

uint64_t wait_method(const struct thread_wait *wait)
{
	if (wait->user_frame != WAIT_NO_FRAME)
		return wait->stack.frames[wait->user_frame].method_desc;
	if (wait->kind == WAIT_CALL && wait->call)
		return wait->call;
	for (size_t i = 0; i < wait->stack.frames_count; i++) {
		if (wait->stack.frames[i].kind == STACK_MANAGED)
			return wait->stack.frames[i].method_desc;
	}
	return 0;
}

void append_thread(struct text *text, struct heap *heap, const struct clr_thread *thread)
{
	text_printf(text, "thread %" PRIu32, thread->id);
	struct text name = { 0 };
	if (thread_name(heap, thread, &name) && name.size)
		text_printf(text, " (%s)", name.bytes);
	text_deinit(&name);
}

static void append_object(struct text *text, struct heap *heap, const struct object *object)
{
	size_t size;
	const char *name = type_name(heap->clr, object->type, &size);
	text_escape(text, name, size);
	text_printf(text, " %" PRIx64, object->address);
}

/* "the async method Shop.Checkout.Place 7fbb..." */
static bool append_async(struct text *text, struct heap *heap, const struct thread_wait *wait)
{
	size_t size, machine_size;
	const char *name = type_name(heap->clr, wait->object.type, &size);
	const char *machine = async_box_machine(name, size, &machine_size);
	struct text method = { 0 };
	bool is_async = machine && async_method_append(&method, machine, machine_size);
	if (is_async) {
		text_puts(text, "the async method ");
		text_escape(text, method.bytes, method.size);
		text_printf(text, " %" PRIx64, wait->object.address);
	}
	text_deinit(&method);
	return is_async;
}

void append_wait(struct text *text, struct heap *heap, const struct thread_wait *wait)
{
	switch (wait->kind) {
	case WAIT_MONITOR:
	case WAIT_LAZY:
		text_puts(text, "waits to enter the monitor of ");
		break;
	case WAIT_PULSE:
		text_puts(text, "waits until somebody pulses ");
		break;
	case WAIT_JOIN:
		text_puts(text, "waits until a thread ends");
		return;
	case WAIT_INITIALIZER:
		text_puts(text, "waits for the initializer of ");
		break;
	default:
		text_puts(text, "waits for ");
		break;
	}
	if (wait->object.type && append_async(text, heap, wait)) {
		return;
	}
	if (wait->object.type) {
		append_object(text, heap, &wait->object);
	} else if (wait->initializer) {
		size_t size;
		const char *name = type_name(heap->clr, wait->initializer, &size);
		text_escape(text, name, size);
	} else {
		text_puts(text, wait_kind_name(wait->kind));
	}
}

enum deadlock_column {
	MEMBER_ID,
	MEMBER_OS_ID,
	MEMBER_NAME,
	MEMBER_KIND,
	MEMBER_OBJECT,
	MEMBER_TYPE,
	MEMBER_OWNER,
	MEMBER_METHOD,
	MEMBER_HELD_IN,
	MEMBER_SENTENCE,
	MEMBER_COLUMNS
};

static const struct column member_columns[MEMBER_COLUMNS] = {
	[MEMBER_ID] = { "id", NULL, KIND_NUMBER, 0, 0, "its managed id" },
	[MEMBER_OS_ID] = { "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system" },
	[MEMBER_NAME] = { "name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "Thread.Name" },
	[MEMBER_KIND] = { "waits_for", NULL, KIND_TEXT, 0, 0, "the kind of wait" },
	[MEMBER_OBJECT] = { "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "what it waits for" },
	[MEMBER_TYPE] = { "type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "type of that" },
	[MEMBER_OWNER] = { "owner", NULL, KIND_NUMBER, 0, 0,
			   "managed id of the thread that has it: the next one of the cycle" },
	[MEMBER_METHOD] = { "method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
			    "the method of the program that waits" },
	[MEMBER_HELD_IN] = { "held_in", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
			     "the method in which the owner uses the object" },
	[MEMBER_SENTENCE] = { NULL, "", KIND_TEXT, 0, 0, NULL },
};

static void put_line(struct out *out, const char *label, const struct cell *method)
{
	if (!method->is_there)
		return;
	out_puts(out, label);
	out_begin_name(out, FIT_METHOD);
	text_append(&out->text, method->text.bytes, method->text.size);
	out_end_name(out);
	out_puts(out, "\n");
}

static void member_layout(struct out *out, const struct cell *cells)
{
	out_puts(out, cells[MEMBER_SENTENCE].text.bytes);
	put_line(out, "    it waits in ", &cells[MEMBER_METHOD]);
	put_line(out, "    the owner uses that in ", &cells[MEMBER_HELD_IN]);
}

static const struct schema member_schema = {
	.name = "threads",
	SCHEMA_COLUMNS(member_columns),
	.layout = member_layout,
};

static const struct column deadlock_columns[] = {
	{ "probable", NULL, KIND_FLAG, 0, 0,
	  "is an owner in it only probable?  Nothing stores who has a semaphore" },
	{ "count", NULL, KIND_NUMBER, 0, 0, "threads that wait for each other" },
	{ "followers", NULL, KIND_NUMBER, 0, 0, "other threads that wait for one of these" },
	{ NULL, "", KIND_TEXT, 0, 0, NULL },
};

static void deadlock_layout(struct out *out, const struct cell *cells)
{
	out_styled(out, STYLE_HEAD, "%s of %" PRIu64 " threads",
		   cells[0].flag ? "Probably a deadlock" : "Deadlock", cells[1].number);
	if (cells[2].number == 1) {
		out_puts(out, ", for which 1 other thread waits");
	} else if (cells[2].number) {
		out_printf(out, ", for which %" PRIu64 " other threads wait", cells[2].number);
	}
	out_puts(out, ":\n");
}

static const struct schema deadlock_schema = {
	.name = "deadlocks",
	SCHEMA_COLUMNS(deadlock_columns),
	.layout = deadlock_layout,
};

/* The thread that must go on first, as far as that is known. */
static const struct clr_thread *wait_next(const struct thread_wait *wait)
{
	return wait->owner ? wait->owner : wait->probable;
}

static const char *owner_verb(const struct thread_wait *wait)
{
	if (wait->kind == WAIT_JOIN)
		return "";
	if (wait->kind == WAIT_INITIALIZER || wait->kind == WAIT_TASK)
		return " runs";
	return wait->owner ? " has" : " probably has";
}

void append_blocked(struct text *text, struct heap *heap, const struct thread_wait *wait)
{
	append_thread(text, heap, wait->thread);
	text_puts(text, " ");
	append_wait(text, heap, wait);
	if (!wait_next(wait))
		return;
	text_puts(text, wait->kind == WAIT_JOIN ? ": " : ", which ");
	append_thread(text, heap, wait_next(wait));
	text_puts(text, owner_verb(wait));
}

static void write_member(struct call *call, const struct waits *waits,
			 const struct thread_wait *wait)
{
	struct heap *heap = call->heap;
	struct text sentence = { 0 }, method = { 0 }, held = { 0 }, name = { 0 };
	struct cell cells[MEMBER_COLUMNS] = {
		[MEMBER_ID] = cell_number(wait->thread->id),
		[MEMBER_OS_ID] = cell_number(wait->thread->os_id),
		[MEMBER_KIND] = cell_string(wait_kind_name(wait->kind)),
		[MEMBER_OWNER] = cell_number(wait_next(wait)->id),
	};
	text_puts(&sentence, "  ");
	append_blocked(&sentence, heap, wait);
	text_puts(&sentence, "\n");
	cells[MEMBER_SENTENCE] = cell_text(sentence.bytes, sentence.size);
	if (thread_name(heap, wait->thread, &name) && name.size)
		cells[MEMBER_NAME] = cell_text(name.bytes, name.size);
	if (wait->object.type) {
		size_t size;
		const char *type = type_name(heap->clr, wait->object.type, &size);
		cells[MEMBER_OBJECT] = cell_number(wait->object.address);
		cells[MEMBER_TYPE] = cell_type(type, size, wait->object.type->method_table);
	}
	if (wait_method(wait)) {
		clr_method_signature(heap->clr, wait_method(wait), &method);
		cells[MEMBER_METHOD] = cell_text(method.bytes, method.size);
	}
	const struct thread_wait *owner = wait_of_thread(waits, wait_next(wait));
	size_t frame = owner ? wait_frame_with(owner, wait->object.address) : WAIT_NO_FRAME;
	if (frame != WAIT_NO_FRAME) {
		clr_method_signature(heap->clr, owner->stack.frames[frame].method_desc, &held);
		cells[MEMBER_HELD_IN] = cell_text(held.bytes, held.size);
	}
	answer_row(&call->answer, cells);
	text_deinit(&sentence);
	text_deinit(&method);
	text_deinit(&held);
	text_deinit(&name);
}

void write_deadlocks(struct call *call, const struct waits *waits,
		     const struct deadlocks *deadlocks)
{
	static const struct table_options options = { .no_heading = true };
	struct answer *answer = &call->answer;
	answer_table(answer, &deadlock_schema, &options);
	for (size_t i = 0; i < deadlocks->count; i++) {
		const struct deadlock *deadlock = &deadlocks->rows[i];
		const struct cell cells[] = { cell_flag(deadlock->is_probable),
					      cell_number(deadlock->count),
					      cell_number(deadlock->followers), cell_string("") };
		answer_row_begin(answer, cells);
		answer_table(answer, &member_schema, &options);
		for (size_t k = 0; k < deadlock->count; k++)
			write_member(call, waits, deadlocks->members[deadlock->begin + k]);
		(void)answer_table_end(answer);
		answer_row_end(answer);
		answer_remark(answer, "\n");
	}
	(void)answer_table_end(answer);
}
