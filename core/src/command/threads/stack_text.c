/* SPDX-License-Identifier: MIT */
#include "command/threads/stack_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/threads/frame_repeats.h"
#include "command/objects/object.h"
#include "command/threads/source_text.h"
#include "inspect/thread_name.h"
#include "output/fit.h"
#include "runtime/coreclr/code/code.h"
#include "targets/code_place.h"

#define FLAGS 3u
static const char *const flag_names[FLAGS] = { "interior", "pinned", "conservative" };

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[STACK_ROOT_FRAME] = "local",
		[STACK_ROOT_ARGUMENT] = "argument",
		[STACK_ROOT_GC_FRAME] = "gc-frame",
		[STACK_ROOT_EXCEPTION] = "exception",
	};
	return names[kind];
}

/* The words for a root that has no slot: those of gcroot and roots. */
static const char *kind_label(uint8_t kind)
{
	static const char *const labels[] = {
		[STACK_ROOT_FRAME] = "stack",
		[STACK_ROOT_ARGUMENT] = "argument",
		[STACK_ROOT_GC_FRAME] = "GC frame of the runtime",
		[STACK_ROOT_EXCEPTION] = "exception in flight",
	};
	return labels[kind];
}

#define ROOT_LIST(X)                                                                             \
	X(ROOT_KIND, "kind", NULL, KIND_TEXT, 0, 0, "local, argument, gc-frame or exception")    \
	X(ROOT_SLOT, "slot", NULL, KIND_TEXT, 0, 0, "register, and offset from it, of the slot") \
	X(ROOT_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,                                     \
	  "where the slot is; 0x0: in a register")                                               \
	X(ROOT_VALUE, "value", NULL, KIND_ADDRESS, 0, 0, "what the slot holds")                  \
	X(ROOT_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "the object there, or around it")     \
	X(ROOT_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                          \
	X(ROOT_LABEL, NULL, NULL, KIND_TEXT, 0, 0, NULL)                                         \
	X(ROOT_FLAGS, NULL, NULL, KIND_TEXT, 0, 0, NULL)                                         \
	X(ROOT_NOTE, NULL, NULL, KIND_TEXT, 0, 0, NULL) /* the text of a string */

COLUMNS(root, ROOT_COLUMNS, ROOT_LIST);

/* An address with all digits, in its colour.  There are many: no printf. */
static void put_full_address(struct out *out, uint64_t address)
{
	out_begin_style(out, STYLE_ADDRESS);
	text_hex(&out->text, address, 16, false);
	out_end_style(out);
}

/* "    rbp-210: 00007fff51aa9730 -> 7fa0bb8069278 Type (pinned)" */
static void stack_root_layout(struct out *out, const struct cell *cells)
{
	const struct cell *object = &cells[ROOT_OBJECT], *type = &cells[ROOT_TYPE];
	struct text *text = &out->text;
	uint64_t value = cells[ROOT_VALUE].number;
	text_puts(text, "    ");
	text_puts(text, cells[ROOT_LABEL].text.bytes);
	text_puts(text, ": ");
	if (cells[ROOT_ADDRESS].number) {
		text_hex(text, cells[ROOT_ADDRESS].number, 16, false);
		text_puts(text, " ");
	}
	text_puts(text, "-> ");
	if (object->is_there) {
		put_full_address(out, object->number);
		if (value != object->number)
			out_printf(out, "+%" PRIx64, value - object->number);
		text_puts(text, " ");
		out_type(out, type->text.bytes, type->text.size, type->text.id);
	} else {
		put_full_address(out, value);
		out_styled(out, STYLE_NOTE, " %s", type->shown);
	}
	text_puts(text, cells[ROOT_FLAGS].text.bytes);
	object_note_layout(out, &cells[ROOT_NOTE]);
	out_puts(out, "\n");
}

SCHEMA(root, .name = "roots", .layout = stack_root_layout);

/* Its flags: words for data, and in @p buf as text has them after the row. */
static size_t root_flags(const struct stack_root *root, const char *words[FLAGS], char buf[64])
{
	size_t count = 0, size = 0;
	buf[0] = '\0';
	for (unsigned int i = 0; i < FLAGS; i++) {
		if (!(root->flags & (1u << i)))
			continue;
		words[count++] = flag_names[i];
		size += (size_t)snprintf(buf + size, 64 - size, " (%s)", flag_names[i]);
	}
	return count;
}

static void write_stack_root(struct call *call, const struct stack_root *root,
			     const struct object *object)
{
	const char *words[FLAGS];
	char slot[STACK_SLOT_SIZE], flags[64];
	size_t count = root_flags(root, words, flags);
	stack_root_slot(runtime_arch(call->heap->runtime), root, slot);
	struct cell cells[ROOT_COLUMNS] = {
		[ROOT_KIND] = cell_string(kind_name(root->kind)),
		[ROOT_SLOT] = cell_string(slot[0] ? slot : NULL),
		[ROOT_ADDRESS] = cell_number(root->address),
		[ROOT_VALUE] = cell_number(root->value),
		[ROOT_LABEL] = cell_string(slot[0] ? slot : kind_label(root->kind)),
		[ROOT_FLAGS] = cell_string(flags),
	};
	HD_CLEANUP(text) struct text note = { 0 };
	if (object->type) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object->type, &size);
		cells[ROOT_OBJECT] = cell_number(object->address);
		cells[ROOT_TYPE] = cell_type(name, size, object->type->method_table);
		if (answer_is_text(&call->answer))
			object_note(call, object, &note);
		if (note.size)
			cells[ROOT_NOTE] = cell_text(note.bytes, note.size);
	} else {
		bool is_heap = heap_segment_at(call->heap, root->value) != NULL;
		cells[ROOT_TYPE].shown = is_heap ? "<no object>" : "<not in the heap>";
	}
	answer_row_begin(&call->answer, cells);
	answer_list(&call->answer, "flags", words, count);
	answer_row_end(&call->answer);
}

/* Roots of frame @p index; of no frame, when that is frames_count. */
static enum hd_status write_frame_roots(struct stack_text *text, const struct frame_roots *roots,
					size_t index)
{
	struct call *call = text->call;
	if (!text->roots)
		return HD_OK;
	answer_table(&call->answer, &root_schema, NULL);
	for (uint32_t i = 0; i < frame_roots_count(roots, index); i++) {
		const struct stack_root *root = frame_root(roots, index, i);
		struct object object;
		TRY(root_objects_find(&text->objects, root, &call->job, &object, call->err));
		/* A word that only looks like a reference. */
		if (!object.type && root->flags & STACK_ROOT_CONSERVATIVE)
			continue;
		write_stack_root(call, root, &object);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

/* A frame, or in the place of many that repeat, how many. */
#define FRAME_LIST(X)                                                                        \
	X(FRAME_FOLDED, "folded", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                      \
	  "so many frames repeat those before; the row has only their methods")              \
	X(FRAME_KIND, "kind", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                            \
	  "managed, native, or explicit: a Frame of the runtime")                            \
	X(FRAME_SP, "sp", "Child SP", KIND_ADDRESS, 16, LOOK_LEAVE_OUT, "its stack pointer") \
	X(FRAME_IP, "ip", "IP", KIND_ADDRESS, 16, LOOK_LEAVE_OUT,                            \
	  "where it continues; 0x0: not known")                                              \
	X(FRAME_METHOD, "method", "Call Site", KIND_TEXT, 0, LOOK_LEAVE_OUT,                 \
	  "name and arguments of the method, class of the Frame, or library of native "      \
	  "code")                                                                            \
	X(FRAME_FRAME, "frame", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "where the Frame is") \
	X(FRAME_CALLEE, "callee", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                        \
	  "the method that the Frame's code calls")                                          \
	X(FRAME_METHOD_DESC, "method_desc", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,           \
	  "MethodDesc of the method")                                                        \
	X(FRAME_OFFSET, "offset", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                      \
	  "place of ip in the method's code")                                                \
	X(FRAME_FILE, "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                            \
	  "path of the source file, as the compiler saw it")                                 \
	X(FRAME_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")     \
	X(FRAME_FUNCLET, "funclet", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                      \
	  "is it a catch, finally or filter block?")                                         \
	X(FRAME_ACTIVE, "active", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                        \
	  "does it run, rather than wait for a call?")                                       \
	X(FRAME_UNWOUND, "unwound", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                      \
	  "has an exception left it already?")                                               \
	X(FRAME_METHODS, NULL, NULL, KIND_TEXT, 0, 0, NULL)

COLUMNS(frame, FRAME_COLUMNS, FRAME_LIST);

static void put_stack_cell(struct out *out, const struct cell *cell)
{
	if (!cell->is_there)
		return;
	out_begin_name(out, FIT_METHOD);
	text_escape(&out->text, cell->text.bytes, cell->text.size);
	out_end_name(out);
}

/* "... 174,560 more frames of P.A() and P.B() ..." */
static void frame_fold_layout(struct out *out, const struct cell *cells)
{
	char number[COUNT_SIZE];
	out_printf(out, "%*s... %s of ", 2 * out_address_digits(out) + 2, "",
		   format_count(cells[FRAME_FOLDED].number, "more frame", number));
	put_stack_cell(out, &cells[FRAME_METHODS]);
	out_puts(out, " ...\n");
}

static void stack_frame_layout(struct out *out, const struct cell *cells)
{
	if (cells[FRAME_FOLDED].is_there) {
		frame_fold_layout(out, cells);
		return;
	}
	const unsigned int digits = (unsigned int)out_address_digits(out);
	text_hex(&out->text, cells[FRAME_SP].number, digits, true);
	out_puts(out, " ");
	if (cells[FRAME_IP].number) {
		text_hex(&out->text, cells[FRAME_IP].number, digits, true);
		out_puts(out, " ");
	} else {
		out_pad(out, digits + 1);
	}
	if (cells[FRAME_FRAME].is_there) {
		out_printf(out, "[%s: %0*" PRIx64 "]", cells[FRAME_METHOD].text.bytes, (int)digits,
			   cells[FRAME_FRAME].number);
		out_puts(out, cells[FRAME_CALLEE].is_there ? " " : "");
		put_stack_cell(out, &cells[FRAME_CALLEE]);
	} else {
		put_stack_cell(out, &cells[FRAME_METHOD]);
		if (cells[FRAME_OFFSET].is_there)
			out_printf(out, "+0x%" PRIx64, cells[FRAME_OFFSET].number);
	}
	source_line_put(out, &cells[FRAME_FILE], &cells[FRAME_LINE]);
	if (cells[FRAME_FUNCLET].flag)
		out_styled(out, STYLE_NOTE, " (handler)");
	if (cells[FRAME_UNWOUND].flag)
		out_styled(out, STYLE_NOTE, " (unwound)");
	out_puts(out, "\n");
}

const struct schema stack_frame_schema = {
	.name = "frames",
	SCHEMA_COLUMNS(frame_columns),
	.heading = "        Child SP               IP Call Site",
	.narrow_heading = "    Child SP           IP Call Site",
	.layout = stack_frame_layout,
};

/* The method of a frame, in @p buf; JSON says null where it is not known. */
static struct cell method_cell(struct call *call, const struct stack_frame *frame, struct text *buf)
{
	if (!frame->method_desc)
		return cell_null();
	buf->size = 0;
	runtime_method_signature(call->heap->runtime, frame->method_desc, buf);
	call->out.text.failed |= buf->failed;
	return buf->size ? cell_text(buf->bytes, buf->size) : cell_null();
}

/* Begin the row of a frame: what its slots hold may follow. */
static void begin_frame(struct stack_text *text, const struct stack_frame *frame)
{
	struct call *call = text->call;
	bool is_managed = frame->kind == STACK_MANAGED;
	struct cell method = method_cell(call, frame, &text->method);
	struct cell cells[FRAME_COLUMNS] = {
		[FRAME_KIND] = cell_string(is_managed ? "managed" : "explicit"),
		[FRAME_SP] = cell_number(frame->sp),
		[FRAME_IP] = cell_number(frame->ip),
		[FRAME_METHOD] = is_managed ? method : cell_string(frame->name),
		[FRAME_UNWOUND] = cell_flag(frame->is_dead),
	};
	if (is_managed) {
		cells[FRAME_METHOD_DESC] = cell_number(frame->method_desc);
		cells[FRAME_OFFSET] = cell_number(frame->offset);
		cells[FRAME_FUNCLET] = cell_flag(frame->is_funclet);
		cells[FRAME_ACTIVE] = cell_flag(frame->is_active);
		/* A return address is after the call. */
		if (!text->no_lines) {
			source_text_cells(call, frame->method_desc, frame->ip - !frame->is_active,
					  &cells[FRAME_FILE], &cells[FRAME_LINE]);
		}
	} else {
		cells[FRAME_FRAME] = cell_number(frame->frame);
		cells[FRAME_CALLEE] = method;
	}
	answer_row_begin(&call->answer, cells);
}

/* A native frame: the module that its code is in, and the place in that. */
static void write_native_frame(struct stack_text *text, const struct native_frame *native)
{
	struct call *call = text->call;
	HD_CLEANUP(text) struct text name = { 0 };
	target_code_place(runtime_target(call->heap->runtime), call->settings.symbols, native->ip,
			  native->is_active, &text->symbols_left, &name);
	const struct cell cells[FRAME_COLUMNS] = {
		[FRAME_KIND] = cell_string("native"),
		[FRAME_SP] = cell_number(native->sp),
		[FRAME_IP] = cell_number(native->ip),
		[FRAME_METHOD] = cell_text(name.size ? name.bytes : NULL, name.size),
		[FRAME_ACTIVE] = cell_flag(native->is_active),
	};
	answer_row(&call->answer, cells);
	call->out.text.failed |= name.failed;
}

/* A row in the place of @p count frames, of which the first @p period are all that differ. */
static void write_frame_fold(struct call *call, const struct stack_frame *frames, size_t count,
			     size_t period)
{
	struct text names[FRAME_PERIOD_MAX] = { 0 };
	HD_CLEANUP(text) struct text all = { 0 };
	const char *words[FRAME_PERIOD_MAX];
	for (size_t i = 0; i < period; i++) {
		struct cell name = frames[i].kind == STACK_EXPLICIT
					   ? cell_string(frames[i].name)
					   : method_cell(call, &frames[i], &names[i]);
		words[i] = name.is_there ? name.text.bytes : NULL;
		if (i)
			text_puts(&all, i + 1 == period ? " and " : ", ");
		if (words[i])
			text_append(&all, name.text.bytes, name.text.size);
	}
	const struct cell cells[FRAME_COLUMNS] = {
		[FRAME_FOLDED] = cell_number(count),
		[FRAME_METHODS] = cell_text(all.bytes, all.size),
	};
	answer_row_begin(&call->answer, cells);
	answer_list(&call->answer, "methods", words, period);
	answer_row_end(&call->answer);
	call->out.text.failed |= all.failed;
	for (size_t i = 0; i < period; i++)
		text_deinit(&names[i]);
}

/* Are there frames after those that were written?  Data says it of each thread. */
static void write_cut(struct answer *answer, size_t left)
{
	static const struct column columns[] = {
		{ "truncated", NULL, KIND_FLAG, 0, 0, "are there more frames?" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	char number[COUNT_SIZE];
	answer_data(answer, &schema, (const struct cell[]){ cell_flag(left) });
	if (left) {
		answer_remark(answer, "%*s... %s (-limit 0 shows all)\n",
			      2 * out_address_digits(answer->out) + 2, "",
			      format_count(left, "more frame", number));
	}
}

/*
 * The native frames from @p native on that come before frame @p index; those that come before
 * frames which were folded are not shown.  Returns the next one.
 */
static size_t write_natives(struct stack_text *text, const struct thread_stack *stack,
			    size_t native, size_t index)
{
	for (; native < stack->natives_count && stack->natives[native].before <= index; native++) {
		if (stack->natives[native].before == index)
			write_native_frame(text, &stack->natives[native]);
	}
	return native;
}

static enum hd_status write_stack_frames(struct stack_text *text, const struct thread_stack *stack,
					 const struct frame_roots *roots)
{
	struct call *call = text->call;
	const struct table_options options = { .limit = UINT64_MAX,
					       .no_heading = !stack->frames_count };
	uint64_t shown = 0;
	size_t i = 0, native = 0;
	answer_table(&call->answer, &stack_frame_schema, &options);
	while (i < stack->frames_count && shown < text->limit) {
		size_t period = 0, count = text->full ? 0 : frame_repeats(stack, i, &period);
		if (count) {
			write_frame_fold(call, &stack->frames[i], count, period);
			i += count;
			continue;
		}
		native = write_natives(text, stack, native, i);
		begin_frame(text, &stack->frames[i]);
		TRY(frame_details_write(call, &text->details, stack, &stack->frames[i]));
		TRY(write_frame_roots(text, roots, i));
		answer_row_end(&call->answer);
		TRY(call_check(call));
		shown++;
		i++;
	}
	if (i == stack->frames_count)
		(void)write_natives(text, stack, native, i);
	(void)answer_table_end(&call->answer);
	write_cut(&call->answer, stack->frames_count - i);
	return HD_OK;
}

#define THREAD_LIST(X)                                                                     \
	X(THREAD_ID, "id", NULL, KIND_NUMBER, 0, 0, "its managed id")                      \
	X(THREAD_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0,                                  \
	  "its id in the system; 0: it has none now")                                      \
	X(THREAD_NAME, "name", NULL, KIND_TEXT, 0, 0, "the name that the program gave it") \
	X(THREAD_PARTIAL, "partial", NULL, KIND_FLAG, 0, 0,                                \
	  "could its stack not be walked to the end?")                                     \
	X(THREAD_MISSING, "missing", NULL, KIND_FLAG, 0, 0,                                \
	  "are its registers or its stack not in the target?")                             \
	X(THREAD_WHY, "why", NULL, KIND_TEXT, 0, 0, "the reason for that")

COLUMNS(thread, THREAD_COLUMNS, THREAD_LIST);

const struct schema stack_schema = {
	.name = "threads",
	SCHEMA_COLUMNS(thread_columns),
	.is_main = true,
	.lines = "OS Thread Id: 0x{os_id:x} (managed {id})[ \"{name:m}\"]\n",
};

/* The cells of a thread; @p name gets its name. */
static void stack_thread_cells(struct call *call, const struct thread_stack *stack,
			       struct text *name, struct cell cells[THREAD_COLUMNS])
{
	const struct runtime_thread *thread = stack->thread;
	bool is_whole = !stack->is_partial && !stack->is_missing;
	(void)thread_name(call->heap, thread, name);
	cells[THREAD_ID] = cell_number(thread->id);
	cells[THREAD_OS_ID] = cell_number(thread->os_id);
	cells[THREAD_NAME] = cell_text(name->size ? name->bytes : NULL, name->size);
	cells[THREAD_PARTIAL] = cell_flag(stack->is_partial);
	cells[THREAD_MISSING] = cell_flag(stack->is_missing);
	cells[THREAD_WHY] = cell_string(is_whole ? NULL : stack->why);
}

/* Begin the row of a thread. */
static void begin_thread(struct call *call, const struct thread_stack *stack)
{
	struct cell cells[THREAD_COLUMNS];
	HD_CLEANUP(text) struct text name = { 0 };
	stack_thread_cells(call, stack, &name, cells);
	answer_row_begin(&call->answer, cells);
	if (!stack->frames_count && !stack->is_partial && !stack->is_missing) {
		answer_remark(&call->answer, stack->thread->os_id
						     ? "    no managed frames\n"
						     : "    not started yet, or ended\n");
	}
}

static void write_why(struct call *call, const struct thread_stack *stack, bool roots)
{
	static const struct column columns[] = {
		{ NULL, "why", KIND_TEXT, 0, 0, NULL },
		{ NULL, "words", KIND_TEXT, 0, 0, NULL },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns),
					      .lines = "\\d    {why}{words}\\.\n" };
	char what[160];
	if (!stack->is_missing && !stack->is_partial)
		return;
	(void)snprintf(what, sizeof(what), "stack %s: %s",
		       stack->is_missing ? "missing" : "incomplete", stack->why);
	const char *words = "; every word of the rest that may be a reference is shown as "
			    "conservative";
	const struct cell cells[] = {
		cell_string(what),
		cell_string(roots && !stack->is_missing ? words : ""),
	};
	answer_heading(&call->answer, &schema, cells);
}

void stack_text_heading(struct call *call, const struct thread_stack *stack)
{
	struct cell cells[THREAD_COLUMNS];
	HD_CLEANUP(text) struct text name = { 0 };
	stack_thread_cells(call, stack, &name, cells);
	answer_heading(&call->answer, &stack_schema, cells);
	write_why(call, stack, false);
}

enum hd_status stack_text_write(struct stack_text *text, const struct thread_stack *stack)
{
	struct call *call = text->call;
	HD_CLEANUP(frame_roots) struct frame_roots roots = { 0 };
	TRY(frame_roots_init(&roots, stack, call->err));
	begin_thread(call, stack);
	TRY(write_stack_frames(text, stack, &roots));
	write_why(call, stack, text->roots);
	TRY(write_frame_roots(text, &roots, stack->frames_count));
	answer_row_end(&call->answer);
	return HD_OK;
}

void stack_text_deinit(struct stack_text *text)
{
	text_deinit(&text->method);
	root_objects_deinit(&text->objects);
	*text = (struct stack_text){ 0 };
}
