/* SPDX-License-Identifier: MIT */
#include "targets/code_place.h"

#include <inttypes.h>
#include <string.h>

#include "targets/target_modules.h"

/* Mappings and the linker's list name folders differently (/lib). */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void target_code_place(const struct target *target, uint64_t ip, bool is_active, uint64_t *budget,
		       struct text *text)
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
	char symbol[SYMBOL_NAME_MAX + 1];
	uint64_t begin;
	text_puts(text, name);
	if (best && target_symbol_at(target, best, ip - !is_active, budget, symbol, &begin)) {
		text_puts(text, "!");
		text_puts(text, symbol);
		text_printf(text, "+0x%" PRIx64, ip - begin);
		return;
	}
	text_printf(text, "+0x%" PRIx64,
		    best ? ip - best->base : ip - mapping->start + mapping->offset);
}
