/* SPDX-License-Identifier: MIT */
/* covers: core/src/runtime/nativeaot/symbols */
#include <stdlib.h>
#include <string.h>

#include "linear.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/symbols/source_lines.h"
#include "runtime/nativeaot/symbols/symbol_walk.h"
#include "runtime/nativeaot/symbols/symbols.h"
#include "runtime/variables.h"
#include "targets/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_MAX ((uint64_t)64 << 20)
/* Most classes whose fields are walked, and steps of all of them. */
#define CLASSES_MAX 64u
#define STEPS_MAX   4096u

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Types and members ascend, each member is in one class, and all names end. */
static void check_types(const struct dwarf_types *types)
{
	size_t members = 0;
	for (size_t i = 0; i < types->rows_count; i++) {
		const struct dwarf_type *type = &types->rows[i];
		require(!i || types->rows[i - 1].offset < type->offset);
		require(type->first == members && type->count <= types->members_count - members);
		require(strnlen(type->name, DWARF_NAME_MAX + 1) <= DWARF_NAME_MAX);
		members += type->count;
	}
	require(members == types->members_count);
	for (size_t i = 0; i < types->statics_count; i++)
		require(types->statics[i].type < types->rows_count);
	for (size_t i = 0; i < types->functions_count; i++)
		require(types->functions[i].begin < types->functions[i].end);
}

/* Walk the fields of a few classes, into all structs. */
static void check_walk(const struct aot_symbols *symbols)
{
	unsigned int steps = 0;
	for (size_t i = 0; i < symbols->types.definitions && i < CLASSES_MAX; i++) {
		struct symbol_walk walk;
		const struct dwarf_type *type = &symbols->types.rows[symbols->types.order[i]];
		require(dwarf_class_by_name(&symbols->types, type->name) != NULL);
		(void)aot_symbols_table(symbols, type);
		symbol_walk_begin(&walk, &symbols->types, type);
		while (symbol_walk_next(&walk) && steps++ < STEPS_MAX) {
			require(walk.depth >= 1 && walk.depth <= SYMBOL_DEPTH_MAX);
			if (!walk.member_type)
				continue;
			(void)symbol_element(&symbols->types, walk.member_type);
			if (symbol_is_struct(walk.member_type))
				symbol_walk_enter(&walk);
		}
	}
}

static void check_lines(struct target *target, struct aot_symbols *symbols)
{
	for (size_t i = 0; i < symbols->types.functions_count && i < CLASSES_MAX; i++) {
		const struct dwarf_function *function = &symbols->types.functions[i];
		struct source_line line;
		uint64_t middle = function->begin + (function->end - function->begin) / 2;
		if (source_line_find(target, symbols, middle, &line))
			require(line.file && line.line);
	}
}

/* The variables of a few functions, of a program without MethodTables. */
static void check_variables(struct target *target, struct aot_symbols *symbols)
{
	struct nativeaot aot = { .symbols = symbols, .has_tried_symbols = true };
	struct method_variables variables;
	struct variable_home *homes;
	aot.base.target = target;
	type_symbols_deinit(&symbols->tables);
	for (size_t i = 0; i < symbols->types.functions_count && i < CLASSES_MAX; i++) {
		uint64_t place = symbols->types.functions[i].begin;
		if (aot_variables(&aot.base, place, &variables, &homes, NULL) != HD_OK)
			continue;
		require(variables.argument_count <= variables.count);
		for (size_t k = 0; k < variables.count; k++) {
			require(homes[k].kind <= HOME_NONE && variables.rows[k].type_name);
			mem_free(variables.rows[k].name);
			mem_free(variables.rows[k].type_name);
		}
		mem_free(variables.rows);
		mem_free(homes);
	}
}

/* Any bytes as the file with the symbols of a program: no crash, no hang, no other file is opened. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = { .kind = TARGET_CORE,
				 .arch = &arch_x86_64,
				 .options = { .max_mem = MEMORY_MAX } };
	struct debug_bytes debug = { .bytes = mem_alloc(size + 1, 1), .size = size };
	struct aot_symbols *symbols = mem_calloc(1, sizeof(*symbols));
	const char *why = NULL;
	require(debug.bytes && symbols);
	memcpy(debug.bytes, data, size);
	const struct linear linear = linear_begin(size);
	if (dwarf_file_open(&target, &debug, &symbols->file, &why) &&
	    dwarf_types_read(&target, &symbols->file, &symbols->types, NULL) == HD_OK &&
	    type_symbols_read(&target, &symbols->file, &symbols->tables, NULL) == HD_OK) {
		linear_end(&linear, "dwarf_types_read");
		check_types(&symbols->types);
		check_walk(symbols);
		check_lines(&target, symbols);
		check_variables(&target, symbols);
	}
	debug_bytes_deinit(&debug);
	aot_symbols_destroy(symbols);
	return 0;
}
