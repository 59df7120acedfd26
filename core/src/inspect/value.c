/* SPDX-License-Identifier: MIT */
#include "inspect/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "inspect/known_struct.h"
#include "inspect/utf16.h"

int64_t value_signed(const struct value_out *value)
{
	switch (value->element_type) {
	case ELEMENT_I1:
		return (int8_t)value->bits;
	case ELEMENT_I2:
		return (int16_t)value->bits;
	case ELEMENT_I4:
		return (int32_t)value->bits;
	default:
		return (int64_t)value->bits;
	}
}

/* A UTF-16 unit between quotes; controls are escaped. */
static void note_char(uint16_t unit, char *buf, size_t size)
{
	uint8_t bytes[2] = { (uint8_t)unit, (uint8_t)(unit >> 8) };
	HD_CLEANUP(text) struct text raw = { 0 }, shown = { 0 };
	struct utf16 utf16 = { .text = &raw };
	utf16_append(&utf16, bytes, 1);
	utf16_end(&utf16);
	if (raw.bytes)
		text_escape(&shown, raw.bytes, raw.size);
	if (shown.bytes && (unit & 0xf800) != 0xd800) {
		(void)snprintf(buf, size, "'%s'", shown.bytes);
	} else {
		(void)snprintf(buf, size, "'\\u%04x'", unit);
	}
}

static void format_primitive(struct value_out *value)
{
	const uint64_t bits = value->bits;
	const size_t size = sizeof(value->text);
	float single;
	double real;
	uint32_t low = (uint32_t)bits;
	switch (value->element_type) {
	case ELEMENT_BOOLEAN:
		(void)snprintf(value->text, size, "%" PRIu64, bits);
		(void)snprintf(value->note, sizeof(value->note), "%s", bits ? "true" : "false");
		break;
	case ELEMENT_CHAR:
		(void)snprintf(value->text, size, "%" PRIx64, bits);
		note_char((uint16_t)bits, value->note, sizeof(value->note));
		break;
	case ELEMENT_I1:
	case ELEMENT_I2:
	case ELEMENT_I4:
	case ELEMENT_I8:
		(void)snprintf(value->text, size, "%" PRId64, value_signed(value));
		break;
	case ELEMENT_R4:
		memcpy(&single, &low, sizeof(single));
		(void)format_real((double)single, true, value->text, size);
		break;
	case ELEMENT_R8:
		memcpy(&real, &bits, sizeof(real));
		(void)format_real(real, false, value->text, size);
		break;
	case ELEMENT_U1:
	case ELEMENT_U2:
	case ELEMENT_U4:
	case ELEMENT_U8:
		(void)snprintf(value->text, size, "%" PRIu64, bits);
		break;
	default: /* pointers and native integers */
		(void)snprintf(value->text, size, "%016" PRIx64, bits);
		break;
	}
}

/* The element type of what is stored: that of the number in an enum. */
static uint8_t stored_element(struct runtime *runtime, uint8_t element_type,
			      const struct type *type)
{
	return element_type == ELEMENT_VALUE && type && type_is_enum(runtime, type)
		       ? type_storage(runtime, type)
		       : element_type;
}

/* A primitive: its text and what it means. */
static void set_primitive(struct runtime *runtime, const struct type *type, struct value_out *value)
{
	value->form = FORM_TEXT;
	format_primitive(value);
	if (type && type_is_enum(runtime, type) &&
	    !enum_name(runtime, type, value->bits, value->note, sizeof(value->note)))
		value->note[0] = '\0';
}

void value_read_plain(struct heap *heap, uint8_t element_type, const struct type *type,
		      uint64_t address, struct value_out *ret)
{
	*ret = (struct value_out){ .form = FORM_MISSING };
	element_type = stored_element(heap->runtime, element_type, type);
	ret->element_type = element_type;
	if (element_is_reference(element_type)) {
		if (memory_u64(heap->memory, address, &ret->address))
			ret->form = FORM_REFERENCE;
		return;
	}
	if (element_type == ELEMENT_VALUE || element_type == ELEMENT_TYPED_BYREF) {
		ret->form = FORM_STRUCT;
		ret->address = address;
		return;
	}
	unsigned int size = element_size(element_type);
	if (!size || size > sizeof(ret->bits) ||
	    !memory_read(heap->memory, address, &ret->bits, size))
		return;
	set_primitive(heap->runtime, type, ret);
}

void value_of_word(struct heap *heap, uint8_t element_type, const struct type *type, uint64_t word,
		   struct value_out *ret)
{
	*ret = (struct value_out){ .form = FORM_MISSING, .bits = word };
	element_type = stored_element(heap->runtime, element_type, type);
	ret->element_type = element_type;
	if (element_is_reference(element_type)) {
		ret->form = FORM_REFERENCE;
		ret->address = word;
		return;
	}
	unsigned int size = element_size(element_type);
	if (!size || size > sizeof(ret->bits))
		return;
	if (size < sizeof(ret->bits))
		ret->bits &= ((uint64_t)1 << 8 * size) - 1;
	set_primitive(heap->runtime, type, ret);
}

void value_read(struct heap *heap, uint8_t element_type, const struct type *type, uint64_t address,
		struct value_out *ret)
{
	value_read_plain(heap, element_type, type, address, ret);
	if (ret->form == FORM_STRUCT && type)
		known_struct_text(heap, type, address, ret->note, sizeof(ret->note));
}
