/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/objects/object.h"
#include "command/table.h"
#include "runtime/coreclr/code/code.h"

#define INVOCATION_LIST(X)                                                                    \
	X(INVOCATION_TARGET, "target", NULL, KIND_ADDRESS, 0, 0,                              \
	  "the object that it is called on")                                                  \
	X(INVOCATION_METHOD, "method", NULL, KIND_ADDRESS, 0, 0, "the MethodDesc, or 0")      \
	X(INVOCATION_NAME, "name", NULL, KIND_TEXT, 0, 0, "the method's name and signature")  \
	X(INVOCATION_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0, "the method's metadata token") \
	X(INVOCATION_CODE, "code", NULL, KIND_ADDRESS, 0, 0, "where its code begins")

COLUMNS(invocation, INVOCATION_COLUMNS, INVOCATION_LIST);

SCHEMA(invocation, .name = "invocations", .is_main = true,
       .heading = "Target           Method           Name",
       .lines = "{target:016a} {method:016} [{name}|\\d<code at {code:x}>\\.]\n");

static void write_delegate(struct call *call, const struct delegate_info *info)
{
	HD_CLEANUP(text) struct text name = { 0 };
	if (info->method_desc)
		runtime_method_signature(call->heap->runtime, info->method_desc, &name);
	const struct cell cells[INVOCATION_COLUMNS] = {
		[INVOCATION_TARGET] = cell_number(info->target),
		[INVOCATION_METHOD] = cell_number(info->method_desc),
		[INVOCATION_NAME] = cell_text(name.bytes, name.size),
		[INVOCATION_TOKEN] = cell_number(info->token),
		[INVOCATION_CODE] = cell_number(info->method_code),
	};
	answer_row(&call->answer, cells);
	call->out.text.failed |= name.failed;
}

/* The delegates of a multicast one; what is none is left out and counted. */
static enum hd_status write_invocation_list(struct call *call, const struct delegate_info *info)
{
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
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
	if (odd)
		answer_remark(&call->answer, "(%" PRIu64 " of the list are not delegates)\n", odd);
	return status;
}

static void write_delegate_head(struct call *call, const struct object *object)
{
	static const struct column columns[] = {
		{ "address", NULL, KIND_ADDRESS, 0, 0, "the delegate" },
		{ "type", NULL, KIND_TEXT, 0, 0, "name of its type" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	const struct cell cells[] = {
		cell_number(object->address),
		cell_string(type_name(call->heap->runtime, object->type, NULL)),
	};
	answer_data(&call->answer, &schema, cells);
}

static enum hd_status run_dumpdelegate(struct call *call)
{
	struct object object;
	struct delegate_info info;
	TRY(call_heap_object(call, call->words[0].number, &object));
	if (!delegate_read(call->heap, &object, &info))
		return call_wrong_object(call, &object, "a delegate", "dumpobj");
	write_delegate_head(call, &object);
	answer_table(&call->answer, &invocation_schema, NULL);
	if (info.invocation_list) {
		TRY(write_invocation_list(call, &info));
	} else {
		write_delegate(call, &info);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

COMMAND(dumpdelegate, .summary = "show what a delegate calls: targets and methods",
	.example = "dumpdelegate 7f0fd8072c28", .top_level = TOP_LEVEL_ALWAYS, .has_rows = true,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .words = { { "ADDR", VALUE_ADDRESS, false } });
