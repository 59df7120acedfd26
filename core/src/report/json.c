/* SPDX-License-Identifier: MIT */
#include "report/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Bytes at the beginning that stand in quotes as they are. */
static size_t plain_run(const char *bytes, size_t size)
{
	size_t run = printable_run(bytes, size);
	const char *quote = memchr(bytes, '"', run);
	run = quote ? (size_t)(quote - bytes) : run;
	const char *backslash = memchr(bytes, '\\', run);
	return backslash ? (size_t)(backslash - bytes) : run;
}

static void put_quoted(struct out *out, const char *bytes, size_t size)
{
	struct text *text = &out->text;
	size_t run = plain_run(bytes, size);
	char *whole = run == size ? text_extend(text, size + 2) : NULL;
	if (whole) {
		whole[0] = whole[size + 1] = '"';
		memcpy(whole + 1, bytes, size);
		return;
	}
	text_append(text, "\"", 1);
	for (size_t i = 0; i < size;) {
		run = plain_run(bytes + i, size - i);
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
	bool has_items = json->has_items & level;
	struct text *text = &json->out->text;
	json->has_items |= level;
	if (!key) {
		text_append(text, ", ", has_items ? 2 : 0);
		return;
	}
	/* Keys are names in the code: nothing in them is escaped. */
	text_append(text, has_items ? ", \"" : "\"", has_items ? 3 : 1);
	text_puts(text, key);
	text_append(text, "\": ", 3);
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
	char buf[20];
	size_t at = sizeof(buf);
	buf[--at] = '"';
	do {
		buf[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	buf[--at] = 'x';
	buf[--at] = '0';
	buf[--at] = '"';
	text_append(&json->out->text, buf + at, sizeof(buf) - at);
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
