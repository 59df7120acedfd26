/* SPDX-License-Identifier: MIT */
#include "analysis/heap/type_kinds.h"

#include <string.h>

#include "runtime/type.h"
#include "util/alloc.h"

#define KINDS_MIN 256u

static uint8_t *grow_kinds(struct type_kinds *kinds, uint32_t index)
{
	size_t count = kinds->kinds_count ? kinds->kinds_count : KINDS_MIN;
	while (count <= index)
		count *= 2;
	uint8_t *grown = mem_calloc(count, sizeof(*grown));
	if (!grown)
		return NULL;
	if (kinds->kinds_count)
		memcpy(grown, kinds->kinds, kinds->kinds_count);
	mem_free(kinds->kinds);
	kinds->kinds = grown;
	kinds->kinds_count = count;
	return &grown[index];
}

uint8_t *type_kinds_at(struct type_kinds *kinds, const struct type *type)
{
	return type->index < kinds->kinds_count ? &kinds->kinds[type->index]
						: grow_kinds(kinds, type->index);
}

void type_kinds_deinit(struct type_kinds *kinds)
{
	mem_free(kinds->kinds);
	*kinds = (struct type_kinds){ 0 };
}
