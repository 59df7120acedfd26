/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/objects/object.h"
#include "command/table.h"

#define DUMPARRAY_OPTIONS(X)                                                                  \
	X(OPT_START, "start", VALUE_NUMBER, "N", "first element to show, from 0", NULL)       \
	X(OPT_LENGTH, "length", VALUE_NUMBER, "N", "show at most N elements", NULL)           \
	X(OPT_DETAILS, "details", VALUE_NONE, NULL, "each element as dumpobj shows it", NULL) \
	X(OPT_NOFIELDS, "nofields", VALUE_NONE, NULL, "with -details: without fields", NULL)

OPTIONS(dumparray, DUMPARRAY_OPTIONS);

/* An array while its elements are written. */
struct element_listing {
	const struct array_info *array;
	struct window window;
	bool details, fields;
};

/* An element as text shows it. */
struct shown_element {
	uint32_t index;
	uint64_t address;
	char column[160];
	struct text index_text, note;
};

/* Write the meaning of an element: a string's text, another object's type, or as value_note(). */
static void element_note(struct call *call, struct element_listing *listing,
			 const struct value_out *value, struct text *text)
{
	struct object object;
	if (value->form == FORM_MISSING)
		return;
	value_note(call, value, text);
	if (text->size || value->form != FORM_REFERENCE)
		return;
	if (object_read(call->heap, &listing->window, value->address, &object)) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object.type, &size);
		text_escape(text, name, size);
	} else {
		text_puts(text, "<no object>");
	}
}

#define ELEMENT_LIST(X)                                                                     \
	X(ELEMENT_ANY, "value", NULL, KIND_ANY, 0, LOOK_LEAVE_OUT,                          \
	  "a number, a flag, or where a reference leads")                                   \
	X(ELEMENT_ADDRESS, "address", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                \
	  "for a struct: its address")                                                      \
	X(ELEMENT_TEXT, "text", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "what the value means") \
	X(ELEMENT_INDEX, .kind = KIND_TEXT) /**< text only, as all that follow */           \
	X(ELEMENT_PLACE, .kind = KIND_ADDRESS)                                              \
	X(ELEMENT_NOTE, .kind = KIND_TEXT)

COLUMNS(element, ELEMENT_COLUMNS, ELEMENT_LIST);

/* The element after its index, as SOS shows it: where it lies, or what it refers to. */
static void element_layout(struct out *out, const struct cell *cells)
{
	out_puts(out, cells[ELEMENT_INDEX].text.bytes);
	if (!cells[ELEMENT_PLACE].is_there) {
		out_puts(out, " null\n");
		return;
	}
	out_puts(out, " ");
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, cells[ELEMENT_PLACE].number);
	if (cells[ELEMENT_ANY].shown)
		out_printf(out, "  %s", cells[ELEMENT_ANY].shown);
	object_note_layout(out, &cells[ELEMENT_NOTE]);
	out_puts(out, "\n");
}

SCHEMA(element, .name = "elements", .is_main = true, .is_list = true, .layout = element_layout);

/* Write the details of an element that its row does not have. */
static enum hd_status element_details(struct call *call, struct element_listing *listing,
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
	const struct object_head head = { .type = type, .size = size, .indent = 4 };
	write_object_head(&call->answer, call->heap->runtime, &head);
	struct array_info array;
	if (!is_struct && array_read(call->heap, &object, &array))
		write_array_line(&call->answer, &array, 4);
	if (!listing->fields)
		return HD_OK;
	answer_remark(&call->answer, "    Fields:\n");
	return write_fields(call, type, value->address,
			    is_struct ? FIELDS_OF_STRUCT : FIELDS_OF_OBJECT, 8);
}

/* Fill the cells that only text shows; @p text and @p column hold them until the row is written. */
static void shown_cells(struct call *call, struct element_listing *listing,
			const struct value_out *value, struct shown_element *shown,
			struct cell *cells)
{
	bool is_null = value->form == FORM_REFERENCE && !value->address;
	array_index_text(listing->array, shown->index, &shown->index_text);
	cells[ELEMENT_INDEX] = cell_text(shown->index_text.bytes ? shown->index_text.bytes : "",
					 shown->index_text.size);
	if (is_null)
		return;
	bool is_reference = value->form == FORM_REFERENCE;
	cells[ELEMENT_PLACE] = cell_number(is_reference ? value->address : shown->address);
	if (value->form == FORM_TEXT || value->form == FORM_MISSING) {
		value_text(value, shown->column, sizeof(shown->column));
		cells[ELEMENT_ANY].shown = shown->column;
	}
	element_note(call, listing, value, &shown->note);
	cells[ELEMENT_NOTE] = cell_text(shown->note.bytes, shown->note.size);
}

static enum hd_status write_array_element(struct call *call, struct element_listing *listing,
					  uint32_t index, uint64_t address)
{
	const struct array_info *array = listing->array;
	struct answer *answer = &call->answer;
	struct value_out value;
	struct shown_element shown = { .index = index, .address = address };
	struct cell cells[ELEMENT_COLUMNS] = { 0 };
	value_read(call->heap, array->element_type, array->element, address, &value);
	bool opens = value.form == FORM_STRUCT ||
		     (value.form == FORM_REFERENCE && value.address && listing->details);
	if (!opens) {
		cells[ELEMENT_ANY] = value_cell(&value);
	} else {
		cells[ELEMENT_ADDRESS] = cell_number(value.address);
		cells[ELEMENT_TEXT] = cell_string(*value.note ? value.note : NULL);
	}
	if (answer_is_text(answer))
		shown_cells(call, listing, &value, &shown, cells);
	if (opens) {
		answer_row_begin(answer, cells);
	} else {
		answer_row(answer, cells);
	}
	text_deinit(&shown.index_text);
	text_deinit(&shown.note);
	if (!opens)
		return HD_OK;
	if (listing->details) {
		TRY(element_details(call, listing, &value));
	} else if (array->element && !answer_is_text(answer)) {
		TRY(write_fields(call, array->element, value.address, FIELDS_OF_STRUCT, 0));
	}
	answer_row_end(answer);
	return HD_OK;
}

static enum hd_status write_elements(struct call *call, struct element_listing *listing)
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
		TRY(write_array_element(call, listing, (uint32_t)i, address));
		TRY(call_check(call));
	}
	return HD_OK;
}

#define ELEMENT_TYPE_LIST(X)                                                                \
	X(ELEMENT_TYPE_NAME, "element_type", NULL, KIND_TEXT, 0, 0,                         \
	  "name of the type of its elements")                                               \
	X(ELEMENT_TYPE_MT, "element_mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable, or 0") \
	X(ELEMENT_TYPE_HANDLE, .heading = "handle", .kind = KIND_ADDRESS) /**< text only */

COLUMNS(element_type, ELEMENT_TYPE_COLUMNS, ELEMENT_TYPE_LIST);

static void write_element_type(struct call *call, const struct array_info *array)
{
	static const struct schema schema = { SCHEMA_COLUMNS(element_type_columns),
					      .lines = "Element Methodtable: {handle:016}\n" };
	HD_CLEANUP(text) struct text name = { 0 };
	type_name_append(call->heap->runtime, array->element_handle, &name);
	uint64_t mt = array->element ? array->element->method_table : 0;
	const struct cell cells[ELEMENT_TYPE_COLUMNS] = {
		[ELEMENT_TYPE_NAME] = cell_text(name.bytes ? name.bytes : "", name.size),
		[ELEMENT_TYPE_MT] = cell_number(mt),
		[ELEMENT_TYPE_HANDLE] = cell_number(array->element ? mt : array->element_handle),
	};
	answer_record(&call->answer, &schema, cells);
}

static enum hd_status no_array(struct call *call, const struct object *object)
{
	bool is_array = object->type->category == CATEGORY_SZ_ARRAY ||
			object->type->category == CATEGORY_MD_ARRAY;
	if (!is_array)
		return call_wrong_object(call, object, "an array", "dumpobj");
	HD_CLEANUP(text) struct text text = { 0 };
	size_t size;
	const char *name = type_name(call->heap->runtime, object->type, &size);
	text_escape(&text, name, size < 120 ? size : 120);
	enum hd_status status =
		fail(call->err, HD_ERR_NOTFOUND, object->address,
		     "the array %" PRIx64 " (%s) is damaged: its dimensions do not match its "
		     "length; dumpobj shows the rest",
		     object->address, text.bytes ? text.bytes : "?");
	return status;
}

static enum hd_status run_dumparray(struct call *call)
{
	struct object object;
	struct array_info array;
	TRY(call_heap_object(call, call->words[0].number, &object));
	if (!array_read(call->heap, &object, &array))
		return no_array(call, &object);
	const struct object_head head = { .type = object.type,
					  .size = object.size,
					  .address = object.address,
					  .has_address = true };
	write_object_head(&call->answer, call->heap->runtime, &head);
	write_array(&call->answer, &array);
	write_element_type(call, &array);
	struct element_listing listing = { .array = &array,
					   .window = { .memory = call->heap->memory },
					   .details = call->options[OPT_DETAILS].given,
					   .fields = !call->options[OPT_NOFIELDS].given };
	answer_table(&call->answer, &element_schema, NULL);
	enum hd_status status = write_elements(call, &listing);
	window_deinit(&listing.window);
	TRY(status);
	(void)answer_table_end(&call->answer);
	if (call->options[OPT_START].number || call->options[OPT_LENGTH].given)
		answer_truncated(&call->answer);
	return HD_OK;
}

COMMAND(dumparray, .alias = "da", .summary = "list the elements of an array",
	.description =
		"Structs and numbers are shown with their addresses, references with the object that\n"
		"they refer to. -start counts over all dimensions.\n",
	.example = "dumparray 7f0fd5c0b2f8 -start 10 -length 5 -details",
	.top_level = TOP_LEVEL_ALWAYS, .has_rows = true, .needs = NEEDS_HEAP,
	.options = dumparray_options, .words = { { "ADDR", VALUE_ADDRESS, false } });
