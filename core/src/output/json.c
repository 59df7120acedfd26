/* SPDX-License-Identifier: MIT */
#include "output/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_quoted(struct out *out, const char *bytes, size_t size)
{
	struct text *text = &out->text;
	size_t run = quotable_run(bytes, size);
	char *whole = run == size ? text_extend(text, size + 2) : NULL;
	if (whole) {
		whole[0] = whole[size + 1] = '"';
		memcpy(whole + 1, bytes, size);
		return;
	}
	text_append(text, "\"", 1);
	for (size_t i = 0; i < size;) {
		run = quotable_run(bytes + i, size - i);
		text_append(text, bytes + i, run);
		i += run;
		if (i == size) {
			break;
		}
		unsigned char c = (unsigned char)bytes[i];
		size_t length = utf8_length(bytes + i, size - i);
		if (!length) {
			text_append(text, "\xef\xbf\xbd", 3);
		} else if (c == '"' || c == '\\') {
			text_printf(text, "\\%c", c);
		} else if (utf8_is_invisible(bytes + i, length)) {
			char escape[ESCAPED_JSON_SIZE];
			escape_write_json(bytes + i, length, escape);
			text_puts(text, escape);
		} else {
			text_append(text, bytes + i, length);
		}
		i += length ? length : 1;
	}
	text_append(text, "\"", 1);
}

/* Longer keys are copied in two pieces. */
#define SHORT_KEY 32u
static const char key_begin[] = { ',', ' ', '"' }, key_end[] = { '"', ':', ' ' };

/* Keys are names in the code: nothing in them is escaped. */
static void put_key(struct json *json, const char *key)
{
	uint64_t level = (uint64_t)1 << json->depth;
	bool has_items = json->has_items & level;
	struct text *text = &json->out->text;
	json->has_items |= level;
	if (!key) {
		text_append(text, ", ", has_items ? 2 : 0);
		return;
	}
	size_t lead = has_items ? sizeof(key_begin) : 1, size = 0;
	char *room = text_extend(text, lead + SHORT_KEY + sizeof(key_end));
	if (!room)
		return;
	memcpy(room, key_begin + sizeof(key_begin) - lead, lead);
	room += lead;
	/* Most have a handful of characters: faster than to ask for their length. */
	for (; size < SHORT_KEY && key[size]; size++)
		room[size] = key[size];
	memcpy(room + size, key_end, sizeof(key_end));
	text->size -= SHORT_KEY - size;
	text->bytes[text->size] = '\0';
	if (size == SHORT_KEY && key[size]) {
		text->size -= sizeof(key_end);
		text_puts(text, key + size);
		text_append(text, key_end, sizeof(key_end));
	}
}

static void open_level(struct json *json, const char *key, bool array)
{
	put_key(json, key);
	out_puts(json->out, array ? "[" : "{");
	json->depth++;
	uint64_t level = (uint64_t)1 << json->depth;
	json->has_items &= ~level;
	json->is_array = array ? json->is_array | level : json->is_array & ~level;
}

void json_object(struct json *json, const char *key)
{
	open_level(json, key, false);
}

void json_array(struct json *json, const char *key)
{
	open_level(json, key, true);
}

void json_end(struct json *json)
{
	bool array = json->is_array >> json->depth & 1;
	json->depth--;
	out_puts(json->out, array ? "]" : "}");
	if (!json->depth) {
		json->has_items = 0;
		out_puts(json->out, "\n");
	}
}

void json_end_to(struct json *json, unsigned int depth)
{
	while (json->depth > depth)
		json_end(json);
}

void json_text(struct json *json, const char *key, const char *bytes, size_t size)
{
	if (!bytes) {
		json_null(json, key);
		return;
	}
	put_key(json, key);
	put_quoted(json->out, bytes, size);
	out_flush_if_full(json->out);
}

void json_string(struct json *json, const char *key, const char *string)
{
	json_text(json, key, string, string ? strlen(string) : 0);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	text_number(&json->out->text, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	if (value >= 0) {
		json_number(json, key, (uint64_t)value);
		return;
	}
	put_key(json, key);
	text_printf(&json->out->text, "%" PRId64, value);
}

void json_real(struct json *json, const char *key, double value, bool is_single)
{
	char buf[32];
	(void)format_real(value, is_single, buf, sizeof(buf));
	if (isfinite(value)) {
		put_key(json, key);
		/* Readers take -0 for a whole number, and then lose its sign. */
		text_puts(&json->out->text, strcmp(buf, "-0") == 0 ? "-0.0" : buf);
	} else {
		json_string(json, key, buf);
	}
}

void json_address(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	unsigned int digits = value ? (67u - (unsigned int)__builtin_clzll(value)) / 4 : 1;
	char *room = text_extend(&json->out->text, digits + 4);
	if (!room)
		return;
	static const char begin[] = { '"', '0', 'x' };
	memcpy(room, begin, sizeof(begin));
	room[3 + digits] = '"';
	for (unsigned int i = digits; i; i--, value >>= 4)
		room[2 + i] = "0123456789abcdef"[value & 15];
}

void json_bool(struct json *json, const char *key, bool value)
{
	put_key(json, key);
	out_puts(json->out, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	put_key(json, key);
	out_puts(json->out, "null");
}
