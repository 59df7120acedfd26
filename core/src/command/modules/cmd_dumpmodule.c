/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "answer/cell_lines.h"
#include "command/modules/module_rows.h"
#include "command/table.h"
#include "gc/heap.h"
#include "runtime/coreclr/types/type_name.h"

/* Distance of a module's map of methods from its map of TypeDefs (doc/coreclr.md 9.2). */
#define MAP_METHODS_DISTANCE 32u

#define DUMPMODULE_OPTIONS(X)                                                                   \
	X(OPT_MT, "mt", VALUE_NONE, NULL, "also the types that it defines, if they are loaded", \
	  NULL)

OPTIONS(dumpmodule, DUMPMODULE_OPTIONS);

static void write_attributes(struct out *out, const struct cell *cells)
{
	const struct {
		bool has;
		const char *name;
	} words[] = {
		{ cells[MODULE_COLUMN_BASE].is_there, "PEFile" },
		{ cells[MODULE_COLUMN_DYNAMIC].flag, "Reflection" },
		{ cells[MODULE_COLUMN_IN_MEMORY].flag, "InMemory" },
		{ cells[MODULE_COLUMN_COLLECTIBLE].flag, "Collectible" },
		{ cells[MODULE_COLUMN_COMPILED].flag, "ReadyToRun" },
	};
	out_puts(out, "Attributes:             ");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].has)
			out_printf(out, " %s", words[i].name);
	}
	out_puts(out, "\n");
}

/* SOS's lines; what it says of maps that are not read is left out. */
static void module_layout(struct out *out, const struct cell *cells)
{
	out_puts(out, "Name:                    ");
	out_module_name(out, cells);
	out_puts(out, "\n");
	write_attributes(out, cells);
	if (cells[MODULE_COLUMN_FLAGS].is_there) {
		out_printf(out, "TransientFlags:          %08" PRIx64 "\n",
			   cells[MODULE_COLUMN_FLAGS].number);
	}
	out_address_line(out, "Assembly:                ", &cells[MODULE_COLUMN_ASSEMBLY]);
	if (cells[MODULE_COLUMN_BASE].is_there) {
		out_printf(out, "BaseAddress:             %016" PRIx64,
			   cells[MODULE_COLUMN_BASE].number);
		if (cells[MODULE_COLUMN_SIZE].is_there) {
			out_printf(out, " (%" PRIu64 " bytes, %s)",
				   cells[MODULE_COLUMN_SIZE].number,
				   cells[MODULE_COLUMN_LAYOUT].text.bytes);
		}
		out_puts(out, "\n");
	}
	out_address_line(out, "PEAssembly:              ", &cells[MODULE_COLUMN_PE_ASSEMBLY]);
	if (cells[MODULE_COLUMN_TYPE_MAP].is_there) {
		out_printf(out, "TypeDefToMethodTableMap: %016" PRIx64 "\n",
			   cells[MODULE_COLUMN_TYPE_MAP].number);
		out_printf(out, "MethodDefToDescMap:      %016" PRIx64 "\n",
			   cells[MODULE_COLUMN_TYPE_MAP].number + MAP_METHODS_DISTANCE);
	}
	if (cells[MODULE_COLUMN_METADATA].is_there) {
		out_printf(out, "MetaData start address:  %016" PRIx64 " (%" PRIu64 " bytes)\n",
			   cells[MODULE_COLUMN_METADATA].number,
			   cells[MODULE_COLUMN_METADATA_SIZE].number);
	}
	out_text_line(out, "AssemblyName:            ", &cells[MODULE_COLUMN_NAME]);
	out_text_line(out, "Version:                 ", &cells[MODULE_COLUMN_VERSION]);
	out_text_line(out, "Mvid:                    ", &cells[MODULE_COLUMN_MVID]);
}

static const struct schema module_schema = {
	.columns = module_columns,
	.count = MODULE_COLUMNS,
	.layout = module_layout,
};

#define TYPE_LIST(X)                                                                 \
	X(TYPE_MT, "mt", "MT", KIND_ADDRESS, 16, LOOK_ZEROS, "its MethodTable")      \
	X(TYPE_TOKEN, "token", "TypeDef", KIND_ADDRESS, 10, 0, "its metadata token") \
	X(TYPE_NAME, "name", "Name", KIND_TYPE, 0, 0, "its full name")

COLUMNS(type, TYPE_COLUMNS, TYPE_LIST);

static void module_type_layout(struct out *out, const struct cell *cells)
{
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, cells[TYPE_MT].number);
	out_printf(out, " 0x%08" PRIx64 " ", cells[TYPE_TOKEN].number);
	out_type_cell(out, &cells[TYPE_NAME]);
	out_puts(out, "\n");
}

static const struct schema types_schema = {
	.name = "types",
	SCHEMA_COLUMNS(type_columns),
	.is_main = true,
	.heading = "              MT    TypeDef Name",
	.layout = module_type_layout,
};

static enum hd_status write_types(struct call *call, const struct module *module)
{
	struct runtime *runtime = call->heap->runtime;
	uint32_t count = module->metadata ? module->metadata->tables[MD_TYPE_DEF].rows : 0;
	answer_remark(&call->answer, "\nTypes defined in this module\n\n");
	answer_table(&call->answer, &types_schema, NULL);
	for (uint32_t rid = 1; rid <= count; rid++) {
		uint64_t address = module_type_def(runtime, module, rid);
		const struct type *type = address ? type_find(runtime, address) : NULL;
		size_t size;
		TRY(call_check(call));
		if (!type || !answer_wants_row(&call->answer))
			continue;
		const char *name = type_name(runtime, type, &size);
		const struct cell cells[TYPE_COLUMNS] = {
			[TYPE_MT] = cell_number(type->method_table),
			[TYPE_TOKEN] = cell_number(0x02000000 | rid),
			[TYPE_NAME] = cell_type(name, size, type->method_table),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	if (!module->metadata) {
		answer_remark(&call->answer, "The metadata of this module is not there; info says "
					     "what to do.\n");
	}
	return HD_OK;
}

static enum hd_status run_dumpmodule(struct call *call)
{
	const struct module *module;
	struct cell cells[MODULE_COLUMNS];
	struct module_texts texts;
	TRY(call_module(call, call->words[0].number, false, &module));
	module_cells(call->heap->runtime, module, &texts, cells);
	answer_record(&call->answer, &module_schema, cells);
	return call->options[OPT_MT].given ? write_types(call, module) : HD_OK;
}

COMMAND(dumpmodule, .has_rows = true,
	.summary = "describe a managed module: its image, its metadata, its types",
	.description =
		"ADDR is the address of the runtime's Module, as clrmodules -verbose, dumpdomain and\n"
		"name2ee show it. With -mt only loaded types are shown; name2ee finds the others.\n",
	.example = "dumpmodule 7f0f79441a30 -mt", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_MODULES, .options = dumpmodule_options,
	.words = { { "ADDR", VALUE_ADDRESS, false } });
