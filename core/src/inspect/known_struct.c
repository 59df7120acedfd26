/* SPDX-License-Identifier: MIT */
#include "inspect/known_struct.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "framework/facts.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "metadata/attribute.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/field.h"
#include "util/text.h"

/** A struct that is an array: its one field stands for the first of several elements, side by side. */
struct inline_array {
	uint32_t length;         /**< elements, at least 1 */
	uint32_t element_size;   /**< bytes */
	uint8_t element_type;    /**< enum element_type of the storage */
	const struct type *type; /**< of an element; NULL: not loaded, or not known */
};

/* The prolog of an attribute's value (ECMA-335 II.23.3), before its one argument. */
#define ATTRIBUTE_PROLOG 0x0001u

/* The argument of the attribute; 0: there is none. */
static uint32_t length_of(struct runtime *runtime, const struct type *type)
{
	const struct module *module = module_find(runtime, type_home_module(runtime, type));
	uint32_t size = 0;
	if (!module || !module->metadata)
		return 0;
	const uint8_t *value = metadata_type_attribute(module->metadata, type->token & 0xffffff,
						       net_type_name(NET_INLINE_ARRAY), &size);
	if (!value || size < 6 || load_u16(value) != ATTRIBUTE_PROLOG)
		return 0;
	return load_u32(value + 2);
}

static const struct field *only_instance_field(const struct field_list *list)
{
	const struct field *only = NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (list->rows[i].is_static)
			continue;
		if (only)
			return NULL;
		only = &list->rows[i];
	}
	return only;
}

/* Is @p type a struct with the attribute [InlineArray], of primitives, enums or references, whose length is known? */
static bool inline_array_read(struct runtime *runtime, const struct type *type,
			      struct inline_array *ret)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (type->category != CATEGORY_VALUE)
		return false;
	uint32_t length = length_of(runtime, type);
	if (!length || field_list_read(runtime, type, &list, NULL) != HD_OK)
		return false;
	const struct field *field = only_instance_field(&list);
	if (!field || field->offset != 0)
		return false;
	uint8_t stored = field->element_type;
	if (stored == ELEMENT_VALUE && field->type)
		stored = type_storage(runtime, field->type);
	unsigned int size = element_size(stored);
	/* An attribute that lies: elements do not go beyond the struct. */
	if (!size || length > type_box_content(type) / size)
		return false;
	*ret = (struct inline_array){
		.length = length, .element_size = size, .element_type = stored, .type = field->type
	};
	return true;
}

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

/* Bytes of the longest text of long_integer(). */
#define INTEGER_SIZE 48

/* An integer as decimal text at the end of @p text, with a point before its last @p scale digits; @p parts: the
 * highest first, 0 afterwards. */
static const char *long_integer(uint32_t *parts, size_t count, unsigned int scale,
				char text[INTEGER_SIZE])
{
	size_t at = INTEGER_SIZE - 1, digits = 0;
	bool is_left = true;
	text[at] = '\0';
	while (is_left || digits <= scale) {
		uint64_t rest = 0;
		is_left = false;
		for (size_t i = 0; i < count; i++) {
			uint64_t value = rest << 32 | parts[i];
			parts[i] = (uint32_t)(value / 10);
			rest = value % 10;
			is_left = is_left || parts[i];
		}
		if (digits == scale && scale)
			text[--at] = '.';
		text[--at] = (char)('0' + rest);
		digits++;
	}
	return text + at;
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
	char text[INTEGER_SIZE];
	(void)snprintf(buf, size, "%s%s", flags.bits >> 31 & 1 ? "-" : "",
		       long_integer(parts, 3, scale, text));
}

/* 128 bits, the lower half first. */
static bool read_128(const struct known *known, enum fact high_fact, enum fact low_fact,
		     uint64_t *ret_high, uint64_t *ret_low)
{
	struct value_out high, low;
	if (!number_field(known, high_fact, &high) || !number_field(known, low_fact, &low))
		return false;
	*ret_high = high.bits;
	*ret_low = low.bits;
	return true;
}

static void show_128(uint64_t high, uint64_t low, bool is_negative, char *buf, size_t size)
{
	uint32_t parts[4] = { (uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32),
			      (uint32_t)low };
	char text[INTEGER_SIZE];
	(void)snprintf(buf, size, "%s%s", is_negative ? "-" : "", long_integer(parts, 4, 0, text));
}

static void int_128(const struct known *known, char *buf, size_t size)
{
	uint64_t high, low;
	if (!read_128(known, FACT_INT128_HIGH, FACT_INT128_LOW, &high, &low))
		return;
	bool is_negative = high >> 63;
	if (is_negative) {
		low = 0 - low;
		high = ~high + (low == 0);
	}
	show_128(high, low, is_negative, buf, size);
}

static void uint_128(const struct known *known, char *buf, size_t size)
{
	uint64_t high, low;
	if (read_128(known, FACT_UINT128_HIGH, FACT_UINT128_LOW, &high, &low))
		show_128(high, low, false, buf, size);
}

/* The number of 16 bits: 1 of sign, 5 of exponent, 10 of fraction (IEEE 754 binary16). */
static double half_number(uint16_t bits)
{
	unsigned int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value = exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
	return bits >> 15 ? -value : value;
}

/* The shortest text that is nearest to this number, as .NET writes it. */
static void half(const struct known *known, char *buf, size_t size)
{
	struct value_out value;
	if (!number_field(known, FACT_HALF_VALUE, &value))
		return;
	uint16_t bits = (uint16_t)value.bits, magnitude = bits & 0x7fff;
	if (magnitude >= 0x7c00) {
		(void)snprintf(buf, size, "%s",
			       magnitude > 0x7c00 ? "NaN"
			       : bits >> 15       ? "-Infinity"
						  : "Infinity");
		return;
	}
	double number = half_number(magnitude);
	double below = magnitude ? (number + half_number((uint16_t)(magnitude - 1))) / 2 : 0;
	double above = (number + half_number((uint16_t)(magnitude + 1))) / 2;
	for (int digits = 1; digits <= 5; digits++) {
		char text[32], *end = NULL;
		(void)snprintf(text, sizeof(text), "%.*g", digits, number);
		double read = strtod(text, &end);
		if ((read > below && read < above) || read == number) {
			(void)format_real(bits >> 15 ? -read : read, false, buf, size);
			return;
		}
	}
}

static void date_only(const struct known *known, char *buf, size_t size)
{
	struct value_out days;
	unsigned int year, month, day;
	if (!number_field(known, FACT_DATE_ONLY_DAYS, &days) ||
	    days.bits >= TICKS_END / TICKS_PER_DAY)
		return;
	civil_date(days.bits, &year, &month, &day);
	(void)snprintf(buf, size, "%04u-%02u-%02u", year, month, day);
}

static void time_only(const struct known *known, char *buf, size_t size)
{
	struct value_out ticks;
	if (!number_field(known, FACT_TIME_ONLY_TICKS, &ticks) || ticks.bits >= TICKS_PER_DAY)
		return;
	unsigned int seconds = (unsigned int)(ticks.bits / TICKS_PER_SECOND);
	(void)snprintf(buf, size, "%02u:%02u:%02u.%07u", seconds / 3600, seconds / 60 % 60,
		       seconds % 60, (unsigned int)(ticks.bits % TICKS_PER_SECOND));
}

static void rune(const struct known *known, char *buf, size_t size)
{
	struct value_out value;
	if (number_field(known, FACT_RUNE_VALUE, &value) && value.bits <= 0x10ffff)
		(void)snprintf(buf, size, "U+%04X", (unsigned int)value.bits);
}

/* An Index counts from the end where it is negative: ^1 is -2. */
static void index_text(uint32_t bits, char *buf, size_t size)
{
	bool is_from_end = bits >> 31;
	(void)snprintf(buf, size, "%s%" PRIu32, is_from_end ? "^" : "", is_from_end ? ~bits : bits);
}

static void index_value(const struct known *known, char *buf, size_t size)
{
	struct value_out value;
	if (number_field(known, FACT_INDEX_VALUE, &value))
		index_text((uint32_t)value.bits, buf, size);
}

/* Two structs Index with one number each. */
static void range(const struct known *known, char *buf, size_t size)
{
	const struct field *start = field_by_name(known->fields, fact_row(FACT_RANGE_START)->path);
	const struct field *end = field_by_name(known->fields, fact_row(FACT_RANGE_END)->path);
	struct memory *memory = known->heap->memory;
	uint32_t first, last;
	char from[16], to[16];
	if (!start || !end || !memory_u32(memory, known->address + start->offset, &first) ||
	    !memory_u32(memory, known->address + end->offset, &last))
		return;
	index_text(first, from, sizeof(from));
	index_text(last, to, sizeof(to));
	(void)snprintf(buf, size, "%s..%s", from, to);
}

static const struct {
	enum net_type type;
	void (*show)(const struct known *known, char *buf, size_t size);
} meanings[] = {
	{ NET_DATE_TIME, date_time }, { NET_DATE_TIME_OFFSET, date_time_offset },
	{ NET_TIME_SPAN, time_span }, { NET_GUID, guid },
	{ NET_DECIMAL, decimal },     { NET_DATE_ONLY, date_only },
	{ NET_TIME_ONLY, time_only }, { NET_HALF, half },
	{ NET_INT128, int_128 },      { NET_UINT128, uint_128 },
	{ NET_RUNE, rune },           { NET_INDEX, index_value },
	{ NET_RANGE, range },
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

/* The elements of an inline array, as many as there is room for: "[1, 2, ...]". */
static void show_inline_array(struct heap *heap, const struct inline_array *array, uint64_t address,
			      char *buf, size_t size)
{
	size_t used = 0;
	struct value_out value;
	for (uint32_t i = 0; i < array->length; i++) {
		char element[sizeof(value.note) + 2];
		value_read_plain(heap, array->element_type, array->type,
				 address + (uint64_t)i * array->element_size, &value);
		if (value.form != FORM_TEXT)
			return;
		(void)snprintf(element, sizeof(element), "%s%s", i ? ", " : "[",
			       *value.note ? value.note : value.text);
		/* The longest text that may come after it is ", ...]". */
		if (used + strlen(element) + sizeof(", ...]") > size) {
			(void)snprintf(buf + used, size - used, ", ...]");
			return;
		}
		used += (size_t)snprintf(buf + used, size - used, "%s", element);
	}
	(void)snprintf(buf + used, size - used, "]");
}

void known_struct_text(struct heap *heap, const struct type *type, uint64_t address, char *buf,
		       size_t size)
{
	struct inline_array array;
	buf[0] = '\0';
	if (type->category == CATEGORY_NULLABLE) {
		show_nullable(heap, type, address, buf, size);
	} else if (inline_array_read(heap->runtime, type, &array)) {
		show_inline_array(heap, &array, address, buf, size);
		if (buf[0] && buf[strlen(buf) - 1] != ']')
			buf[0] = '\0';
	} else if (type->category == CATEGORY_VALUE) {
		show_type(heap, type, address, buf, size);
	}
}
