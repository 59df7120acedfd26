/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/symbols/dwarf_types.h"
#include "runtime/nativeaot/symbols/type_symbols.h"

/* The symbols of a NativeAOT program, where they are there (doc/nativeaot.md 9). */

struct runtime;
struct source_lines;
struct symbol_statics;
struct text;

struct aot_symbols {
	struct dwarf_file file;
	struct dwarf_types types;
	struct type_symbols tables;
	uint64_t bias;              /**< of the module: its addresses less those of the file */
	struct source_lines *lines; /**< NULL until the first look-up, or there are none */
	bool has_tried_lines;
	struct symbol_statics *statics; /**< the same of static fields */
	bool has_tried_statics;
};

/** The symbols of the program, looked up once; NULL: there are none that can be read. */
struct aot_symbols *aot_symbols(struct runtime *runtime);

/** The class of the MethodTable at @p method_table; NULL: it is not known. */
const struct dwarf_type *aot_symbols_class(const struct aot_symbols *symbols,
					   uint64_t method_table);
/** The MethodTable of a class, in the target; 0: the program has none, or it is not known. */
uint64_t aot_symbols_table(const struct aot_symbols *symbols, const struct dwarf_type *class_type);
/** Append the name of a type: as the runtime has it, or, where the program has no MethodTable of it, as the compiler has mangled it. */
void aot_symbols_append_name(struct runtime *runtime, const struct aot_symbols *symbols,
			     const struct dwarf_type *type, struct text *text);
