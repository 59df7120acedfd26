/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/types/field.h"

/** A struct that is an array: its one field stands for the first of several elements, side by side. */
struct inline_array {
	uint32_t length;         /**< elements, at least 1 */
	uint32_t element_size;   /**< bytes */
	uint8_t element_type;    /**< enum element_type of the storage */
	const struct type *type; /**< of an element; NULL: not loaded, or not known */
};

/**
 * Is @p type a struct with the attribute [InlineArray], of primitives, enums or references, whose length is known?
 */
bool inline_array_read(struct runtime *runtime, const struct type *type, struct inline_array *ret);
