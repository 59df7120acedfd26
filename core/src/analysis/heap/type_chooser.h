/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime;
struct type;

/** Which types are asked for, decided once for each type; all zero except the first two. */
struct type_chooser {
	struct runtime *runtime;
	const char *part; /**< part of the type's name, or NULL */
	uint8_t *known;   /**< by type index: 0 not decided yet, 1 passes, 2 does not */
	size_t capacity;
	bool failed; /**< memory was exhausted: some types that should pass did not */
};

/** Does @p type pass? */
bool type_chooser_has(struct type_chooser *chooser, const struct type *type);
void type_chooser_deinit(struct type_chooser *chooser);
