/* SPDX-License-Identifier: MIT */
#include "report/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_quoted(struct out *out, const char *bytes, size_t size)
{
	struct text *text = &out->text;
	text_append(text, "\"", 1);
	for (size_t i = 0; i < size;) {
		size_t run = 0;
		while (i + run < size && is_plain((unsigned char)bytes[i + run])) {
			run++;
		}
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
		} else if (utf8_is_control(bytes + i, length)) {
			text_escape(text, bytes + i, length);
		} else {
			text_append(text, bytes + i, length);
		}
		i += length ? length : 1;
	}
	text_append(text, "\"", 1);
}

static void put_key(struct json *json, const char *key)
{
	uint64_t level = (uint64_t)1 << json->depth;
	if (json->has_items & level)
		out_puts(json->out, ", ");
	json->has_items |= level;
	if (key) {
		put_quoted(json->out, key, strlen(key));
		out_puts(json->out, ": ");
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
	out_puts(json->out, "");
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
		/* Readers take -0 for a whole number, which has no sign then. */
		text_puts(&json->out->text, strcmp(buf, "-0") == 0 ? "-0.0" : buf);
	} else {
		json_string(json, key, buf);
	}
}

void json_address(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	struct text *text = &json->out->text;
	text_append(text, "\"0x", 3);
	text_hex(text, value, 1, false);
	text_append(text, "\"", 1);
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
