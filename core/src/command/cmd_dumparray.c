/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/object.h"

enum {
	OPT_START,
	OPT_LENGTH,
	OPT_DETAILS,
	OPT_NOFIELDS
};

const struct option dumparray_options[] = {
	[OPT_START] = { "start", VALUE_NUMBER, "N", "first element to show, from 0", NULL },
	[OPT_LENGTH] = { "length", VALUE_NUMBER, "N", "show at most N elements", NULL },
	[OPT_DETAILS] = { "details", VALUE_NONE, NULL, "each element as dumpobj shows it", NULL },
	[OPT_NOFIELDS] = { "nofields", VALUE_NONE, NULL, "with -details: without fields", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* An array while its elements are written. */
struct listing {
	const struct array_info *array;
	struct window window;
	bool details, fields;
};

/* What an element means: a string's text, another object's type, or as value_note(). */
static void element_note(struct call *call, struct listing *listing, const struct value_out *value,
			 struct text *text)
{
	struct object object;
	if (value->form == FORM_MISSING)
		return;
	value_note(call->heap, value, text);
	if (text->size || value->form != FORM_REFERENCE)
		return;
	if (object_read(call->heap, &listing->window, value->address, &object)) {
		size_t size;
		const char *name = type_name(call->heap->clr, object.type, &size);
		text_escape(text, name, size);
	} else {
		text_puts(text, "<no object>");
	}
}

/* The element behind its index as SOS shows it: where it lies, or what it refers to. */
static void element_text(struct call *call, struct listing *listing, uint32_t index,
			 uint64_t address, const struct value_out *value)
{
	struct out *out = &call->out;
	struct text text = { 0 };
	array_index_text(listing->array, index, &text);
	out_puts(out, text.bytes ? text.bytes : "");
	text_deinit(&text);
	bool is_reference = value->form == FORM_REFERENCE;
	if (is_reference && !value->address) {
		out_puts(out, " null\n");
		return;
	}
	out_puts(out, " ");
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, is_reference ? value->address : address);
	if (value->form == FORM_TEXT || value->form == FORM_MISSING) {
		char column[160];
		value_text(value, column, sizeof(column));
		out_printf(out, "  %s", column);
	}
	element_note(call, listing, value, &text);
	if (text.size) {
		out_puts(out, "  ");
		out_styled(out, STYLE_NOTE, "%.400s", text.bytes);
	}
	text_deinit(&text);
	out_puts(out, "\n");
}

/* What is known of an element beyond its row; in JSON the members of an object. */
static enum hd_status element_details(struct call *call, struct listing *listing,
				      const struct value_out *value)
{
	const struct type *type = listing->array->element;
	uint64_t size = type ? type->base_size : 0;
	bool is_struct = value->form == FORM_STRUCT;
	struct object object;
	if (!is_struct) {
		if (value->form != FORM_REFERENCE || !value->address ||
		    !object_read(call->heap, &listing->window, value->address, &object))
			return HD_OK;
		type = object.type;
		size = object.size;
	}
	if (!type)
		return HD_OK;
	type_head(call, type, 4);
	size_and_file(call, type, size, 4);
	struct array_info array;
	if (!is_struct && array_read(call->heap, &object, &array) && !call->as_json) {
		out_pad(&call->out, 4);
		array_line(call, &array);
	}
	if (!listing->fields)
		return HD_OK;
	if (!call->as_json)
		out_puts(&call->out, "    Fields:\n");
	return write_fields(call, type, value->address,
			    is_struct ? FIELDS_OF_STRUCT : FIELDS_OF_OBJECT, 8);
}

static enum hd_status element_json(struct call *call, struct listing *listing,
				   const struct value_out *value)
{
	struct json *json = &call->json;
	bool opens = value->form == FORM_STRUCT ||
		     (value->form == FORM_REFERENCE && value->address && listing->details);
	if (!opens) {
		value_json(json, NULL, value);
		return HD_OK;
	}
	json_object(json, NULL);
	json_address(json, "address", value->address);
	if (*value->note)
		json_string(json, "text", value->note);
	if (listing->details) {
		TRY(element_details(call, listing, value));
	} else if (listing->array->element) {
		TRY(write_fields(call, listing->array->element, value->address, FIELDS_OF_STRUCT,
				 0));
	}
	json_end(json);
	return HD_OK;
}

static enum hd_status write_elements(struct call *call, struct listing *listing)
{
	const struct array_info *array = listing->array;
	uint64_t start = call->options[OPT_START].number;
	uint64_t length =
		call->options[OPT_LENGTH].given ? call->options[OPT_LENGTH].number : UINT64_MAX;
	uint64_t end = array->length;
	if (start > end) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-start is %" PRIu64 ", the array has %" PRIu64 " element%s", start,
			    end, end == 1 ? "" : "s");
	}
	if (length < end - start)
		end = start + length;
	for (uint64_t i = start; i < end; i++) {
		uint64_t address = array->data + i * array->element_size;
		struct value_out value;
		value_read(call->heap, array->element_type, array->element, address, &value);
		if (call->as_json) {
			TRY(element_json(call, listing, &value));
		} else {
			element_text(call, listing, (uint32_t)i, address, &value);
			if (listing->details)
				TRY(element_details(call, listing, &value));
		}
		TRY(call_check(call));
	}
	return HD_OK;
}

static void write_element_type(struct call *call, const struct array_info *array)
{
	struct text name = { 0 };
	type_handle_name(call->heap->clr, array->element_handle, &name);
	if (call->as_json) {
		json_text(&call->json, "element_type", name.bytes ? name.bytes : "", name.size);
		json_address(&call->json, "element_mt",
			     array->element ? array->element->method_table : 0);
	} else {
		out_printf(&call->out, "Element Methodtable: %016" PRIx64 "\n",
			   array->element ? array->element->method_table : array->element_handle);
	}
	text_deinit(&name);
}

static enum hd_status no_array(struct call *call, const struct object *object)
{
	struct text text = { 0 };
	size_t size;
	const char *name = type_name(call->heap->clr, object->type, &size);
	text_escape(&text, name, size < 120 ? size : 120);
	bool is_array = object->type->category == CATEGORY_SZ_ARRAY ||
			object->type->category == CATEGORY_MD_ARRAY;
	enum hd_status status =
		fail(call->err, HD_ERR_NOTFOUND, object->address,
		     is_array ? "the array %" PRIx64 " (%s) is damaged: its dimensions do not make "
				"its length; dumpobj shows the rest"
			      : "object %" PRIx64 " is no array but a %s: try dumpobj",
		     object->address, text.bytes ? text.bytes : "?");
	text_deinit(&text);
	return status;
}

enum hd_status run_dumparray(struct call *call)
{
	struct object object;
	struct array_info array;
	TRY(call_heap_object(call, call->words[0].number, &object));
	if (!array_read(call->heap, &object, &array))
		return no_array(call, &object);
	if (call->as_json)
		json_address(&call->json, "address", object.address);
	type_head(call, object.type, 0);
	size_and_file(call, object.type, object.size, 0);
	array_line(call, &array);
	write_element_type(call, &array);
	struct listing listing = { .array = &array,
				   .window = { .memory = call->heap->memory },
				   .details = call->options[OPT_DETAILS].given,
				   .fields = !call->options[OPT_NOFIELDS].given };
	if (call->as_json)
		json_array(&call->json, "elements");
	enum hd_status status = write_elements(call, &listing);
	if (call->as_json && status == HD_OK) {
		json_end(&call->json);
		if (call->options[OPT_START].number || call->options[OPT_LENGTH].given)
			json_bool(&call->json, "truncated", true);
	}
	window_deinit(&listing.window);
	return status;
}
