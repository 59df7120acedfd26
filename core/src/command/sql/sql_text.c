/* SPDX-License-Identifier: MIT */
/*
 * instr(), replace(), trim(), ltrim(), rtrim(), like() and glob() as SQLite has them (func.c of SQLite 3.40), but for their time:
 * SQLite's own take the product of the sizes of both texts, hours for two of 30 MB, and do not listen to Ctrl-C meanwhile.
 */
#include "command/sql/sql_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Comparisons of trim() between two questions whether to go on. */
#define TRIM_STEPS (1 << 20)
/* Comparisons of LIKE and GLOB at most, for which nobody asks whether to go on: about a second. */
#define MATCH_STEPS (UINT64_C(1) << 30)

struct bytes {
	const uint8_t *at;
	size_t size;
};

static struct bytes text_of(sqlite3_value *value)
{
	struct bytes ret = { .at = sqlite3_value_text(value) };
	ret.size = ret.at ? (size_t)sqlite3_value_bytes(value) : 0;
	return ret;
}

static struct bytes blob_of(sqlite3_value *value)
{
	struct bytes ret = { .at = sqlite3_value_blob(value) };
	ret.size = ret.at ? (size_t)sqlite3_value_bytes(value) : 0;
	return ret;
}

static bool is_null(int argc, sqlite3_value **argv)
{
	for (int i = 0; i < argc; i++) {
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return true;
	}
	return false;
}

static bool is_continued(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Find @p what, in a text where a character begins.  The library's memmem() takes a time that is linear in both sizes. */
static const uint8_t *find_bytes(struct bytes where, struct bytes what, bool is_text)
{
	if (what.size > where.size)
		return NULL;
	if (is_text && is_continued(what.at[0]))
		return memcmp(where.at, what.at, what.size) == 0 ? where.at : NULL;
	return memmem(where.at, where.size, what.at, what.size);
}

static void find_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	if (is_null(argc, argv))
		return;
	bool is_text = sqlite3_value_type(argv[0]) != SQLITE_BLOB ||
		       sqlite3_value_type(argv[1]) != SQLITE_BLOB;
	struct bytes where = is_text ? text_of(argv[0]) : blob_of(argv[0]);
	struct bytes what = is_text ? text_of(argv[1]) : blob_of(argv[1]);
	if (what.size == 0) {
		sqlite3_result_int(context, 1);
		return;
	}
	const uint8_t *found = find_bytes(where, what, is_text);
	if (!found) {
		sqlite3_result_int(context, 0);
		return;
	}
	sqlite3_int64 place = 1;
	for (const uint8_t *at = where.at + 1; at <= found; at++)
		place += !is_text || !is_continued(*at);
	sqlite3_result_int64(context, place);
}

/* The bytes of the text once it is replaced. */
static uint64_t replaced_size(struct bytes text, struct bytes what, struct bytes with)
{
	uint64_t size = text.size;
	const uint8_t *at = text.at;
	const uint8_t *end = text.at + text.size;
	while ((at = memmem(at, (size_t)(end - at), what.at, what.size))) {
		size = size - what.size + with.size;
		at += what.size;
	}
	return size;
}

static void write_replaced(uint8_t *ret, struct bytes text, struct bytes what, struct bytes with)
{
	const uint8_t *at = text.at;
	const uint8_t *end = text.at + text.size;
	const uint8_t *found;
	while ((found = memmem(at, (size_t)(end - at), what.at, what.size))) {
		ret = mempcpy(ret, at, (size_t)(found - at));
		if (with.size)
			ret = mempcpy(ret, with.at, with.size);
		at = found + what.size;
	}
	memcpy(ret, at, (size_t)(end - at));
}

static void replace_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct sql_text_user *user = sqlite3_user_data(context);
	if (is_null(2, argv))
		return;
	struct bytes text = text_of(argv[0]);
	struct bytes what = text_of(argv[1]);
	struct bytes with = text_of(argv[2]);
	if (what.at && what.at[0] == '\0') {
		sqlite3_result_value(context, argv[0]);
		return;
	}
	if (is_null(argc, argv))
		return;
	if (!text.at || !what.at || !with.at) {
		sqlite3_result_error_nomem(context);
		return;
	}
	uint64_t size = replaced_size(text, what, with);
	if (size > (uint64_t)user->text_max) {
		sqlite3_result_error_toobig(context);
		return;
	}
	uint8_t *copy = sqlite3_malloc64(size + 1);
	if (!copy) {
		sqlite3_result_error_nomem(context);
		return;
	}
	write_replaced(copy, text, what, with);
	copy[size] = '\0';
	sqlite3_result_text64(context, (char *)copy, size, sqlite3_free, SQLITE_UTF8);
}

/* One call of a function that trims. */
struct trimming {
	const struct sql_text_user *user;
	struct bytes text, set;
	bool is_left;
	uint32_t steps;
	bool has_ended; /* by Ctrl-C */
};

/* The size of the character that @p at begins with, and 0 where the set ends. */
static size_t character_size(struct bytes set, size_t at)
{
	if (at >= set.size || set.at[at] == '\0')
		return 0;
	size_t size = 1;
	while (set.at[at] >= 0xc0 && at + size < set.size && is_continued(set.at[at + size]))
		size++;
	return size;
}

/* How many bytes of a character of the set the text begins or ends with, 0: none. */
static size_t trimmed_size(struct trimming *trimming)
{
	struct bytes text = trimming->text;
	size_t size;
	for (size_t at = 0; (size = character_size(trimming->set, at)); at += size) {
		if (++trimming->steps % TRIM_STEPS == 0 &&
		    trimming->user->stops(trimming->user->arg)) {
			trimming->has_ended = true;
			return 0;
		}
		if (size > text.size)
			continue;
		const uint8_t *place = trimming->is_left ? text.at : text.at + text.size - size;
		if (memcmp(place, trimming->set.at + at, size) == 0)
			return size;
	}
	return 0;
}

static void trim_side(struct trimming *trimming, bool is_left)
{
	size_t size;
	trimming->is_left = is_left;
	while (trimming->text.size && (size = trimmed_size(trimming))) {
		trimming->text.size -= size;
		if (is_left)
			trimming->text.at += size;
	}
}

static void trim_text(sqlite3_context *context, int argc, sqlite3_value **argv, bool is_left,
		      bool is_right)
{
	static const uint8_t space[] = " ";
	if (is_null(argc, argv))
		return;
	struct trimming trimming = {
		.user = sqlite3_user_data(context),
		.text = text_of(argv[0]),
		.set = argc == 2 ? text_of(argv[1]) : (struct bytes){ space, 1 },
	};
	if (!trimming.text.at || !trimming.set.at) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (is_left)
		trim_side(&trimming, true);
	if (is_right)
		trim_side(&trimming, false);
	if (trimming.has_ended) {
		sqlite3_result_error_code(context, SQLITE_INTERRUPT);
		return;
	}
	sqlite3_result_text64(context, (const char *)trimming.text.at, trimming.text.size,
			      SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void trim_both(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	trim_text(context, argc, argv, true, true);
}

static void trim_left(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	trim_text(context, argc, argv, true, false);
}

static void trim_right(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	trim_text(context, argc, argv, false, true);
}

/* Are the pattern and the text of LIKE or GLOB such that they can be compared?  If not, @p context has the answer. */
static bool can_match(sqlite3_context *context, sqlite3_value **argv, const char *name)
{
	if (is_null(2, argv))
		return false;
	struct bytes pattern = text_of(argv[0]);
	struct bytes text = text_of(argv[1]);
	if (!pattern.at || !text.at) {
		sqlite3_result_error_nomem(context);
		return false;
	}
	if ((uint64_t)pattern.size * text.size <= MATCH_STEPS)
		return true;
	char *message = sqlite3_mprintf(
		"%s takes too long for a text of %llu bytes and a pattern of %llu: "
		"use a shorter pattern, or instr()",
		name, (unsigned long long)text.size, (unsigned long long)pattern.size);
	if (message) {
		sqlite3_result_error(context, message, -1);
	} else {
		sqlite3_result_error_nomem(context);
	}
	sqlite3_free(message);
	return false;
}

/* Builds of SQLite differ in whether LIKE and GLOB take a blob for a text. */
static bool is_blob_that_matches_nothing(sqlite3_context *context, sqlite3_value **argv)
{
	bool is_blob = sqlite3_value_type(argv[0]) == SQLITE_BLOB ||
		       sqlite3_value_type(argv[1]) == SQLITE_BLOB;
	if (!is_blob || !sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS"))
		return false;
	sqlite3_result_int(context, 0);
	return true;
}

/* The character that ESCAPE names; 0 with an error in @p context: it is not one, or a wildcard. */
static unsigned int escape_of(sqlite3_context *context, sqlite3_value *value)
{
	struct bytes bytes = text_of(value);
	size_t size = character_size(bytes, 0);
	if (size == 0 || size < bytes.size) {
		sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
		return 0;
	}
	if (bytes.at[0] == '%' || bytes.at[0] == '_') {
		sqlite3_result_error(context, "ESCAPE takes no wildcard", -1);
		return 0;
	}
	unsigned int character = bytes.at[0];
	if (size > 1)
		character &= 0x7fU >> size;
	for (size_t i = 1; i < size; i++)
		character = character << 6 | (bytes.at[i] & 0x3fU);
	return character;
}

static void match_like(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	unsigned int escape = 0;
	if (is_blob_that_matches_nothing(context, argv))
		return;
	if (argc == 3) {
		escape = is_null(1, argv + 2) ? 0 : escape_of(context, argv[2]);
		if (!escape)
			return;
	}
	if (!can_match(context, argv, "LIKE"))
		return;
	int differs = sqlite3_strlike((const char *)sqlite3_value_text(argv[0]),
				      (const char *)sqlite3_value_text(argv[1]), escape);
	sqlite3_result_int(context, !differs);
}

static void match_glob(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	if (is_blob_that_matches_nothing(context, argv) || !can_match(context, argv, "GLOB"))
		return;
	int differs = sqlite3_strglob((const char *)sqlite3_value_text(argv[0]),
				      (const char *)sqlite3_value_text(argv[1]));
	sqlite3_result_int(context, !differs);
}

static const struct {
	const char *name;
	int arguments;
	void (*call)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
	{ "instr", 2, find_text },  { "replace", 3, replace_text }, { "trim", 1, trim_both },
	{ "trim", 2, trim_both },   { "ltrim", 1, trim_left },      { "ltrim", 2, trim_left },
	{ "like", 2, match_like },  { "like", 3, match_like },      { "glob", 2, match_glob },
	{ "rtrim", 1, trim_right }, { "rtrim", 2, trim_right },
};

int sql_text_add(sqlite3 *handle, struct sql_text_user *user)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		int result = sqlite3_create_function_v2(
			handle, functions[i].name, functions[i].arguments,
			SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, user,
			functions[i].call, NULL, NULL, NULL);
		if (result != SQLITE_OK)
			return result;
	}
	return SQLITE_OK;
}
