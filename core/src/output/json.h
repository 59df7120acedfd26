/* SPDX-License-Identifier: MIT */
#pragma once

#include "output/out.h"

#define JSON_DEPTH_MAX 64u

/**
 * Writes one JSON document piece by piece.  In an object, every function takes the member's key; in
 * an array, the key is NULL.  Text that is not UTF-8 becomes U+FFFD.
 */
struct json {
	struct out *out;
	uint64_t is_array; /**< bit per level */
	uint64_t has_items;
	unsigned int depth;
};

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/** End the innermost object or array; after the outermost one, write a newline. */
void json_end(struct json *json);
/** End all levels below @p depth. */
void json_end_to(struct json *json, unsigned int depth);

/** NULL is written as null. */
void json_text(struct json *json, const char *key, const char *bytes, size_t size);
/** NULL is written as null. */
void json_string(struct json *json, const char *key, const char *string);
void json_number(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/**
 * Written with as few digits as give the same value when read; "NaN", "Infinity" and "-Infinity" as
 * text.
 */
void json_real(struct json *json, const char *key, double value, bool is_single);
/** Written as "0x..." */
void json_address(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
