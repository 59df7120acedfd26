/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "clr/code.h"
#include "command/object.h"

static void write_delegate(struct call *call, const struct delegate_info *info)
{
	struct text name = { 0 };
	if (info->method_desc)
		clr_method_signature(call->heap->clr, info->method_desc, &name);
	if (call->as_json) {
		struct json *json = &call->json;
		json_object(json, NULL);
		json_address(json, "target", info->target);
		json_address(json, "method", info->method_desc);
		json_text(json, "name", name.bytes, name.size);
		json_address(json, "token", info->token);
		json_address(json, "code", info->method_code);
		json_end(json);
	} else {
		struct out *out = &call->out;
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, info->target);
		out_printf(out, " %016" PRIx64 " ", info->method_desc);
		if (name.bytes) {
			text_escape(&out->text, name.bytes, name.size);
		} else {
			out_styled(out, STYLE_NOTE, "<code at %" PRIx64 ">", info->method_code);
		}
		out_puts(out, "\n");
	}
	call->out.text.failed |= name.failed;
	text_deinit(&name);
}

/* The delegates of a multicast one; what is none is left out and counted. */
static enum hd_status write_list(struct call *call, const struct delegate_info *info)
{
	struct window window = { .memory = call->heap->memory };
	enum hd_status status = HD_OK;
	uint64_t odd = 0;
	struct object list;
	struct array_info array;
	if (!object_read(call->heap, &window, info->invocation_list, &list) ||
	    !array_read(call->heap, &list, &array))
		array.length = 0;
	for (uint64_t i = 0; i < info->invocation_count && i < array.length && status == HD_OK;
	     i++) {
		uint64_t address;
		struct object object;
		struct delegate_info one;
		if (memory_u64(call->heap->memory, array.data + 8 * i, &address) &&
		    object_read(call->heap, &window, address, &object) &&
		    delegate_read(call->heap, &object, &one)) {
			write_delegate(call, &one);
		} else {
			odd++;
		}
		status = call_check(call);
	}
	if (odd && !call->as_json)
		out_printf(&call->out, "(%" PRIu64 " of the list are no delegates)\n", odd);
	window_deinit(&window);
	return status;
}

enum hd_status run_dumpdelegate(struct call *call)
{
	struct object object;
	struct delegate_info info;
	TRY(call_heap_object(call, call->words[0].number, &object));
	if (!delegate_read(call->heap, &object, &info)) {
		struct text text = { 0 };
		const char *name = type_name(call->heap->clr, object.type, NULL);
		text_escape(&text, name, strnlen(name, 120));
		enum hd_status status =
			fail(call->err, HD_ERR_NOTFOUND, object.address,
			     "object %" PRIx64 " is no delegate but a %s: try dumpobj",
			     object.address, text.bytes ? text.bytes : "?");
		text_deinit(&text);
		return status;
	}
	if (call->as_json) {
		json_address(&call->json, "address", object.address);
		json_string(&call->json, "type", type_name(call->heap->clr, object.type, NULL));
		json_array(&call->json, "invocations");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%-16s %-16s %s", "Target", "Method", "Name");
		out_puts(&call->out, "\n");
	}
	enum hd_status status = HD_OK;
	if (info.invocation_list) {
		status = write_list(call, &info);
	} else {
		write_delegate(call, &info);
	}
	if (call->as_json && status == HD_OK)
		json_end(&call->json);
	return status;
}
