/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "analysis/name_match.h"
#include "command/modules/module_rows.h"
#include "command/table.h"
#include "gc/heap.h"
#include "util/findings.h"

#define CLRMODULES_OPTIONS(X)                                                          \
	X(OPT_NAME, "name", VALUE_TEXT, "TEXT",                                        \
	  "only modules whose file's name, or assembly's name, contains TEXT", NULL)   \
	X(OPT_N, "n", VALUE_TEXT, "TEXT", "the same", NULL)                            \
	X(OPT_VERBOSE, "verbose", VALUE_NONE, NULL, "all that is known of each", NULL) \
	X(OPT_V, "v", VALUE_NONE, NULL, "the same", NULL)

OPTIONS(clrmodules, CLRMODULES_OPTIONS);

#define MODULES_SCHEMA(form)                                                           \
	{                                                                              \
		.name = "modules", .columns = module_columns, .count = MODULE_COLUMNS, \
		.is_main = true, .heading = "", .lines = (form),                       \
	}
static const struct schema short_schema =
	MODULES_SCHEMA("{image:016X} {size:08X} " MODULE_NAME_LINE "\n");
static const struct schema verbose_schema =
	MODULES_SCHEMA(MODULE_NAME_LINE "\n    AssemblyName:    {name?<not known>}\n"
					"[    ImageBase:       {image:016}\n"
					"    Size:            {size:08X?<not known>}\n"
					"    Layout:          {layout?<not known>}\n]"
					"    ModuleAddress:   {address:016?<not known>}\n"
					"    AssemblyAddress: {assembly:016?<not known>}\n"
					"    IsDynamic:       {dynamic?<not known>}\n"
					"    IsInMemory:      {in_memory?<not known>}\n"
					"    IsCollectible:   {collectible?<not known>}\n"
					"    IsReadyToRun:    {ready_to_run?<not known>}\n"
					"    MetadataAddress: {metadata:016?<not known>}\n"
					"    MetadataSize:    {metadata_size:08X?<not known>}\n"
					"    Version:         {version?<not known>}\n"
					"    Mvid:            {mvid?<not known>}\n"
					"    PdbInfo:         [{pdb_id} {pdb}|<none>]\n");

static bool is_module_wanted(const struct module *module, const char *part)
{
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;
	const char *file = slash ? slash + 1 : module->path;
	return !part || (file && name_matches(file, strlen(file), part)) ||
	       (module->name && name_matches(module->name, strlen(module->name), part));
}

static enum hd_status run_clrmodules(struct call *call)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct runtime *runtime = call->heap->runtime;
	struct module *const *modules;
	size_t count;
	bool is_verbose = call->options[OPT_VERBOSE].given || call->options[OPT_V].given;
	const char *part = call->options[OPT_NAME].given ? call->options[OPT_NAME].text
							 : call->options[OPT_N].text;
	TRY(module_list(runtime, &modules, &count, call->err));
	/* Some may be missing. */
	call->findings |= findings_has(runtime_findings(call->heap->runtime), FINDING_MODULE_LIST);
	answer_table(&call->answer, is_verbose ? &verbose_schema : &short_schema, &options);
	for (size_t i = 0; i < count; i++) {
		struct cell cells[MODULE_COLUMNS];
		struct module_texts texts;
		if (!is_module_wanted(modules[i], part) || !answer_wants_row(&call->answer))
			continue;
		module_cells(runtime, modules[i], &texts, cells);
		answer_row(&call->answer, cells);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

COMMAND(clrmodules, .alias = "assemblies", .has_rows = true,
	.summary = "list the managed modules: image, size, file",
	.description =
		"These are all modules of the runtime's list of assemblies, also those of\n"
		"Reflection.Emit and those of contexts that are unloading. TEXT of -name is meant as\n"
		"that of -type (help dumpheap). dumpmodule shows one of them, modules the native ones.\n",
	.example = "clrmodules -name System.Private", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_MODULES, .options = clrmodules_options);
