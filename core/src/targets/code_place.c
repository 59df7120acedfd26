/* SPDX-License-Identifier: MIT */
#include "targets/code_place.h"

#include <inttypes.h>
#include <string.h>

#include "targets/symbol_files.h"
#include "targets/target_modules.h"

/* Mappings and the linker's list name folders differently (/lib). */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void append_function(struct text *text, const char *name, uint64_t offset)
{
	text_puts(text, "!");
	text_puts(text, name);
	text_printf(text, "+0x%" PRIx64, offset);
}

void target_code_place(struct target *target, const char *folder, uint64_t ip, bool is_active,
		       uint64_t *budget, struct text *text)
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
	if (!best) {
		text_printf(text, "+0x%" PRIx64, ip - mapping->start + mapping->offset);
		return;
	}
	if (target_symbol_at(target, best, ip - !is_active, budget, symbol, &begin)) {
		append_function(text, symbol, ip - begin);
		return;
	}
	const struct function_names *names = symbol_files_of(
		target, best, mapping->path, folder ? folder : target->options.symbols, budget);
	const struct function_row *row =
		names ? function_names_at(names, ip - !is_active - best->base, budget) : NULL;
	if (row) {
		append_function(text, names->names + row->name, ip - best->base - row->begin);
	} else {
		text_printf(text, "+0x%" PRIx64, ip - best->base);
	}
}
