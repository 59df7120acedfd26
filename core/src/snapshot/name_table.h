/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/text.h"

struct arena;

/** The key of a name: what it belongs to. */
struct name_key {
	uint64_t of, part;
};

struct name_entry {
	struct name_key key;
	const char *name;
	bool is_used;
};

/**
 * Names that are made only once: a hash table, with their texts in an arena.  Empty when
 * zero-initialised.
 */
struct name_table {
	struct arena *arena; /**< borrowed */
	struct name_entry *entries;
	size_t count, capacity; /**< capacity is 0 or a power of two */
};

/**
 * The entry of @p key; a new one has is_used false, until name_table_add().
 *
 * @return NULL: memory is exhausted
 */
struct name_entry *name_table_find(struct name_table *table, struct name_key key);

/**
 * Give @p entry, which was looked up last, the name @p text, or NULL when that is empty.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when @p text has failed
 */
HD_NODISCARD enum hd_status name_table_add(struct name_table *table, struct name_entry *entry,
					   const struct text *text, struct hd_error *err);
void name_table_deinit(struct name_table *table);

/** Copy of @p text in @p arena; NULL when it is empty (HD_OK) or memory is exhausted. */
HD_NODISCARD enum hd_status name_table_keep_text(struct arena *arena, const struct text *text,
						 const char **ret, struct hd_error *err);
