/* SPDX-License-Identifier: MIT */
#include "targets/code_place.h"

#include <inttypes.h>
#include <string.h>

/* Mappings and the linker's list name folders differently (/lib). */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void target_code_place(const struct target *target, uint64_t ip, struct text *text)
{
	const struct target_mapping *mapping = target_mapping_at(&target->map, ip);
	const char *name = mapping && mapping->path ? last_part(mapping->path) : "";
	const struct target_module *best = NULL;
	if (!*name)
		return;
	for (size_t i = 0; i < target->module_count; i++) {
		const struct target_module *module = &target->modules[i];
		if (module->base <= ip && (!best || module->base > best->base) &&
		    strcmp(last_part(module->path), name) == 0)
			best = module;
	}
	text_puts(text, name);
	text_printf(text, "+0x%" PRIx64,
		    best ? ip - best->base : ip - mapping->start + mapping->offset);
}
