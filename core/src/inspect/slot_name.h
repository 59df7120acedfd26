/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_INSPECT_SLOT_NAME_H
#define HEAPDUMP_SRC_INSPECT_SLOT_NAME_H

#include "heap/walk.h"

struct text;

/**
 * Append the name of the slot at address @p slot of @p object: "field", "field.inner", "[3]",
 * "[1][2].inner"; "LoaderAllocator" for slot 0; "+18" where the fields are not known.
 */
void slot_name(struct heap *heap, const struct object *object, uint64_t slot, struct text *text);

#endif
