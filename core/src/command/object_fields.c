/* SPDX-License-Identifier: MIT */
/* The table of fields, as dumpobj, dumpvc, dumpclass and dumparray -details show it. */
#include <inttypes.h>
#include <stdio.h>

#include "clr/static.h"
#include "command/object.h"
#include "util/alloc.h"

/* Embedded structs are opened so deep in JSON, and so many fields are written before no more are. */
#define DEPTH_MAX  6u
#define ROWS_MAX   100000u
#define TYPE_WIDTH 20u
/* UTF-16 units of a string that are shown behind its reference. */
#define PREVIEW 64u

bool string_text(struct heap *heap, uint64_t address, uint32_t limit, struct text *text)
{
	struct text raw = { 0 };
	uint32_t length = 0;
	bool readable = string_value(heap, address, limit, &raw, &length);
	if (readable && raw.bytes)
		text_escape(text, raw.bytes, raw.size);
	text->failed = text->failed || raw.failed;
	if (readable && length > limit)
		text_puts(text, "...");
	text_deinit(&raw);
	return readable;
}

void value_text(const struct value_out *value, char *buf, size_t size)
{
	switch (value->form) {
	case FORM_TEXT:
		(void)snprintf(buf, size, "%s", value->text);
		break;
	case FORM_REFERENCE:
	case FORM_STRUCT:
		(void)snprintf(buf, size, "%016" PRIx64, value->address);
		break;
	case FORM_MISSING:
		(void)snprintf(buf, size, "(missing)");
		break;
	case FORM_UNSET:
		(void)snprintf(buf, size, "(no value yet)");
		break;
	}
}

void value_note(struct heap *heap, const struct value_out *value, struct text *text)
{
	if (value->form != FORM_REFERENCE) {
		text_escape(text, value->note, strlen(value->note));
		return;
	}
	struct text string = { 0 };
	text_puts(&string, "\"");
	if (value->address && string_text(heap, value->address, PREVIEW, &string) &&
	    !string.failed) {
		text_append(text, string.bytes, string.size);
		text_puts(text, "\"");
	}
	text_deinit(&string);
}

static void primitive_json(struct json *json, const char *key, const struct value_out *value)
{
	float single;
	double real;
	uint32_t low = (uint32_t)value->bits;
	switch (value->element_type) {
	case ELEMENT_BOOLEAN:
		json_bool(json, key, value->bits != 0);
		break;
	case ELEMENT_I1:
	case ELEMENT_I2:
	case ELEMENT_I4:
	case ELEMENT_I8:
		json_signed(json, key, value_signed(value));
		break;
	case ELEMENT_CHAR:
	case ELEMENT_U1:
	case ELEMENT_U2:
	case ELEMENT_U4:
	case ELEMENT_U8:
		json_number(json, key, value->bits);
		break;
	case ELEMENT_R4:
		memcpy(&single, &low, sizeof(single));
		json_real(json, key, (double)single, true);
		break;
	case ELEMENT_R8:
		memcpy(&real, &value->bits, sizeof(real));
		json_real(json, key, real, false);
		break;
	default:
		json_address(json, key, value->bits);
		break;
	}
}

void value_json(struct json *json, const char *key, const struct value_out *value)
{
	if (value->form == FORM_TEXT) {
		primitive_json(json, key, value);
	} else if (value->form == FORM_MISSING || value->form == FORM_UNSET) {
		json_null(json, key);
	} else {
		json_address(json, key, value->address);
	}
}

/* The fields of one type as they are written; a stack of them where structs hold structs. */
struct level {
	const struct type *type;
	struct field_list list;
	size_t next;
	uint64_t base; /* of the first field */
	enum fields_of of;
};

static enum hd_status level_begin(struct clr *clr, struct level *level, const struct type *type,
				  uint64_t address, enum fields_of of, struct hd_error *err)
{
	*level = (struct level){ .type = type, .base = address, .of = of };
	if (of == FIELDS_OF_OBJECT)
		level->base += OBJECT_FIELDS;
	return field_list_read(clr, type, &level->list, err);
}

/* What a static field has at @p slot: a struct lies in a box, unless it is mapped from the image. */
static void read_slot(struct heap *heap, const struct field *field, uint64_t slot,
		      struct value_out *ret)
{
	*ret = (struct value_out){ .form = FORM_MISSING };
	bool boxed = slot && field->element_type == ELEMENT_VALUE && !field->is_rva;
	if (boxed && memory_u64(heap->memory, slot, &slot) && slot)
		slot += OBJECT_FIELDS;
	if (slot)
		value_read(heap, field->element_type, field->type, slot, ret);
}

/* A thread static has no value of its own. */
static void read_static(struct heap *heap, const struct field *field, struct value_out *ret)
{
	bool initialised = true;
	if (field->is_thread_static)
		return;
	uint64_t slot = field_static_address(heap->clr, field, &initialised);
	read_slot(heap, field, slot, ret);
	if (!slot && !initialised)
		ret->form = FORM_UNSET;
}

/* The value of a thread static in the next thread, from *@p next on, that has one, or NULL. */
static const struct clr_thread *next_value(struct call *call, const struct field *field,
					   size_t *next, struct value_out *ret)
{
	struct clr *clr = call->heap->clr;
	while (*next < clr->thread_count) {
		const struct clr_thread *thread = &clr->threads[(*next)++];
		uint64_t slot = thread->os_id ? field_thread_static_address(clr, field, thread) : 0;
		if (slot) {
			read_slot(call->heap, field, slot, ret);
			return thread;
		}
	}
	return NULL;
}

static void read_field(struct call *call, const struct level *level, const struct field *field,
		       struct value_out *ret)
{
	*ret = (struct value_out){ .form = FORM_MISSING };
	if (field->is_static) {
		read_static(call->heap, field, ret);
	} else if (level->of != FIELDS_OF_TYPE) {
		/* an enum's only field does not know whose it is */
		const struct type *type =
			type_is_enum(call->heap->clr, level->type) ? level->type : field->type;
		value_read(call->heap, field->element_type, type, level->base + field->offset, ret);
	}
}

/* SOS adds the size of the MethodTable pointer to the offset of a static field, too. */
static uint32_t shown_offset(const struct level *level, const struct field *field)
{
	bool behind_mt = level->of != FIELDS_OF_STRUCT && !field->is_thread_static;
	return field->offset + (behind_mt ? OBJECT_FIELDS : 0);
}

/* A type's name in SOS's column of 20: the end of a long one. */
static void write_type_column(struct out *out, const char *name)
{
	struct text text = { 0 };
	text_escape(&text, name, strlen(name));
	const char *shown = text.bytes ? text.bytes : "";
	size_t columns = 0;
	for (size_t i = 0; i < text.size; i++)
		columns += ((unsigned char)shown[i] & 0xc0) != 0x80;
	if (columns > TYPE_WIDTH) {
		for (size_t drop = columns - (TYPE_WIDTH - 3); drop; shown++)
			drop -= ((unsigned char)shown[1] & 0xc0) != 0x80;
		out_puts(out, "...");
	} else {
		out_pad(out, TYPE_WIDTH - columns);
	}
	out_puts(out, shown);
	text_deinit(&text);
}

static void write_note(struct call *call, const struct value_out *value)
{
	struct text note = { 0 };
	value_note(call->heap, value, &note);
	if (note.size) {
		out_puts(&call->out, "  ");
		out_styled(&call->out, STYLE_NOTE, "%.400s", note.bytes);
	}
	text_deinit(&note);
}

/* SOS's block below the row of a thread static. */
static enum hd_status write_thread_values(struct call *call, const struct field *field,
					  unsigned int indent)
{
	struct out *out = &call->out;
	const struct clr_thread *thread;
	struct value_out value;
	char column[160];
	out_pad(out, indent + 4);
	out_puts(out, "Thread static values (Thread:Value)\n");
	for (size_t next = 0; (thread = next_value(call, field, &next, &value)) != NULL;) {
		value_text(&value, column, sizeof(column));
		out_pad(out, indent + 8);
		out_printf(out, "%" PRIx64 ":%s", thread->os_id, column);
		write_note(call, &value);
		out_puts(out, "\n");
		TRY(call_check(call));
	}
	out_puts(out, "\n");
	return call_check(call);
}

static enum hd_status write_row(struct call *call, const struct level *level,
				const struct field *field, unsigned int indent)
{
	struct out *out = &call->out;
	struct value_out value;
	char column[160] = "";
	read_field(call, level, field, &value);
	bool has_value = field->is_static ? !field->is_thread_static : level->of != FIELDS_OF_TYPE;
	if (has_value)
		value_text(&value, column, sizeof(column));
	out_pad(out, indent);
	out_printf(out, "%016" PRIx64 " %08x %8x ", field->type ? field->type->method_table : 0,
		   field->token, shown_offset(level, field));
	write_type_column(out, field->type_name);
	out_printf(out, " %4s ", element_is_reference(field->element_type) ? "No" : "Yes");
	if (field->is_thread_static) {
		out_puts(out, "TLstatic  ");
	} else {
		out_printf(out, "%8s %16s ", field->is_static ? "static" : "instance", column);
	}
	text_escape(&out->text, field->name, strlen(field->name));
	if (has_value)
		write_note(call, &value);
	out_puts(out, "\n");
	return field->is_thread_static ? write_thread_values(call, field, indent) : HD_OK;
}

static enum hd_status fields_text(struct call *call, const struct type *type, uint64_t address,
				  enum fields_of of, unsigned int indent)
{
	struct level level;
	TRY(level_begin(call->heap->clr, &level, type, address, of, call->err));
	enum hd_status status = HD_OK;
	out_pad(&call->out, indent);
	if (!level.list.count) {
		out_puts(&call->out, "None\n");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%16s %8s %8s %20s %4s %8s %16s %s", "MT",
			   "Field", "Offset", "Type", "VT", "Attr", "Value", "Name");
		out_puts(&call->out, "\n");
	}
	for (size_t i = 0; i < level.list.count && status == HD_OK; i++) {
		status = write_row(call, &level, &level.list.rows[i], indent);
		if (status == HD_OK)
			status = call_check(call);
	}
	field_list_deinit(&level.list);
	return status;
}

static enum hd_status thread_values_json(struct call *call, const struct field *field)
{
	struct json *json = &call->json;
	const struct clr_thread *thread;
	struct value_out value;
	json_array(json, "threads");
	for (size_t next = 0; (thread = next_value(call, field, &next, &value)) != NULL;) {
		json_object(json, NULL);
		json_number(json, "id", thread->id);
		json_number(json, "os_id", thread->os_id);
		value_json(json, "value", &value);
		json_end(json);
		TRY(call_check(call));
	}
	json_end(json);
	return HD_OK;
}

/* A field's members but for those of a struct in it; the object stays open. */
static enum hd_status field_json(struct call *call, const struct level *level,
				 const struct field *field, struct value_out *value)
{
	struct json *json = &call->json;
	struct text note = { 0 };
	read_field(call, level, field, value);
	json_object(json, NULL);
	json_string(json, "name", field->name);
	json_number(json, "offset", shown_offset(level, field));
	json_string(json, "type", field->type_name);
	value_json(json, "value", value);
	json_bool(json, "static", field->is_static);
	if (field->is_thread_static) {
		json_bool(json, "thread_static", true);
		TRY(thread_values_json(call, field));
	}
	json_address(json, "mt", field->type ? field->type->method_table : 0);
	json_address(json, "token", field->token);
	if (field->declaring)
		json_string(json, "declaring", type_name(call->heap->clr, field->declaring, NULL));
	if (value->form != FORM_REFERENCE)
		text_puts(&note, value->note);
	if (note.size)
		json_text(json, "text", note.bytes, note.size);
	text_deinit(&note);
	return HD_OK;
}

/* The fields of a struct inside a field are written inside it, without statics. */
static enum hd_status fields_json(struct call *call, struct level *levels, unsigned int *depth)
{
	struct json *json = &call->json;
	uint64_t rows = 0;
	while (*depth) {
		struct level *level = &levels[*depth - 1];
		if (level->next == level->list.count) {
			json_end(json);
			field_list_deinit(&level->list);
			if (--*depth)
				json_end(json);
			continue;
		}
		const struct field *field = &level->list.rows[level->next++];
		if (*depth > 1 && field->is_static)
			continue;
		struct value_out value;
		TRY(field_json(call, level, field, &value));
		TRY(call_check(call));
		bool opens = value.form == FORM_STRUCT && field->type && *depth < DEPTH_MAX &&
			     ++rows < ROWS_MAX;
		if (opens && level_begin(call->heap->clr, &levels[*depth], field->type,
					 value.address, FIELDS_OF_STRUCT, NULL) == HD_OK) {
			json_array(json, "fields");
			++*depth;
		} else {
			json_end(json);
		}
	}
	return HD_OK;
}

enum hd_status write_fields(struct call *call, const struct type *type, uint64_t address,
			    enum fields_of of, unsigned int indent)
{
	if (!call->as_json)
		return fields_text(call, type, address, of, indent);
	struct level *levels = mem_alloc(DEPTH_MAX + 1, sizeof(*levels));
	if (!levels)
		return fail_nomem(call->err);
	unsigned int depth = 0;
	enum hd_status status =
		level_begin(call->heap->clr, &levels[0], type, address, of, call->err);
	if (status == HD_OK) {
		json_array(&call->json, "fields");
		depth = 1;
		status = fields_json(call, levels, &depth);
	}
	while (depth)
		field_list_deinit(&levels[--depth].list);
	mem_free(levels);
	return status;
}
