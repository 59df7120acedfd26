/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "clr/code.h"
#include "clr/method.h"
#include "command/object.h"
#include "inspect/thread_name.h"
#include "report/root_label.h"
#include "util/alloc.h"

enum {
	OPT_NESTED
};

const struct option printexception_options[] = {
	[OPT_NESTED] = { "nested", VALUE_NONE, NULL, "also the inner exceptions, all of them",
			 NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Inner exceptions that are followed, and frames that are shown of each. */
#define NESTED_MAX 1000u
#define FRAMES_MAX 10000u
/* What is said of strings and frames that a small core has not kept. */
#define LOST "<cannot be read>"

static void put_type(struct out *out, struct clr *clr, const struct type *type)
{
	size_t size;
	const char *name = type_name(clr, type, &size);
	out_type(out, name, size, type->method_table);
}

static void put_text(struct out *out, const char *label, const char *string, bool is_lost)
{
	out_puts(out, label);
	if (string) {
		text_escape(&out->text, string, strlen(string));
	} else {
		out_puts(out, is_lost ? LOST : "<none>");
	}
	out_puts(out, "\n");
}

/* "app.dll": the file of the method's module; NULL: it has none, or that is not known. */
static const char *module_file(struct clr *clr, uint64_t method_desc)
{
	struct method method;
	const char *path = NULL;
	if (method_read(clr, method_desc, &method) && method.module)
		path = method.module->path;
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *file = slash ? slash + 1 : path;
	return file && *file ? file : NULL;
}

/* The columns of SOS: "SP IP app.dll!Ns.Type.Method(Int32)+0x1b". */
static void write_frame(struct call *call, const struct exception_frame *frame)
{
	struct clr *clr = call->heap->clr;
	struct code_info code;
	struct text name = { 0 };
	const char *module = module_file(clr, frame->method_desc);
	bool has_code = frame->within && clr_code_at(clr, frame->within, &code) &&
			code.method_desc == frame->method_desc;
	uint64_t offset = has_code ? frame->ip - code.start : 0;
	if (frame->method_desc)
		clr_method_signature(clr, frame->method_desc, &name);
	if (call->as_json) {
		json_object(&call->json, NULL);
		json_address(&call->json, "sp", frame->sp);
		json_address(&call->json, "ip", frame->ip);
		json_string(&call->json, "module", module);
		json_text(&call->json, "method", name.bytes, name.size);
		if (has_code) {
			json_number(&call->json, "offset", offset);
		} else {
			json_null(&call->json, "offset");
		}
		json_end(&call->json);
	} else {
		struct out *out = &call->out;
		out_printf(out, "    %016" PRIX64 " %016" PRIX64 " ", frame->sp, frame->ip);
		if (module) {
			text_escape(&out->text, module, strlen(module));
			out_puts(out, "!");
		}
		if (name.bytes) {
			text_escape(&out->text, name.bytes, name.size);
		} else {
			out_puts(out, "<unknown>");
		}
		if (has_code)
			out_printf(out, "+0x%" PRIx64, offset);
		out_puts(out, "\n");
	}
	call->out.text.failed |= name.failed;
	text_deinit(&name);
}

static enum hd_status write_frames(struct call *call, const struct exception_info *info,
				   bool *ret_is_lost)
{
	struct exception_frame frame;
	uint32_t i = 0;
	if (call->as_json)
		json_array(&call->json, "stack");
	for (; i < FRAMES_MAX && exception_frame_at(call->heap, info, i, &frame); i++) {
		if (!i && !call->as_json) {
			out_puts(&call->out, "StackTrace (generated):\n"
					     "    SP               IP               Function\n");
		}
		write_frame(call, &frame);
		TRY(call_check(call));
	}
	if (call->as_json)
		json_end(&call->json);
	*ret_is_lost = i < FRAMES_MAX && exception_frames_lost(call->heap, info, i);
	if (*ret_is_lost && !call->as_json)
		out_puts(&call->out, i ? "    " LOST "\n" : "StackTrace:       " LOST "\n");
	return HD_OK;
}

static void inner_text(struct call *call, const struct exception_info *info)
{
	struct out *out = &call->out;
	struct window window = { .memory = call->heap->memory };
	struct object inner;
	out_puts(out, "InnerException:   ");
	if (!info->inner) {
		out_puts(out, "<none>\n");
	} else if (object_read(call->heap, &window, info->inner, &inner)) {
		put_type(out, call->heap->clr, inner.type);
		out_printf(out, ", Use printexception %016" PRIX64 " to see more.\n", info->inner);
	} else {
		out_printf(out, "%016" PRIx64 ", which is no object that can be read\n",
			   info->inner);
	}
	window_deinit(&window);
}

/* The members above that are null or cut as they cannot be read. */
static void lost_json(struct json *json, const struct exception_info *info, bool is_stack_lost)
{
	json_array(json, "missing");
	if (info->message_lost)
		json_string(json, NULL, "message");
	if (info->stack_trace_lost)
		json_string(json, NULL, "stack_trace");
	if (is_stack_lost)
		json_string(json, NULL, "stack");
	json_end(json);
}

static enum hd_status write_exception(struct call *call, const struct object *object,
				      const struct exception_info *info)
{
	bool is_stack_lost;
	if (call->as_json) {
		struct json *json = &call->json;
		json_address(json, "address", object->address);
		json_address(json, "mt", object->type->method_table);
		json_string(json, "type", type_name(call->heap->clr, object->type, NULL));
		json_string(json, "message", info->message);
		json_signed(json, "hresult", info->hresult);
		json_address(json, "inner", info->inner);
		json_string(json, "stack_trace", info->stack_trace);
		TRY(write_frames(call, info, &is_stack_lost));
		lost_json(json, info, is_stack_lost);
		return HD_OK;
	}
	struct out *out = &call->out;
	out_printf(out, "Exception object: %016" PRIx64 "\nException type:   ", object->address);
	put_type(out, call->heap->clr, object->type);
	put_text(out, "\nMessage:          ", info->message, info->message_lost);
	inner_text(call, info);
	TRY(write_frames(call, info, &is_stack_lost));
	put_text(out, "\nStackTraceString: ", info->stack_trace, info->stack_trace_lost);
	out_printf(out, "HResult: %08" PRIx32 "\n", (uint32_t)info->hresult);
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

/* Those inside an exception come next, in their order; one that comes again is shown once. */
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

static enum hd_status write_nested(struct call *call, struct nested *nested)
{
	struct window window = { .memory = call->heap->memory };
	struct object object;
	struct exception_info info;
	enum hd_status status = HD_OK;
	while (status == HD_OK && nested->left_count) {
		uint64_t address = nested->left[--nested->left_count];
		if (!object_read(call->heap, &window, address, &object) ||
		    !exception_read(call->heap, &object, &info))
			continue;
		if (call->as_json) {
			json_object(&call->json, NULL);
		} else {
			out_puts(&call->out, "\nNested exception "
					     "-------------------------------------------------\n");
		}
		status = write_exception(call, &object, &info);
		if (call->as_json && status == HD_OK)
			json_end(&call->json);
		add_inner(call, &info, nested);
		exception_info_deinit(&info);
	}
	if (nested->is_cut && !call->as_json)
		out_printf(&call->out, "(the first %u)\n", NESTED_MAX);
	window_deinit(&window);
	return status;
}

static enum hd_status no_exception(struct call *call, const struct object *object)
{
	struct clr *clr = call->heap->clr;
	if (type_is_exception(clr, object->type)) {
		return fail(call->err, HD_ERR_FAULT, object->address,
			    "the fields of exception %" PRIx64 " cannot be read or have no names "
			    "here: info says what is missing, dumpobj shows what there is",
			    object->address);
	}
	struct text text = { 0 };
	const char *name = type_name(clr, object->type, NULL);
	text_escape(&text, name, strnlen(name, 120));
	enum hd_status status = fail(call->err, HD_ERR_NOTFOUND, object->address,
				     "object %" PRIx64 " is no exception but a %s: try dumpobj",
				     object->address, text.bytes ? text.bytes : "?");
	text_deinit(&text);
	return status;
}

static enum hd_status write_inner(struct call *call, struct nested *nested)
{
	if (call->as_json)
		json_array(&call->json, "nested");
	enum hd_status status = write_nested(call, nested);
	if (call->as_json && status == HD_OK)
		json_end(&call->json);
	return status;
}

/* The exception @p object, and those inside it if -nested. */
static enum hd_status write_all(struct call *call, const struct object *object)
{
	struct exception_info info;
	if (!exception_read(call->heap, object, &info))
		return no_exception(call, object);
	struct nested *nested = mem_calloc(1, sizeof(*nested));
	enum hd_status status =
		nested ? write_exception(call, object, &info) : fail_nomem(call->err);
	if (status == HD_OK) {
		nested->met[nested->met_count++] = object->address;
		add_inner(call, &info, nested);
	}
	exception_info_deinit(&info);
	if (status == HD_OK && call->options[OPT_NESTED].given)
		status = write_inner(call, nested);
	mem_free(nested);
	return status;
}

static enum hd_status write_thrown(struct call *call, const struct clr_thread *thread,
				   const struct object *object)
{
	struct json *json = &call->json;
	if (call->as_json) {
		json_object(json, NULL);
		json_number(json, "thread", thread->id);
		json_number(json, "os_id", thread->os_id);
	} else {
		struct text name = { 0 };
		(void)thread_name(call->heap, thread, &name);
		const struct graph_thread label = { .os_id = thread->os_id,
						    .id = thread->id,
						    .name = name.size ? name.bytes : NULL };
		thread_label(&call->out, &label);
		out_puts(&call->out, ":\n");
		text_deinit(&name);
	}
	enum hd_status status = write_all(call, object);
	if (call->as_json && status == HD_OK)
		json_end(json);
	return status;
}

/* What each thread has thrown last, as far as it still holds that. */
static enum hd_status write_threads(struct call *call)
{
	const struct clr *clr = call->heap->clr;
	struct window window = { .memory = call->heap->memory };
	enum hd_status status = HD_OK;
	size_t count = 0;
	if (call->as_json)
		json_array(&call->json, "exceptions");
	for (size_t i = 0; i < clr->thread_count && status == HD_OK; i++) {
		const struct clr_thread *thread = &clr->threads[i];
		struct object object;
		if (!thread->exception ||
		    !object_read(call->heap, &window, thread->exception, &object) ||
		    !type_is_exception(call->heap->clr, object.type))
			continue;
		if (count++ && !call->as_json)
			out_puts(&call->out, "\n");
		status = write_thrown(call, thread, &object);
	}
	window_deinit(&window);
	if (call->as_json && status == HD_OK) {
		json_end(&call->json);
	} else if (!count && status == HD_OK) {
		out_puts(&call->out, "No managed thread holds an exception that it threw.\n");
	}
	return status;
}

enum hd_status run_printexception(struct call *call)
{
	const struct clr *clr = call->heap->clr;
	if (!call->words[0].given) {
		if (layout_has(&clr->layout, L_THREAD_EXCEPTION))
			return write_threads(call);
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "which exception a thread threw last is not known for .NET %s: give "
			    "an address (dumpheap -type Exception lists them)",
			    *clr->version ? clr->version : "of this version");
	}
	struct object object;
	TRY(call_heap_object(call, call->words[0].number, &object));
	return write_all(call, &object);
}
