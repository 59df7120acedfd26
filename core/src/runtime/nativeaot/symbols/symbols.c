/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/symbols/symbols.h"

#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/symbols/source_lines.h"
#include "runtime/nativeaot/symbols/symbol_statics.h"
#include "runtime/type.h"
#include "targets/symbol_files.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/text.h"

/* Most bytes of all files that are read in search of symbols. */
#define FILES_MAX ((uint64_t)4 << 30)

static struct aot_symbols *open_symbols(struct runtime *runtime)
{
	const struct nativeaot *aot = aot_of(runtime);
	struct debug_bytes debug = { 0 };
	const char *why = NULL;
	struct hd_error error = { 0 };
	/* Only a made-up program has no module. */
	if (!aot->module || !symbol_files_debug(runtime->target, aot->module, runtime_path(runtime),
						FILES_MAX, &debug))
		return NULL;
	struct aot_symbols *symbols = mem_calloc(1, sizeof(*symbols));
	bool is_open = symbols && dwarf_file_open(runtime->target, &debug, &symbols->file, &why);
	if (is_open) {
		why = "needs too much memory";
		symbols->bias = aot->module->base;
		is_open = dwarf_types_read(runtime->target, &symbols->file, &symbols->types,
					   &error) == HD_OK &&
			  type_symbols_read(runtime->target, &symbols->file, &symbols->tables,
					    &error) == HD_OK;
	}
	debug_bytes_deinit(&debug);
	if (is_open)
		return symbols;
	aot_symbols_destroy(symbols);
	if (why) {
		findings_add(
			&runtime->target->findings, FINDING_SYMBOL_FILE, NULL,
			"own fields, static fields and lines of %s are not known: the file with "
			"its symbols %s",
			runtime_path(runtime), why);
	}
	return NULL;
}

struct aot_symbols *aot_symbols(struct runtime *runtime)
{
	struct nativeaot *aot = aot_of(runtime);
	if (!aot->has_tried_symbols) {
		aot->has_tried_symbols = true;
		aot->symbols = open_symbols(runtime);
	}
	return aot->symbols;
}

void aot_symbols_destroy(struct aot_symbols *symbols)
{
	if (!symbols)
		return;
	source_lines_destroy(symbols->lines);
	symbol_statics_destroy(symbols->statics);
	type_symbols_deinit(&symbols->tables);
	dwarf_types_deinit(&symbols->types);
	dwarf_file_close(&symbols->file);
	mem_free(symbols);
}

const struct dwarf_type *aot_symbols_class(const struct aot_symbols *symbols, uint64_t method_table)
{
	const char *name = type_symbol_at(&symbols->tables, method_table - symbols->bias);
	return name ? dwarf_class_by_name(&symbols->types, name) : NULL;
}

uint64_t aot_symbols_table(const struct aot_symbols *symbols, const struct dwarf_type *class_type)
{
	uint64_t address = symbol_by_name(&symbols->tables.tables, class_type->name);
	return address ? address + symbols->bias : 0;
}

void aot_symbols_append_name(struct runtime *runtime, const struct aot_symbols *symbols,
			     const struct dwarf_type *type, struct text *text)
{
	uint64_t table = aot_symbols_table(symbols, type);
	const struct type *of = table ? type_find(runtime, table) : NULL;
	if (of) {
		size_t size;
		const char *name = type_name(runtime, of, &size);
		text_append(text, name, size);
	} else {
		text_puts(text, type->name);
	}
}
