/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Different types; begins with all zeros. */
struct type_set {
	uintptr_t *slots; /**< 0: free */
	size_t capacity;  /**< 0, or a power of 2 */
	size_t count;
};

/** Add a type that is not 0; false: there is no memory. */
bool type_set_add(struct type_set *set, uintptr_t type);
void type_set_deinit(struct type_set *set);
