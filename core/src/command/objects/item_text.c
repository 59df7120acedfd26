/* SPDX-License-Identifier: MIT */
#include "command/objects/item_text.h"

#include <inttypes.h>

/* UTF-16 units of a string that are shown: shortened, and at all. */
#define SHORT_UNITS 64u
#define FULL_UNITS  ((uint32_t)1 << 24)
/* Fields of a struct that text shows. */
#define FIELDS_SHOWN 8u

void item_texts_init(struct item_texts *texts, struct call *call, bool is_full)
{
	*texts = (struct item_texts){ .call = call,
				      .window = { .memory = call->heap->memory },
				      .units = is_full ? FULL_UNITS : SHORT_UNITS };
}

void item_texts_deinit(struct item_texts *texts)
{
	window_deinit(&texts->window);
	text_deinit(&texts->shown);
	text_deinit(&texts->text);
	field_list_deinit(&texts->fields);
}

bool item_is_struct(const struct item_shown *shown)
{
	return shown->value.form == FORM_STRUCT && shown->type;
}

/* "text" of a string; false: it is not one. */
static bool put_string(struct item_texts *texts, uint64_t address, uint32_t units)
{
	HD_CLEANUP(text) struct text string = { 0 };
	bool is_string = string_text(texts->call->heap, address, units, &string);
	if (is_string) {
		text_puts(&texts->shown, "\"");
		if (string.bytes)
			text_append(&texts->shown, string.bytes, string.size);
		text_puts(&texts->shown, "\"");
	}
	texts->shown.failed |= string.failed;
	return is_string;
}

/* The value of a field of a struct, in few words. */
static void put_field(struct item_texts *texts, const struct value_out *value)
{
	struct text *text = &texts->shown;
	if (value->form == FORM_MISSING || value->form == FORM_UNSET) {
		text_puts(text, "(missing)");
	} else if (value->form != FORM_REFERENCE && *value->note) {
		text_escape(text, value->note, strlen(value->note));
	} else if (value->form == FORM_TEXT) {
		text_puts(text, value->text);
	} else if (value->form == FORM_STRUCT) {
		text_puts(text, "{...}");
	} else if (!value->address) {
		text_puts(text, "null");
	} else if (!put_string(texts, value->address, SHORT_UNITS)) {
		text_printf(text, "%" PRIx64, value->address);
	}
}

/* "{X 1, Y 2}" */
static void put_struct(struct item_texts *texts, const struct type *type, uint64_t address)
{
	struct heap *heap = texts->call->heap;
	struct text *text = &texts->shown;
	if (texts->type != type) {
		field_list_deinit(&texts->fields);
		texts->fields = (struct field_list){ 0 };
		texts->type = type;
		/* Without its fields it is shown as one that has none. */
		if (field_list_read(heap->clr, type, &texts->fields, NULL) != HD_OK)
			texts->fields.count = 0;
	}
	unsigned int count = 0;
	text_puts(text, "{");
	for (size_t i = 0; i < texts->fields.count; i++) {
		const struct field *field = &texts->fields.rows[i];
		struct value_out value;
		if (field->is_static)
			continue;
		if (count++ == FIELDS_SHOWN) {
			text_puts(text, ", ...");
			break;
		}
		text_puts(text, count > 1 ? ", " : "");
		text_escape(text, field->name, strlen(field->name));
		text_puts(text, " ");
		value_read(heap, field->element_type, field->type, address + field->offset, &value);
		put_field(texts, &value);
	}
	text_puts(text, "}");
}

/* Write the object that a reference leads to: the text of a string; for another key, its type. */
static void put_reference(struct item_texts *texts, const struct type *type, uint64_t address)
{
	struct text *text = &texts->shown;
	text_printf(text, "%012" PRIx64, address);
	if (!type)
		return;
	if (type->is_string) {
		text_puts(text, " ");
		(void)put_string(texts, address, texts->units);
	} else if (texts->is_key) {
		size_t size;
		const char *name = type_name(texts->call->heap->clr, type, &size);
		text_puts(text, " ");
		text_escape(text, name, size);
	}
}

/* A value as text shows it: what a field of dumpobj has, and what it means. */
static void put_value(struct item_texts *texts, const struct item_shown *shown)
{
	struct text *text = &texts->shown;
	const struct value_out *value = &shown->value;
	char plain[160];
	text->size = 0;
	if (value->form == FORM_REFERENCE && !value->address) {
		text_puts(text, "null");
	} else if (value->form == FORM_REFERENCE) {
		put_reference(texts, shown->type, value->address);
	} else if (value->form == FORM_STRUCT) {
		text_printf(text, "%012" PRIx64 " ", value->address);
		if (*value->note) {
			text_escape(text, value->note, strlen(value->note));
		} else if (shown->type) {
			put_struct(texts, shown->type, value->address);
		}
	} else {
		value_text(value, plain, sizeof(plain));
		text_puts(text, plain);
		if (value->form == FORM_TEXT && *value->note) {
			text_puts(text, " ");
			text_escape(text, value->note, strlen(value->note));
		}
	}
}

/* Write the meaning of a value, for data. */
static void put_meaning(struct item_texts *texts, struct item_shown *shown)
{
	const struct value_out *value = &shown->value;
	if (texts->is_key && item_is_struct(shown) && !*value->note) {
		texts->shown.size = 0;
		put_struct(texts, shown->type, value->address);
		shown->text = cell_text(texts->shown.bytes, texts->shown.size);
		return;
	}
	if (value->form != FORM_REFERENCE) {
		shown->text = cell_string(*value->note ? value->note : NULL);
		return;
	}
	texts->text.size = 0;
	if (value->address && shown->type && shown->type->is_string &&
	    string_value(texts->call->heap, value->address, FULL_UNITS, &texts->text, NULL)) {
		shown->text =
			cell_text(texts->text.bytes ? texts->text.bytes : "", texts->text.size);
	}
}

void item_show(struct item_texts *texts, const struct item_value *item, struct item_shown *ret)
{
	struct call *call = texts->call;
	struct heap *heap = call->heap;
	struct object object;
	*ret = (struct item_shown){ .value = { .form = FORM_MISSING }, .type = item->type };
	if (!item->element_type)
		return;
	if (item->address) {
		value_read(heap, item->element_type, item->type, item->address, &ret->value);
	} else {
		ret->value = (struct value_out){ .form = FORM_REFERENCE,
						 .element_type = item->element_type,
						 .address = item->reference };
	}
	if (ret->value.form == FORM_REFERENCE && ret->value.address) {
		ret->type = object_read(heap, &texts->window, ret->value.address, &object)
				    ? object.type
				    : NULL;
	}
	if (ret->type) {
		size_t size;
		const char *name = type_name(heap->clr, ret->type, &size);
		ret->type_cell = cell_type(name, size, ret->type->method_table);
	}
	if (answer_is_text(&call->answer)) {
		put_value(texts, ret);
		ret->shown =
			cell_text(texts->shown.bytes ? texts->shown.bytes : "", texts->shown.size);
	} else {
		put_meaning(texts, ret);
	}
	call->out.text.failed |= texts->shown.failed || texts->text.failed;
}
