/* SPDX-License-Identifier: MIT */
#include "command/modules/module_rows.h"
#include "command/table.h"
#include "gc/heap.h"

/* Distance of a module's map of methods from its map of TypeDefs (doc/coreclr.md 9.2). */
#define DUMPMODULE_OPTIONS(X)                                                                   \
	X(OPT_MT, "mt", VALUE_NONE, NULL, "also the types that it defines, if they are loaded", \
	  NULL)

OPTIONS(dumpmodule, DUMPMODULE_OPTIONS);

static const struct schema module_schema = {
	.columns = module_columns,
	.count = MODULE_COLUMNS,
	.lines = "Name:                    " MODULE_NAME_LINE "\n"
		 "Attributes:             [=image  PEFile][?dynamic  Reflection][?in_memory  "
		 "InMemory][?collectible  Collectible][?ready_to_run  ReadyToRun]\n"
		 "[TransientFlags:          {flags:08}\n]"
		 "Assembly:                {assembly:016?<not known>}\n"
		 "[BaseAddress:             {image:016}[ ({size} bytes, {layout})]\n]"
		 "PEAssembly:              {pe_assembly:016?<not known>}\n"
		 "[TypeDefToMethodTableMap: {type_map:016}\n"
		 "MethodDefToDescMap:      {method_map:016}\n]"
		 "[MetaData start address:  {metadata:016} ({metadata_size} bytes)\n]"
		 "AssemblyName:            {name?<not known>}\n"
		 "Version:                 {version?<not known>}\n"
		 "Mvid:                    {mvid?<not known>}\n",
};

#define TYPE_LIST(X)                                                                 \
	X(TYPE_MT, "mt", "MT", KIND_ADDRESS, 16, LOOK_ZEROS, "its MethodTable")      \
	X(TYPE_TOKEN, "token", "TypeDef", KIND_ADDRESS, 10, 0, "its metadata token") \
	X(TYPE_NAME, "name", "Name", KIND_TYPE, 0, 0, "its full name")

COLUMNS(type, TYPE_COLUMNS, TYPE_LIST);

static const struct schema types_schema = {
	.name = "types",
	SCHEMA_COLUMNS(type_columns),
	.is_main = true,
	.heading = "              MT    TypeDef Name",
	.lines = "{mt:016a} 0x{token:08} {name}\n",
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
