/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "answer/cell_lines.h"
#include "command/objects/object.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "command/threads/thread_choice.h"
#include "inspect/thread_name.h"
#include "output/root_label.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/method.h"
#include "util/alloc.h"

#define PRINTEXCEPTION_OPTIONS(X)                                                                 \
	X(OPT_NESTED, "nested", VALUE_NONE, NULL, "also the inner exceptions, all of them", NULL) \
	X(OPT_THREAD, "thread", VALUE_THREAD, "N", "of the thread whose managed id is N", NULL)   \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "of all threads, also where one is selected", NULL)

OPTIONS(printexception, PRINTEXCEPTION_OPTIONS);

/* Inner exceptions that are followed, and frames that are shown of each. */
#define NESTED_MAX       1000u
#define FRAMES_SHOWN_MAX 10000u
/* Text in place of strings and frames that a small core has not kept. */
#define LOST "<cannot be read>"

/* "app.dll": the file of the method's module; NULL: it has none, or that is not known. */
static const char *module_file(struct runtime *runtime, uint64_t method_desc)
{
	struct method method;
	const char *path = NULL;
	if (method_read(runtime, method_desc, &method) && method.module)
		path = method.module->path;
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *file = slash ? slash + 1 : path;
	return file && *file ? file : NULL;
}

#define FRAME_LIST(X)                                                                          \
	X(FRAME_SP, "sp", "SP", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER,                     \
	  "the stack pointer then")                                                            \
	X(FRAME_IP, "ip", "IP", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER,                     \
	  "where the call returns to, or the instruction that failed")                         \
	X(FRAME_MODULE, "module", NULL, KIND_TEXT, 0, 0, "file of the method")                 \
	X(FRAME_METHOD, "method", "Function", KIND_TEXT, 0, 0, "its name and arguments")       \
	X(FRAME_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "place of ip in the method's code") \
	X(FRAME_FILE, "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                              \
	  "path of the source file, as the compiler saw it")                                   \
	X(FRAME_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")

COLUMNS(frame, FRAME_COLUMNS, FRAME_LIST);

SCHEMA(frame, .name = "stack",
       .lines = "    {sp:016X} {ip:016X} [{module}!]{method?<unknown>}[+0x{offset:x}]{file:s}\n");

static void write_frame(struct call *call, const struct exception_frame *frame)
{
	struct runtime *runtime = call->heap->runtime;
	struct code_info code;
	HD_CLEANUP(text) struct text name = { 0 };
	bool has_code = frame->within && runtime_code_at(runtime, frame->within, &code) &&
			code.method_desc == frame->method_desc;
	if (frame->method_desc)
		runtime_method_signature(runtime, frame->method_desc, &name);
	struct cell cells[FRAME_COLUMNS] = {
		[FRAME_SP] = cell_number(frame->sp),
		[FRAME_IP] = cell_number(frame->ip),
		[FRAME_MODULE] = cell_string(module_file(runtime, frame->method_desc)),
		[FRAME_METHOD] = cell_text(name.bytes, name.size),
	};
	if (has_code) {
		cells[FRAME_OFFSET] = cell_number(frame->ip - code.start);
		source_text_cells(call, frame->method_desc, frame->within, &cells[FRAME_FILE],
				  &cells[FRAME_LINE]);
	}
	answer_row(&call->answer, cells);
	call->out.text.failed |= name.failed;
}

static enum hd_status write_exception_frames(struct call *call, struct exception_info *info,
					     bool *ret_is_lost)
{
	struct answer *answer = &call->answer;
	struct exception_frame frame;
	uint32_t i = 0;
	answer_table(answer, &frame_schema, NULL);
	for (; i < FRAMES_SHOWN_MAX && exception_frame_at(call->heap, info, i, &frame); i++) {
		if (!i) {
			answer_remark(answer, "StackTrace (generated):\n"
					      "    SP               IP               Function\n");
		}
		write_frame(call, &frame);
		TRY(call_check(call));
	}
	(void)answer_table_end(answer);
	*ret_is_lost = i < FRAMES_SHOWN_MAX && exception_frames_lost(call->heap, info, i);
	if (*ret_is_lost)
		answer_remark(answer, i ? "    " LOST "\n" : "StackTrace:       " LOST "\n");
	return HD_OK;
}

#define EXCEPTION_LIST(X)                                                                    \
	X(EXCEPTION_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,                            \
	  "where the exception object begins")                                               \
	X(EXCEPTION_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                   \
	X(EXCEPTION_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                 \
	X(EXCEPTION_MESSAGE, "message", NULL, KIND_TEXT, 0, 0, "its own message")            \
	X(EXCEPTION_HRESULT, "hresult", NULL, KIND_SIGNED, 0, 0, "its HResult")              \
	X(EXCEPTION_INNER, "inner", NULL, KIND_ADDRESS, 0, 0, "its inner exception, or 0x0") \
	X(EXCEPTION_STACK_TRACE, "stack_trace", NULL, KIND_TEXT, 0, 0,                       \
	  "the stack trace that it brings as text")                                          \
	X(EXCEPTION_REMOTE_TRACE, "remote_stack_trace", NULL, KIND_TEXT, 0, 0,               \
	  "the text that its StackTrace has before the frames")                              \
	X(EXCEPTION_INNER_TYPE, NULL, NULL, KIND_TYPE, 0, 0, NULL)

COLUMNS(exception, EXCEPTION_COLUMNS, EXCEPTION_LIST);

static void put_labelled_text(struct out *out, const char *label, const struct cell *cell)
{
	out_puts(out, label);
	if (cell->is_there) {
		text_escape(&out->text, cell->text.bytes, cell->text.size);
	} else {
		out_puts(out, cell->shown);
	}
	out_puts(out, "\n");
}

/* The text of _remoteStackTraceString, line by line; nothing where there is none. */
static void put_remote_trace(struct out *out, const struct cell *cell)
{
	if (cell->is_there || cell->shown)
		out_printf(out, "RemoteStackTraceString:%s\n", cell->is_there ? "" : " " LOST);
	out_text_lines(out, 0, cell);
}

static void put_inner(struct out *out, const struct cell *cells)
{
	const struct cell *type = &cells[EXCEPTION_INNER_TYPE];
	uint64_t inner = cells[EXCEPTION_INNER].number;
	out_puts(out, "InnerException:   ");
	if (!inner) {
		out_puts(out, "<none>\n");
	} else if (type->shown) {
		out_printf(out, "%016" PRIx64 ", %s\n", inner, type->shown);
	} else {
		out_type(out, type->text.bytes, type->text.size, type->text.id);
		out_printf(out, ", Use printexception %016" PRIX64 " to see more.\n", inner);
	}
}

/* Write the lines above the frames. */
static void exception_layout(struct out *out, const struct cell *cells)
{
	const struct cell *type = &cells[EXCEPTION_TYPE];
	out_printf(out, "Exception object: %016" PRIx64 "\nException type:   ",
		   cells[EXCEPTION_ADDRESS].number);
	out_type(out, type->text.bytes, type->text.size, type->text.id);
	put_labelled_text(out, "\nMessage:          ", &cells[EXCEPTION_MESSAGE]);
	put_inner(out, cells);
}

/* Write the lines below them. */
static void exception_rest_layout(struct out *out, const struct cell *cells)
{
	put_labelled_text(out, "\nStackTraceString: ", &cells[EXCEPTION_STACK_TRACE]);
	put_remote_trace(out, &cells[EXCEPTION_REMOTE_TRACE]);
	out_printf(out, "HResult: %08" PRIx32 "\n",
		   (uint32_t)cells[EXCEPTION_HRESULT].signed_number);
}

SCHEMA(exception, .layout = exception_layout);
static const struct schema rest_schema = { SCHEMA_COLUMNS(exception_columns),
					   .layout = exception_rest_layout };

static struct cell string_cell(const char *string, bool is_lost)
{
	return cell_shown(cell_string(string), string ? NULL : is_lost ? LOST : "<none>");
}

static struct cell exception_type_cell(struct runtime *runtime, const struct type *type)
{
	size_t size;
	const char *name = type_name(runtime, type, &size);
	return cell_type(name, size, type->method_table);
}

/* The type of the inner exception: only text says it. */
static struct cell inner_cell(struct call *call, const struct exception_info *info)
{
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	struct cell cell = { .shown = "which is not an object that can be read" };
	struct object inner;
	if (info->inner && object_read(call->heap, &window, info->inner, &inner))
		cell = exception_type_cell(call->heap->runtime, inner.type);
	return cell;
}

/* Data: the members above that are null or cut as they cannot be read. */
static void write_missing_members(struct answer *answer, const struct exception_info *info,
				  bool is_stack_lost)
{
	const char *words[4];
	size_t count = 0;
	if (info->message_lost)
		words[count++] = "message";
	if (info->stack_trace_lost)
		words[count++] = "stack_trace";
	if (info->remote_trace_lost)
		words[count++] = "remote_stack_trace";
	if (is_stack_lost)
		words[count++] = "stack";
	answer_list(answer, "missing", words, count);
}

static enum hd_status write_exception(struct call *call, const struct object *object,
				      struct exception_info *info)
{
	bool is_stack_lost;
	const struct cell cells[EXCEPTION_COLUMNS] = {
		[EXCEPTION_ADDRESS] = cell_number(object->address),
		[EXCEPTION_MT] = cell_number(object->type->method_table),
		[EXCEPTION_TYPE] = exception_type_cell(call->heap->runtime, object->type),
		[EXCEPTION_MESSAGE] = string_cell(info->message, info->message_lost),
		[EXCEPTION_HRESULT] = cell_signed(info->hresult),
		[EXCEPTION_INNER] = cell_number(info->inner),
		[EXCEPTION_STACK_TRACE] = string_cell(info->stack_trace, info->stack_trace_lost),
		[EXCEPTION_REMOTE_TRACE] = cell_shown(cell_string(info->remote_trace),
						      info->remote_trace_lost ? LOST : NULL),
		[EXCEPTION_INNER_TYPE] = inner_cell(call, info),
	};
	answer_record(&call->answer, &exception_schema, cells);
	TRY(write_exception_frames(call, info, &is_stack_lost));
	write_missing_members(&call->answer, info, is_stack_lost);
	answer_heading(&call->answer, &rest_schema, cells);
	return HD_OK;
}

/* Exceptions that are still to be shown, the next one last, and all that were ever among them. */
struct nested {
	uint64_t left[NESTED_MAX], met[NESTED_MAX];
	unsigned int left_count, met_count;
	bool is_cut;
};

static bool is_met(const struct nested *nested, uint64_t address)
{
	for (unsigned int i = 0; i < nested->met_count; i++) {
		if (nested->met[i] == address)
			return true;
	}
	return false;
}

/* The exceptions inside an exception come next, in their order; one that comes again is shown once. */
static void add_inner(struct call *call, const struct exception_info *info, struct nested *nested)
{
	unsigned int first = nested->left_count;
	uint64_t inner;
	for (uint32_t i = 0; (inner = exception_inner_at(call->heap, info, i)); i++) {
		if (is_met(nested, inner))
			continue;
		if (nested->met_count == NESTED_MAX) {
			nested->is_cut = true;
			break;
		}
		nested->met[nested->met_count++] = inner;
		nested->left[nested->left_count++] = inner;
	}
	for (unsigned int last = nested->left_count; first + 1 < last; first++) {
		uint64_t address = nested->left[first];
		nested->left[first] = nested->left[--last];
		nested->left[last] = address;
	}
}

/* Each is a record of its own in its row. */
static const struct schema nested_schema = { .name = "nested" };

static enum hd_status write_nested(struct call *call, struct nested *nested)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct answer *answer = &call->answer;
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	struct object object;
	struct exception_info info;
	enum hd_status status = HD_OK;
	answer_table(answer, &nested_schema, &options);
	while (status == HD_OK && nested->left_count) {
		uint64_t address = nested->left[--nested->left_count];
		if (!object_read(call->heap, &window, address, &object) ||
		    !exception_read(call->heap, &object, &info))
			continue;
		answer_remark(answer, "\nNested exception "
				      "-------------------------------------------------\n");
		answer_row_begin(answer, NULL);
		status = write_exception(call, &object, &info);
		answer_row_end(answer);
		add_inner(call, &info, nested);
		exception_info_deinit(&info);
	}
	(void)answer_table_end(answer);
	if (nested->is_cut)
		answer_remark(answer, "(the first %u)\n", NESTED_MAX);
	return status;
}

static enum hd_status no_exception(struct call *call, const struct object *object)
{
	struct runtime *runtime = call->heap->runtime;
	if (type_is_exception(runtime, object->type)) {
		return fail(call->err, HD_ERR_FAULT, object->address,
			    "the fields of exception %" PRIx64 " cannot be read or have no names "
			    "here: info says what is missing, dumpobj shows what there is",
			    object->address);
	}
	return call_wrong_object(call, object, "an exception", "dumpobj");
}

/* The exception @p object, and those inside it if -nested. */
static enum hd_status write_exceptions(struct call *call, const struct object *object)
{
	struct exception_info info;
	if (!exception_read(call->heap, object, &info))
		return no_exception(call, object);
	HD_FREE struct nested *nested = mem_calloc(1, sizeof(*nested));
	enum hd_status status =
		nested ? write_exception(call, object, &info) : fail_nomem(call->err);
	if (status == HD_OK) {
		nested->met[nested->met_count++] = object->address;
		add_inner(call, &info, nested);
	}
	exception_info_deinit(&info);
	if (status == HD_OK && call->options[OPT_NESTED].given)
		status = write_nested(call, nested);
	return status;
}

#define THROWN_LIST(X)                                                                  \
	X(THROWN_THREAD, "thread", NULL, KIND_NUMBER, 0, 0, "managed id of the thread") \
	X(THROWN_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system")       \
	X(THROWN_NAME, NULL, NULL, KIND_TEXT, 0, 0, NULL)

COLUMNS(thrown, THROWN_COLUMNS, THROWN_LIST);

static void thrown_layout(struct out *out, const struct cell *cells)
{
	const struct graph_thread label = { .os_id = cells[THROWN_OS_ID].number,
					    .id = (uint32_t)cells[THROWN_THREAD].number,
					    .name = cells[THROWN_NAME].text.bytes };
	thread_label(out, &label);
	out_puts(out, ":\n");
}

SCHEMA(thrown, .name = "exceptions", .layout = thrown_layout);

static enum hd_status write_thrown(struct call *call, const struct runtime_thread *thread,
				   const struct object *object)
{
	HD_CLEANUP(text) struct text name = { 0 };
	(void)thread_name(call->heap, thread, &name);
	const struct cell cells[THROWN_COLUMNS] = {
		[THROWN_THREAD] = cell_number(thread->id),
		[THROWN_OS_ID] = cell_number(thread->os_id),
		[THROWN_NAME] = cell_string(name.size ? name.bytes : NULL),
	};
	answer_row_begin(&call->answer, cells);
	TRY(write_exceptions(call, object));
	answer_row_end(&call->answer);
	return HD_OK;
}

/* Write the exception that each thread has thrown last, as far as the thread still holds it. */
static enum hd_status write_threads(struct call *call)
{
	const struct runtime *runtime = call->heap->runtime;
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	const struct thread_choice choice =
		thread_choice(call, NULL, &call->options[OPT_THREAD], &call->options[OPT_ALL]);
	size_t count = 0, chosen = 0;
	TRY(threads_check(call));
	answer_table(&call->answer, &thrown_schema, NULL);
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		struct object object;
		if (!thread_is_chosen(&choice, thread))
			continue;
		chosen++;
		if (!thread->exception ||
		    !object_read(call->heap, &window, thread->exception, &object) ||
		    !type_is_exception(call->heap->runtime, object.type))
			continue;
		answer_remark(&call->answer, count++ ? "\n" : "");
		TRY(write_thrown(call, thread, &object));
	}
	if (choice.is_one && !chosen)
		return thread_not_found(call, &choice);
	(void)answer_table_end(&call->answer);
	if (!count) {
		answer_remark(&call->answer,
			      choice.is_one
				      ? "There is no current managed exception on this thread.\n"
				      : "No managed thread holds an exception that it threw.\n");
	}
	return HD_OK;
}

static enum hd_status run_printexception(struct call *call)
{
	const struct runtime *runtime = call->heap->runtime;
	if (!call->words[0].given) {
		if (runtime_knows_exceptions(runtime))
			return write_threads(call);
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "which exception a thread threw last is not known for .NET %s: give "
			    "an address (dumpheap -type Exception lists them)",
			    *runtime_version(runtime) ? runtime_version(runtime)
						      : "of this version");
	}
	struct object object;
	TRY(call_heap_object(call, call->words[0].number, &object));
	return write_exceptions(call, &object);
}

COMMAND(printexception, .alias = "pe",
	.summary = "show an exception: message, inner, stack trace, HResult",
	.description =
		"Without ADDR: what the thread that is selected in the debugger or by setthread has\n"
		"thrown last; each managed thread where there is none, and with -all.\n",
	.example = "printexception 7f0fd8073538 -nested", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_FIELDS, .options = printexception_options,
	.words = { { "ADDR", VALUE_ADDRESS, true } });
