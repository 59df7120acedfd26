/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/gcdump/gcdump.h"
#include "format/nettrace/nettrace_bytes.h"
#include "format/string_table.h"
#include "util/text.h"

/** Names of different kinds are kept separately. */
enum exact_name {
	EXACT_TYPE = 'T',
	EXACT_LARGE = 'L',
	EXACT_PSEUDO_TYPE = 'P',
	EXACT_KID = 'K'
};

/**
 * Names: the text that is being made, the names that are kept, and a number for each.  Begins with
 * only arena, which it takes over, and err set.
 */
struct exact_names {
	struct hd_error *err;
	struct text text; /**< the name that is being made */
	struct arena *arena;
	uint64_t text_size;          /**< bytes in the arena */
	struct string_table numbers; /**< first byte: enum exact_name */
	uint32_t *values;            /**< pages; by number of the name */
	size_t values_count, values_capacity;
	struct text key; /**< scratch */
};

/** Set names->text to @p string. */
void exact_set_text(struct exact_names *names, const char *string);
/** Append UTF-16 to names->text, converting each unit by itself. */
void exact_append(struct exact_names *names, const struct nt_utf16 *utf16);
/** Append a copy of a name to names->text. */
void exact_append_copy(struct exact_names *names, const struct gcdump_text *copy);
/**
 * Copy names->text into the arena.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED names of over 2 GiB
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status exact_copy_text(struct exact_names *names, struct gcdump_text *ret);

/**
 * Value of the name @p kind, @p prefix, @p module (may be NULL), names->text: **ret is HD_NONE if
 * the name is new, and the caller then sets it; valid until the next call.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status exact_value(struct exact_names *names, enum exact_name kind,
					uint32_t prefix, const struct gcdump_text *module,
					uint32_t **ret);

void exact_names_deinit(struct exact_names *names);
