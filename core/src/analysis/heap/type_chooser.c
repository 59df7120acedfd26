/* SPDX-License-Identifier: MIT */
#include "analysis/heap/type_chooser.h"

#include <string.h>

#include "analysis/name_match.h"
#include "runtime/type.h"
#include "util/alloc.h"

static bool grow_chooser(struct type_chooser *chooser, size_t index)
{
	size_t capacity = index + 256;
	uint8_t *known = mem_realloc(chooser->known, capacity, 1);
	if (!known)
		return false;
	memset(known + chooser->capacity, 0, capacity - chooser->capacity);
	chooser->known = known;
	chooser->capacity = capacity;
	return true;
}

bool type_chooser_has(struct type_chooser *chooser, const struct type *type)
{
	if (!chooser->part)
		return true;
	if (type->index >= chooser->capacity && !grow_chooser(chooser, type->index)) {
		chooser->failed = true;
		return false;
	}
	uint8_t *known = &chooser->known[type->index];
	if (!*known) {
		size_t size;
		const char *name = type_name(chooser->runtime, type, &size);
		*known = name_matches(name, size, chooser->part) ? 1 : 2;
	}
	return *known == 1;
}

void type_chooser_deinit(struct type_chooser *chooser)
{
	mem_free(chooser->known);
	chooser->known = NULL;
	chooser->capacity = 0;
}
