/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

struct text;

/**
 * Append the name of the slot at address @p slot of @p object: "field", "field.inner", "[3]",
 * "[1][2].inner"; "LoaderAllocator" for slot 0; "+18" where the fields are not known;
 * "payload (of Shop.Checkout.Place)" of a suspended async method.
 */
void slot_name(struct heap *heap, const struct object *object, uint64_t slot, struct text *text);

/** Append ".inner" for the field at @p offset of a struct of @p type (NULL: not known). */
void slot_name_in_struct(struct heap *heap, const struct type *type, uint64_t offset,
			 struct text *text);
