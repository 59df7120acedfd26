/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "analysis/name_match.h"
#include "answer/cell_lines.h"
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

/* SOS's row: image, size, name. */
static void short_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "%016" PRIX64 " %08" PRIX64 " ",
		   cells[MODULE_COLUMN_BASE].is_there ? cells[MODULE_COLUMN_BASE].number : 0,
		   cells[MODULE_COLUMN_SIZE].is_there ? cells[MODULE_COLUMN_SIZE].number : 0);
	out_module_name(out, cells);
	out_puts(out, "\n");
}

static void size_line(struct out *out, const char *label, const struct cell *cell)
{
	if (cell->is_there) {
		out_printf(out, "%s%08" PRIX64 "\n", label, cell->number);
	} else {
		out_printf(out, "%s<not known>\n", label);
	}
}

/* SOS's lines, and ours after them. */
static void verbose_layout(struct out *out, const struct cell *cells)
{
	out_module_name(out, cells);
	out_puts(out, "\n");
	out_text_line(out, "    AssemblyName:    ", &cells[MODULE_COLUMN_NAME]);
	if (cells[MODULE_COLUMN_BASE].is_there) {
		out_address_line(out, "    ImageBase:       ", &cells[MODULE_COLUMN_BASE]);
		size_line(out, "    Size:            ", &cells[MODULE_COLUMN_SIZE]);
		out_text_line(out, "    Layout:          ", &cells[MODULE_COLUMN_LAYOUT]);
	}
	out_address_line(out, "    ModuleAddress:   ", &cells[MODULE_COLUMN_ADDRESS]);
	out_address_line(out, "    AssemblyAddress: ", &cells[MODULE_COLUMN_ASSEMBLY]);
	out_flag_line(out, "    IsDynamic:       ", &cells[MODULE_COLUMN_DYNAMIC]);
	out_flag_line(out, "    IsInMemory:      ", &cells[MODULE_COLUMN_IN_MEMORY]);
	out_flag_line(out, "    IsCollectible:   ", &cells[MODULE_COLUMN_COLLECTIBLE]);
	out_flag_line(out, "    IsReadyToRun:    ", &cells[MODULE_COLUMN_COMPILED]);
	out_address_line(out, "    MetadataAddress: ", &cells[MODULE_COLUMN_METADATA]);
	size_line(out, "    MetadataSize:    ", &cells[MODULE_COLUMN_METADATA_SIZE]);
	out_text_line(out, "    Version:         ", &cells[MODULE_COLUMN_VERSION]);
	out_text_line(out, "    Mvid:            ", &cells[MODULE_COLUMN_MVID]);
}

#define MODULES_SCHEMA(form)                                                           \
	{                                                                              \
		.name = "modules", .columns = module_columns, .count = MODULE_COLUMNS, \
		.is_main = true, .heading = "", .layout = (form),                      \
	}
static const struct schema short_schema = MODULES_SCHEMA(short_layout);
static const struct schema verbose_schema = MODULES_SCHEMA(verbose_layout);

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
