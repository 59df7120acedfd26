/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/object.h"

enum hd_status run_dumpvc(struct call *call)
{
	const struct type *type;
	TRY(call_type(call, call->words[0].number, &type));
	uint64_t address = call->words[1].number;
	bool is_value = type->category == CATEGORY_VALUE || type->category == CATEGORY_NULLABLE ||
			type->category == CATEGORY_PRIMITIVE ||
			type->category == CATEGORY_TRUE_PRIMITIVE;
	if (!is_value) {
		return fail(call->err, HD_ERR_ARGUMENT, type->method_table,
			    "the type of that MethodTable is no struct; its objects are for "
			    "dumpobj");
	}
	struct value_out value;
	value_read(call->heap, ELEMENT_VALUE, type, address, &value);
	if (call->as_json)
		json_address(&call->json, "address", address);
	type_head(call, type, 0);
	size_and_file(call, type, type->base_size, 0);
	if (*value.note && call->as_json) {
		json_string(&call->json, "text", value.note);
	} else if (*value.note) {
		out_puts(&call->out, "Value:       ");
		text_escape(&call->out.text, value.note, strlen(value.note));
		out_puts(&call->out, "\n");
	}
	if (!call->as_json)
		out_puts(&call->out, "Fields:\n");
	return write_fields(call, type, address, FIELDS_OF_STRUCT, 0);
}
