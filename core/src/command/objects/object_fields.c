/* SPDX-License-Identifier: MIT */
/* The table of fields, as dumpobj, dumpvc, dumpclass and dumparray -details show it. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "command/objects/object.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/runtime_ops.h"
#include "util/alloc.h"

/* Embedded structs are opened so deep in JSON, and so many fields are written before no more are. */
#define FIELD_DEPTH_MAX 6u
#define ROWS_MAX        100000u
#define TYPE_WIDTH      20u
/* In few columns, which have no room for the token of the field either. */
#define TYPE_NARROW_WIDTH 14u
/* UTF-16 units of a string that are shown after its reference. */
#define PREVIEW 64u
/* Bytes of the note after a value. */
#define NOTE_MAX 400

bool string_text(struct heap *heap, uint64_t address, uint32_t limit, struct text *text)
{
	HD_CLEANUP(text) struct text raw = { 0 };
	uint32_t length = 0;
	bool readable = string_value(heap, address, limit, &raw, &length);
	if (readable && raw.bytes)
		text_escape(text, raw.bytes, raw.size);
	text->failed = text->failed || raw.failed;
	if (readable && length > limit)
		text_puts(text, "...");
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

void value_note(const struct call *call, const struct value_out *value, struct text *text)
{
	const uint32_t units = call->out.is_full ? STRING_MAX : PREVIEW;
	if (value->form != FORM_REFERENCE) {
		text_escape(text, value->note, strlen(value->note));
		return;
	}
	HD_CLEANUP(text) struct text string = { 0 };
	text_puts(&string, "\"");
	if (value->address && string_text(call->heap, value->address, units, &string) &&
	    !string.failed) {
		text_append(text, string.bytes, string.size);
		text_puts(text, "\"");
	}
}

void object_note(const struct call *call, const struct object *object, struct text *text)
{
	const struct value_out value = { .form = FORM_REFERENCE, .address = object->address };
	value_note(call, &value, text);
}

static struct cell primitive_cell(const struct value_out *value)
{
	float single;
	double real;
	uint32_t low = (uint32_t)value->bits;
	switch (value->element_type) {
	case ELEMENT_BOOLEAN:
		return cell_of(KIND_FLAG, cell_flag(value->bits != 0));
	case ELEMENT_I1:
	case ELEMENT_I2:
	case ELEMENT_I4:
	case ELEMENT_I8:
		return cell_of(KIND_SIGNED, cell_signed(value_signed(value)));
	case ELEMENT_CHAR:
	case ELEMENT_U1:
	case ELEMENT_U2:
	case ELEMENT_U4:
	case ELEMENT_U8:
		return cell_of(KIND_NUMBER, cell_number(value->bits));
	case ELEMENT_R4:
		memcpy(&single, &low, sizeof(single));
		return cell_of(KIND_SINGLE, cell_real((double)single));
	case ELEMENT_R8:
		memcpy(&real, &value->bits, sizeof(real));
		return cell_of(KIND_REAL, cell_real(real));
	default:
		return cell_of(KIND_ADDRESS, cell_number(value->bits));
	}
}

struct cell value_cell(const struct value_out *value)
{
	if (value->form == FORM_TEXT)
		return primitive_cell(value);
	if (value->form == FORM_MISSING || value->form == FORM_UNSET)
		return (struct cell){ 0 };
	return cell_of(KIND_ADDRESS, cell_number(value->address));
}

/* The fields of one type as they are written; a stack of them where structs hold structs. */
struct level {
	const struct type *type;
	struct field_list list;
	size_t next;
	uint64_t base; /* of the first field */
	enum fields_of of;
};

static enum hd_status level_begin(struct runtime *runtime, struct level *level,
				  const struct type *type, uint64_t address, enum fields_of of,
				  struct hd_error *err)
{
	*level = (struct level){ .type = type, .base = address, .of = of };
	if (of == FIELDS_OF_OBJECT)
		level->base += OBJECT_FIELDS;
	return field_list_read(runtime, type, &level->list, err);
}

/*
 * Read the value of a static field at @p slot: a struct lies in a box, unless it is mapped from the
 * image.
 */
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

/* Is it what all fields of that kind hold before anything is written to them? */
static bool is_default(const struct value_out *value)
{
	return (value->form == FORM_TEXT && !value->bits) ||
	       (value->form == FORM_REFERENCE && !value->address);
}

/*
 * A thread static has no value of its own.  Before a class is initialised its fields hold 0, which the program never
 * sees: the static constructor runs first, and writes to them.
 */
static void read_static(struct heap *heap, const struct field *field, struct value_out *ret)
{
	bool initialised = true;
	if (field->is_thread_static)
		return;
	uint64_t slot = field_static_address(heap->runtime, field, &initialised);
	read_slot(heap, field, slot, ret);
	if (initialised)
		return;
	bool is_unset = !slot || (is_default(ret) &&
				  type_has_static_constructor(heap->runtime, field->declaring));
	if (is_unset)
		*ret = (struct value_out){ .form = FORM_UNSET };
}

/* The value of a thread static in the next thread, from *@p next on, that has one, or NULL. */
static const struct runtime_thread *next_value(struct call *call, const struct field *field,
					       size_t *next, struct value_out *ret)
{
	struct runtime *runtime = call->heap->runtime;
	while (*next < runtime_thread_count(runtime)) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, (*next)++);
		uint64_t slot =
			thread->os_id ? field_thread_static_address(runtime, field, thread) : 0;
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
			type_is_enum(call->heap->runtime, level->type) ? level->type : field->type;
		value_read(call->heap, field->element_type, type, level->base + field->offset, ret);
	}
}

/* SOS adds the size of the MethodTable pointer to the offset of a static field, too. */
static uint32_t shown_offset(const struct level *level, const struct field *field)
{
	bool behind_mt = level->of != FIELDS_OF_STRUCT && !field->is_thread_static;
	return field->offset + (behind_mt ? OBJECT_FIELDS : 0);
}

/* The members of a field after which tables may follow, then those that JSON has after them. */
#define FIELD_LIST(X)                                                                           \
	X(FIELD_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the field")                       \
	X(FIELD_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "where it begins, as SOS counts")    \
	X(FIELD_TYPE, "type", NULL, KIND_TEXT, 0, 0, "name of its type")                        \
	X(FIELD_VALUE, "value", NULL, KIND_ANY, 0, 0, "what it holds; a struct by its address") \
	X(FIELD_STATIC, "static", NULL, KIND_FLAG, 0, 0, "is it a static field?")               \
	X(FIELD_THREAD_STATIC, "thread_static", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,             \
	  "does each thread have its own?")                                                     \
	X(FIELD_INDENT, .kind = KIND_NUMBER) /**< text only, as all that follow */              \
	X(FIELD_MT, .kind = KIND_ADDRESS)                                                       \
	X(FIELD_TOKEN, .kind = KIND_ADDRESS)                                                    \
	X(FIELD_REFERENCE, .kind = KIND_FLAG)                                                   \
	X(FIELD_NOTE, .kind = KIND_TEXT)

COLUMNS(field, FIELD_COLUMNS, FIELD_LIST);

/* A type's name in SOS's column of 20, or fewer: the end of a long one. */
static void write_type_column(struct out *out, const struct cell *name)
{
	const size_t width = out_is_narrow(out) ? TYPE_NARROW_WIDTH : TYPE_WIDTH;
	HD_CLEANUP(text) struct text text = { 0 };
	text_escape(&text, name->text.bytes, name->text.size);
	const char *shown = text.bytes ? text.bytes : "";
	size_t columns = 0;
	for (size_t i = 0; i < text.size; i++)
		columns += !utf8_continues(shown[i]);
	if (columns > width && !out->is_full) {
		for (size_t drop = columns - (width - 3); drop; shown++)
			drop -= !utf8_continues(shown[1]);
		out_puts(out, "...");
	} else {
		out_pad(out, columns < width ? width - columns : 0);
	}
	out_puts(out, shown);
}

void object_note_layout(struct out *out, const struct cell *note)
{
	if (!note->is_there || !note->text.size)
		return;
	out_puts(out, "  ");
	out_styled(out, STYLE_NOTE, "%.*s", out->is_full ? INT_MAX : NOTE_MAX, note->text.bytes);
}

/* An address without the zeros that fill SOS's column up, where there is no room for them. */
static const char *narrow_value(const struct out *out, const char *value)
{
	const size_t zeros = 16 - (size_t)out_address_digits(out);
	bool is_address = strlen(value) == 16 && strncmp(value, "0000", zeros) == 0;
	return is_address ? value + zeros : value;
}

static void field_layout(struct out *out, const struct cell *cells)
{
	const struct cell *name = &cells[FIELD_NAME];
	out_pad(out, cells[FIELD_INDENT].number);
	if (out_is_narrow(out)) {
		out_printf(out, "%12" PRIx64 " %4" PRIx64 " ", cells[FIELD_MT].number,
			   cells[FIELD_OFFSET].number);
	} else {
		out_printf(out, "%016" PRIx64 " %08" PRIx64 " %8" PRIx64 " ",
			   cells[FIELD_MT].number, cells[FIELD_TOKEN].number,
			   cells[FIELD_OFFSET].number);
	}
	write_type_column(out, &cells[FIELD_TYPE]);
	out_printf(out, " %*s ", out_is_narrow(out) ? 3 : 4,
		   cells[FIELD_REFERENCE].flag ? "No" : "Yes");
	if (cells[FIELD_THREAD_STATIC].is_there) {
		out_puts(out, "TLstatic  ");
	} else {
		out_printf(out, "%8s %*s ", cells[FIELD_STATIC].flag ? "static" : "instance",
			   out_address_digits(out), narrow_value(out, cells[FIELD_VALUE].shown));
	}
	text_escape(&out->text, name->text.bytes, name->text.size);
	object_note_layout(out, &cells[FIELD_NOTE]);
	out_puts(out, "\n");
}

SCHEMA(field, .name = "fields", .layout = field_layout);

#define FIELD_END_LIST(X)                                                                \
	X(FIELD_END_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of its type, or 0") \
	X(FIELD_END_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0, "its metadata token")      \
	X(FIELD_END_DECLARING, "declaring", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,          \
	  "name of the type that has it")                                                \
	X(FIELD_END_TEXT, "text", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                    \
	  "what the value means: the name of an enum's, a date")

COLUMNS(field_end, FIELD_END_COLUMNS, FIELD_END_LIST);

static const struct schema field_end_schema = { SCHEMA_COLUMNS(field_end_columns) };

#define FIELD_THREAD_LIST(X)                                                               \
	X(FIELD_THREAD_ID, "id", NULL, KIND_NUMBER, 0, 0, "managed id of the thread")      \
	X(FIELD_THREAD_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system")    \
	X(FIELD_THREAD_VALUE, "value", NULL, KIND_ANY, 0, 0, "what the field holds in it") \
	X(FIELD_THREAD_INDENT, .kind = KIND_NUMBER) /**< text only, as the next */         \
	X(FIELD_THREAD_NOTE, .kind = KIND_TEXT)

COLUMNS(thread, FIELD_THREAD_COLUMNS, FIELD_THREAD_LIST);

static void thread_value_layout(struct out *out, const struct cell *cells)
{
	out_pad(out, cells[FIELD_THREAD_INDENT].number + 8);
	out_printf(out, "%" PRIx64 ":%s", cells[FIELD_THREAD_OS_ID].number,
		   cells[FIELD_THREAD_VALUE].shown);
	object_note_layout(out, &cells[FIELD_THREAD_NOTE]);
	out_puts(out, "\n");
}

SCHEMA(thread, .name = "threads", .layout = thread_value_layout);

/* The line above the fields in text. */
#define FIELD_HEAD_LIST(X)                       \
	X(FIELD_HEAD_COUNT, .kind = KIND_NUMBER) \
	X(FIELD_HEAD_KNOWN, .kind = KIND_FLAG)   \
	X(FIELD_HEAD_INDENT, .kind = KIND_NUMBER)

COLUMNS(field_head, FIELD_HEAD_COLUMNS, FIELD_HEAD_LIST);

static void field_head_layout(struct out *out, const struct cell *cells)
{
	out_pad(out, cells[FIELD_HEAD_INDENT].number);
	if (!cells[FIELD_HEAD_COUNT].number) {
		out_puts(out, cells[FIELD_HEAD_KNOWN].flag ? "None\n" : "Not known\n");
		return;
	}
	if (out_is_narrow(out)) {
		out_styled(out, STYLE_HEAD, "%12s %4s %14s %3s %8s %12s %s", "MT", "Off", "Type",
			   "VT", "Attr", "Value", "Name");
	} else {
		out_styled(out, STYLE_HEAD, "%16s %8s %8s %20s %4s %8s %16s %s", "MT", "Field",
			   "Offset", "Type", "VT", "Attr", "Value", "Name");
	}
	out_puts(out, "\n");
}

SCHEMA(field_head, .layout = field_head_layout);

/* A value as only text shows it. */
struct shown_value {
	char value[160];
	struct text note;
};

static void shown_init(struct shown_value *shown, struct call *call, const struct value_out *value)
{
	*shown = (struct shown_value){ 0 };
	if (!answer_is_text(&call->answer))
		return;
	value_text(value, shown->value, sizeof(shown->value));
	value_note(call, value, &shown->note);
}

/* Under each thread static: SOS's block in text. */
static enum hd_status write_thread_values(struct call *call, const struct field *field,
					  unsigned int indent)
{
	struct answer *answer = &call->answer;
	const struct runtime_thread *thread;
	struct value_out value;
	answer_remark(answer, "%*sThread static values (Thread:Value)\n", (int)indent + 4, "");
	answer_table(answer, &thread_schema, NULL);
	for (size_t next = 0; (thread = next_value(call, field, &next, &value)) != NULL;) {
		struct shown_value shown;
		shown_init(&shown, call, &value);
		const struct cell cells[FIELD_THREAD_COLUMNS] = {
			[FIELD_THREAD_ID] = cell_number(thread->id),
			[FIELD_THREAD_OS_ID] = cell_number(thread->os_id),
			[FIELD_THREAD_VALUE] = cell_shown(value_cell(&value), shown.value),
			[FIELD_THREAD_INDENT] = cell_number(indent),
			[FIELD_THREAD_NOTE] = cell_text(shown.note.bytes, shown.note.size),
		};
		answer_row(answer, cells);
		text_deinit(&shown.note);
		TRY(call_check(call));
	}
	(void)answer_table_end(answer);
	answer_remark(answer, "\n");
	return call_check(call);
}

/* The first members of a field, and its line in text. */
static void begin_field(struct call *call, const struct level *level, const struct field *field,
			const struct value_out *value, unsigned int indent)
{
	bool has_value = field->is_static ? !field->is_thread_static : level->of != FIELDS_OF_TYPE;
	struct shown_value shown = { 0 };
	if (has_value)
		shown_init(&shown, call, value);
	const struct cell cells[FIELD_COLUMNS] = {
		[FIELD_NAME] = cell_string(field->name),
		[FIELD_OFFSET] = cell_number(shown_offset(level, field)),
		[FIELD_TYPE] = cell_string(field->type_name),
		[FIELD_VALUE] = cell_shown(value_cell(value), shown.value),
		[FIELD_STATIC] = cell_flag(field->is_static),
		[FIELD_THREAD_STATIC] = { .is_there = field->is_thread_static, .flag = true },
		[FIELD_INDENT] = cell_number(indent),
		[FIELD_MT] = cell_number(field->type ? field->type->method_table : 0),
		[FIELD_TOKEN] = cell_number(field->token),
		[FIELD_REFERENCE] = cell_flag(element_is_reference(field->element_type)),
		[FIELD_NOTE] = cell_text(shown.note.bytes, shown.note.size),
	};
	answer_row_begin(&call->answer, cells);
	text_deinit(&shown.note);
}

/* A field but for those of a struct in it; the row stays open. */
static enum hd_status write_object_field(struct call *call, const struct level *level,
					 const struct field *field, struct value_out *value,
					 unsigned int indent)
{
	read_field(call, level, field, value);
	begin_field(call, level, field, value, indent);
	if (field->is_thread_static)
		TRY(write_thread_values(call, field, indent));
	struct runtime *runtime = call->heap->runtime;
	bool has_text = value->form != FORM_REFERENCE && *value->note;
	const struct cell cells[FIELD_END_COLUMNS] = {
		[FIELD_END_MT] = cell_number(field->type ? field->type->method_table : 0),
		[FIELD_END_TOKEN] = cell_number(field->token),
		[FIELD_END_DECLARING] = cell_string(
			field->declaring ? type_name(runtime, field->declaring, NULL) : NULL),
		[FIELD_END_TEXT] = cell_string(has_text ? value->note : NULL),
	};
	answer_data(&call->answer, &field_end_schema, cells);
	return HD_OK;
}

/* The fields of a struct inside a field are written inside it, without statics; text has none of them. */
static enum hd_status write_levels(struct call *call, struct level *levels, unsigned int *depth,
				   unsigned int indent)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct answer *answer = &call->answer;
	unsigned int depth_max = answer_is_text(answer) ? 1 : FIELD_DEPTH_MAX;
	uint64_t rows = 0;
	while (*depth) {
		struct level *level = &levels[*depth - 1];
		if (level->next == level->list.count) {
			(void)answer_table_end(answer);
			field_list_deinit(&level->list);
			if (--*depth)
				answer_row_end(answer);
			continue;
		}
		const struct field *field = &level->list.rows[level->next++];
		if (*depth > 1 && field->is_static)
			continue;
		struct value_out value;
		TRY(write_object_field(call, level, field, &value, indent));
		TRY(call_check(call));
		bool opens = value.form == FORM_STRUCT && field->type && *depth < depth_max &&
			     ++rows < ROWS_MAX;
		if (opens && level_begin(call->heap->runtime, &levels[*depth], field->type,
					 value.address, FIELDS_OF_STRUCT, NULL) == HD_OK) {
			answer_table(answer, &field_schema, &options);
			++*depth;
		} else {
			answer_row_end(answer);
		}
	}
	return HD_OK;
}

enum hd_status write_field_list(struct call *call, const struct type *type, struct field_list *list,
				uint64_t base, enum fields_of of, unsigned int indent)
{
	HD_FREE struct level *levels = mem_alloc(FIELD_DEPTH_MAX + 1, sizeof(*levels));
	if (!levels) {
		field_list_deinit(list);
		return fail_nomem(call->err);
	}
	levels[0] = (struct level){ .type = type, .list = *list, .base = base, .of = of };
	const struct cell head[FIELD_HEAD_COLUMNS] = {
		[FIELD_HEAD_COUNT] = cell_number(list->count),
		[FIELD_HEAD_KNOWN] =
			cell_flag(runtime_capabilities(call->heap->runtime) & RUNTIME_FIELDS),
		[FIELD_HEAD_INDENT] = cell_number(indent),
	};
	answer_heading(&call->answer, &field_head_schema, head);
	answer_table(&call->answer, &field_schema, NULL);
	unsigned int depth = 1;
	enum hd_status status = write_levels(call, levels, &depth, indent);
	while (depth)
		field_list_deinit(&levels[--depth].list);
	return status;
}

enum hd_status write_fields(struct call *call, const struct type *type, uint64_t address,
			    enum fields_of of, unsigned int indent)
{
	struct field_list list;
	uint64_t base = of == FIELDS_OF_OBJECT ? address + OBJECT_FIELDS : address;
	TRY(field_list_read(call->heap->runtime, type, &list, call->err));
	return write_field_list(call, type, &list, base, of, indent);
}
