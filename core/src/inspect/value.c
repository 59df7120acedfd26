/* SPDX-License-Identifier: MIT */
#include "inspect/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "framework/facts.h"
#include "inspect/utf16.h"

/* Like value_read(), but without looking for the meaning of a struct. */
static void value_read_plain(struct heap *heap, uint8_t element_type, const struct type *type,
			     uint64_t address, struct value_out *ret);

#define TICKS_PER_SECOND 10000000u
#define TICKS_PER_DAY    (86400ull * TICKS_PER_SECOND)
#define TICKS_MASK       (((uint64_t)1 << 62) - 1)    /* DateTime: the kind is above */
#define TICKS_END        (3652059ull * TICKS_PER_DAY) /* the year 10000 */

/* A struct and its fields. */
struct known {
	struct heap *heap;
	const struct field_list *fields;
	uint64_t address;
};

/* Raw value of a primitive field; false when there is no such field, or its bytes are missing. */
static bool number_field(const struct known *known, enum fact fact, struct value_out *ret)
{
	const struct field *field = field_by_name(known->fields, fact_row(fact)->path);
	if (!field)
		return false;
	value_read_plain(known->heap, field->element_type, NULL, known->address + field->offset,
			 ret);
	return ret->form == FORM_TEXT;
}

/* Year, month and day of a count of days since 1 January 0001 (Gregorian calendar). */
static void civil_date(uint64_t days, unsigned int *ret_year, unsigned int *ret_month,
		       unsigned int *ret_day)
{
	/* counted from 1 March 0000: leap days end their years */
	uint64_t shifted = days + 306, era = shifted / 146097, day = shifted % 146097;
	uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint64_t of_year = day - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153;
	*ret_day = (unsigned int)(of_year - (153 * month + 2) / 5 + 1);
	*ret_month = (unsigned int)(month < 10 ? month + 3 : month - 9);
	*ret_year = (unsigned int)(era * 400 + year + (month >= 10));
}

static void format_ticks(uint64_t ticks, const char *zone, char *buf, size_t size)
{
	if (ticks >= TICKS_END)
		return;
	unsigned int year, month, day;
	civil_date(ticks / TICKS_PER_DAY, &year, &month, &day);
	uint64_t rest = ticks % TICKS_PER_DAY;
	unsigned int seconds = (unsigned int)(rest / TICKS_PER_SECOND);
	(void)snprintf(buf, size, "%04u-%02u-%02uT%02u:%02u:%02u.%07u%s", year, month, day,
		       seconds / 3600, seconds / 60 % 60, seconds % 60,
		       (unsigned int)(rest % TICKS_PER_SECOND), zone);
}

static void date_time(const struct known *known, char *buf, size_t size)
{
	struct value_out data;
	if (number_field(known, FACT_DATE_TIME_DATA, &data))
		format_ticks(data.bits & TICKS_MASK, data.bits >> 62 == 1 ? "Z" : "", buf, size);
}

static void date_time_offset(const struct known *known, char *buf, size_t size)
{
	const struct field *field =
		field_by_name(known->fields, fact_row(FACT_DATE_OFFSET_TIME)->path);
	struct value_out minutes;
	uint64_t data;
	if (!field || !number_field(known, FACT_DATE_OFFSET_MINUTES, &minutes) ||
	    !memory_u64(known->heap->memory, known->address + field->offset, &data))
		return;
	int64_t offset = value_signed(&minutes);
	if (offset < -1440 || offset > 1440)
		return;
	unsigned int most = (unsigned int)(offset < 0 ? -offset : offset);
	char zone[16];
	(void)snprintf(zone, sizeof(zone), "%c%02u:%02u", offset < 0 ? '-' : '+', most / 60,
		       most % 60);
	format_ticks((data & TICKS_MASK) + (uint64_t)(offset * 60 * TICKS_PER_SECOND), zone, buf,
		     size);
}

/* As .NET's "c" format: [-][d.]hh:mm:ss[.fffffff] */
static void time_span(const struct known *known, char *buf, size_t size)
{
	struct value_out value;
	if (!number_field(known, FACT_TIME_SPAN_TICKS, &value))
		return;
	bool negative = value.bits >> 63;
	uint64_t ticks = negative ? 0 - value.bits : value.bits;
	uint64_t days = ticks / TICKS_PER_DAY, fraction = ticks % TICKS_PER_SECOND;
	unsigned int seconds = (unsigned int)(ticks % TICKS_PER_DAY / TICKS_PER_SECOND);
	char days_text[32] = "", fraction_text[16] = "";
	if (days)
		(void)snprintf(days_text, sizeof(days_text), "%" PRIu64 ".", days);
	if (fraction) {
		(void)snprintf(fraction_text, sizeof(fraction_text), ".%07u",
			       (unsigned int)fraction);
	}
	(void)snprintf(buf, size, "%s%s%02u:%02u:%02u%s", negative ? "-" : "", days_text,
		       seconds / 3600, seconds / 60 % 60, seconds % 60, fraction_text);
}

static void guid(const struct known *known, char *buf, size_t size)
{
	uint8_t b[16];
	if (!memory_read(known->heap->memory, known->address, b, sizeof(b)))
		return;
	(void)snprintf(buf, size, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", load_u32(b),
		       load_u16(b + 4), load_u16(b + 6), b[8], b[9], b[10], b[11], b[12], b[13],
		       b[14], b[15]);
}

/* decimal: an integer of 96 bits, and how many of its digits come after the point. */
static void decimal(const struct known *known, char *buf, size_t size)
{
	struct value_out flags, high, low;
	if (!number_field(known, FACT_DECIMAL_FLAGS, &flags) ||
	    !number_field(known, FACT_DECIMAL_HIGH, &high) ||
	    !number_field(known, FACT_DECIMAL_LOW, &low))
		return;
	unsigned int scale = (unsigned int)(flags.bits >> 16 & 0xff);
	if (scale > 28)
		return;
	uint32_t parts[3] = { (uint32_t)high.bits, (uint32_t)(low.bits >> 32), (uint32_t)low.bits };
	char text[40];
	size_t at = sizeof(text) - 1, digits = 0;
	text[at] = '\0';
	while (parts[0] || parts[1] || parts[2] || digits <= scale) {
		uint64_t rest = 0;
		for (unsigned int i = 0; i < 3; i++) {
			uint64_t value = rest << 32 | parts[i];
			parts[i] = (uint32_t)(value / 10);
			rest = value % 10;
		}
		if (digits == scale && scale)
			text[--at] = '.';
		text[--at] = (char)('0' + rest);
		digits++;
	}
	(void)snprintf(buf, size, "%s%s", flags.bits >> 31 & 1 ? "-" : "", text + at);
}

static const struct {
	enum net_type type;
	void (*show)(const struct known *known, char *buf, size_t size);
} meanings[] = {
	{ NET_DATE_TIME, date_time }, { NET_DATE_TIME_OFFSET, date_time_offset },
	{ NET_TIME_SPAN, time_span }, { NET_GUID, guid },
	{ NET_DECIMAL, decimal },
};

/* The text of a type that is not a Nullable. */
static void show_type(struct heap *heap, const struct type *type, uint64_t address, char *buf,
		      size_t size)
{
	const char *name = type_name(heap->runtime, type, NULL);
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		struct field_list fields;
		if (strcmp(name, net_type_name(meanings[i].type)) != 0 ||
		    field_list_read(heap->runtime, type, &fields, NULL) != HD_OK)
			continue;
		struct known known = { heap, &fields, address };
		meanings[i].show(&known, buf, size);
		field_list_deinit(&fields);
		return;
	}
}

static void show_nullable(struct heap *heap, const struct type *type, uint64_t address, char *buf,
			  size_t size)
{
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	if (field_list_read(heap->runtime, type, &fields, NULL) != HD_OK)
		return;
	struct known known = { heap, &fields, address };
	const struct field *field = field_by_name(&fields, fact_row(FACT_NULLABLE_VALUE)->path);
	struct value_out has_value, value;
	if (field && number_field(&known, FACT_NULLABLE_HAS_VALUE, &has_value)) {
		uint64_t at = address + field->offset;
		value_read_plain(heap, field->element_type, field->type, at, &value);
		if (!has_value.bits) {
			(void)snprintf(buf, size, "null");
		} else if (value.form == FORM_TEXT) {
			(void)snprintf(buf, size, "%s", *value.note ? value.note : value.text);
		} else if (value.form == FORM_STRUCT && field->type) {
			show_type(heap, field->type, at, buf, size);
		}
	}
}

/*
 * Write the meaning of a struct of the framework: DateTime ("O" format), TimeSpan, DateTimeOffset,
 * Guid, Decimal, and Nullable of these and of primitives; "" for other types, and when bytes are
 * missing.
 */
static void known_text(struct heap *heap, const struct type *type, uint64_t address, char *buf,
		       size_t size)
{
	buf[0] = '\0';
	if (type->category == CATEGORY_NULLABLE) {
		show_nullable(heap, type, address, buf, size);
	} else if (type->category == CATEGORY_VALUE) {
		show_type(heap, type, address, buf, size);
	}
}

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

static void value_read_plain(struct heap *heap, uint8_t element_type, const struct type *type,
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
		known_text(heap, type, address, ret->note, sizeof(ret->note));
}
