/* SPDX-License-Identifier: MIT */
#include "command/objects/object.h"

static enum hd_status run_dumpvc(struct call *call)
{
	static const struct column columns[] = {
		{ "text", "Value:       ", KIND_TEXT, 0, 0, "what the value means" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	const struct type *type;
	TRY(call_type(call, call->words[0].number, &type));
	uint64_t address = call->words[1].number;
	bool is_value = type->category == CATEGORY_VALUE || type->category == CATEGORY_NULLABLE ||
			type->category == CATEGORY_PRIMITIVE ||
			type->category == CATEGORY_TRUE_PRIMITIVE;
	if (!is_value) {
		return fail(call->err, HD_ERR_ARGUMENT, type->method_table,
			    "the type of that MethodTable is not a struct; use dumpobj for its "
			    "objects");
	}
	struct value_out value;
	value_read(call->heap, ELEMENT_VALUE, type, address, &value);
	const struct object_head head = {
		.type = type, .size = type->base_size, .address = address, .has_address = true
	};
	write_object_head(&call->answer, call->heap->runtime, &head);
	const struct cell note = cell_string(value.note);
	if (*value.note)
		answer_record(&call->answer, &schema, &note);
	answer_remark(&call->answer, "Fields:\n");
	return write_fields(call, type, address, FIELDS_OF_STRUCT, 0);
}

COMMAND(dumpvc, .summary = "show the fields of a struct by its MethodTable and address",
	.example = "dumpvc 7f1bb073d428 7f0fd5c0b278", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS,
	.words = { { "MT", VALUE_TYPE_ID, false }, { "ADDR", VALUE_ADDRESS, false } });
