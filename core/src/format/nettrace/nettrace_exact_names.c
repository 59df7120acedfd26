/* SPDX-License-Identifier: MIT */
/* Texts in the .gcdump's own form, and tables of names. */
#include "format/nettrace/nettrace_exact_names.h"

#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"

/* Limit for all names together: short events could repeat a long name without end. */
#define TEXT_SIZE_MAX ((uint64_t)2 << 30)

void exact_append(struct exact_names *names, const struct nt_utf16 *utf16)
{
	for (uint32_t i = 0; i < utf16->units; i++) {
		uint16_t unit = nt_unit(utf16, i);
		char buf[3];
		size_t size = 1;
		if (unit < 0x80) {
			buf[0] = (char)unit;
		} else if (unit < 0x800) {
			buf[0] = (char)(0xc0 | unit >> 6);
			buf[1] = (char)(0x80 | (unit & 0x3f));
			size = 2;
		} else {
			buf[0] = (char)(0xe0 | unit >> 12);
			buf[1] = (char)(0x80 | (unit >> 6 & 0x3f));
			buf[2] = (char)(0x80 | (unit & 0x3f));
			size = 3;
		}
		text_append(&names->text, buf, size);
	}
}

enum hd_status exact_copy_text(struct exact_names *names, struct gcdump_text *ret)
{
	size_t size = names->text.size;
	names->text_size += size;
	if (names->text_size > TEXT_SIZE_MAX)
		return fail(names->err, HD_ERR_UNSUPPORTED, 0, "names of over 2 GiB");
	char *copy = names->text.failed ? NULL : arena_alloc(names->arena, size + 1);
	TRY_MEMORY(copy, names->err);
	if (size)
		memcpy(copy, names->text.bytes, size);
	uint32_t units = 0;
	for (size_t i = 0; i < size; i++)
		units += !utf8_continues(copy[i]);
	*ret = (struct gcdump_text){ .bytes = (const uint8_t *)copy,
				     .size = (uint32_t)size,
				     .units = units };
	return HD_OK;
}

enum hd_status exact_value(struct exact_names *names, enum exact_name kind, uint32_t prefix,
			   const struct gcdump_text *module, uint32_t **ret)
{
	struct text *key = &names->key;
	char head[5] = { (char)kind };
	memcpy(head + 1, &prefix, sizeof(prefix));
	key->size = 0;
	text_append(key, head, sizeof(head));
	if (module && module->bytes) {
		text_append(key, (const char *)module->bytes, module->size);
		text_append(key, "!", 1);
	}
	text_append(key, names->text.bytes, names->text.size);
	if (names->text.failed || key->failed)
		return fail_nomem(names->err);
	uint32_t number;
	TRY_MEMORY(PAGES_RESERVE(names, values), names->err);
	TRY(string_table_add(&names->numbers, key->bytes, key->size, &number, names->err));
	if (number == names->values_count)
		names->values[names->values_count++] = HD_NONE;
	*ret = &names->values[number];
	return HD_OK;
}

void exact_append_copy(struct exact_names *names, const struct gcdump_text *copy)
{
	text_append(&names->text, (const char *)copy->bytes, copy->size);
}

void exact_set_text(struct exact_names *names, const char *string)
{
	names->text.size = 0;
	text_puts(&names->text, string);
}

void exact_names_deinit(struct exact_names *names)
{
	string_table_deinit(&names->numbers);
	pages_free(names->values, names->values_capacity, sizeof(*names->values));
	arena_destroy(names->arena);
	text_deinit(&names->text);
	text_deinit(&names->key);
}
