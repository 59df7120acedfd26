/* SPDX-License-Identifier: MIT */
/* Remembers for each type what was found out about it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct type;

/** Empty when zero-initialised. */
struct type_kinds {
	uint8_t *kinds; /**< by type->index; 0: not asked yet */
	size_t kinds_count;
};

/**
 * The note about @p type, to be read and written until the next call; NULL: memory is exhausted.
 */
uint8_t *type_kinds_at(struct type_kinds *kinds, const struct type *type);
void type_kinds_deinit(struct type_kinds *kinds);
