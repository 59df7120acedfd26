/* SPDX-License-Identifier: MIT */
/* dumpdomain and dumpassembly: what was loaded, domain by domain. */
#include <inttypes.h>

#include "answer/cell_lines.h"
#include "command/modules/module_rows.h"
#include "command/table.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/findings.h"

#define DOMAIN_LIST(X)                                                 \
	X(DOMAIN_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,         \
	  "the runtime's SystemDomain or AppDomain; null: not known")  \
	X(DOMAIN_KIND, "kind", NULL, KIND_TEXT, 0, 0, "system or app") \
	X(DOMAIN_NAME, "name", NULL, KIND_TEXT, 0, 0,                  \
	  "friendly name of an AppDomain; null: not known, or none")

COLUMNS(domain, DOMAIN_COLUMNS, DOMAIN_LIST);

/* SOS's lines without those of loader heaps. */
static void app_domain_layout(struct out *out, const struct cell *cells)
{
	bool is_system = cells[DOMAIN_KIND].text.bytes[0] == 's';
	out_puts(out, "--------------------------------------\n");
	out_address_line(out, is_system ? "System Domain:      " : "Domain 1:           ",
			 &cells[DOMAIN_ADDRESS]);
	if (is_system) {
		out_puts(out, "Name:               None\n");
	} else {
		out_text_line(out, "Name:               ", &cells[DOMAIN_NAME]);
	}
}

static const struct schema domains_schema = {
	.name = "domains",
	SCHEMA_COLUMNS(domain_columns),
	.layout = app_domain_layout,
};

static void assembly_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "Assembly:           %016" PRIx64 " [",
		   cells[MODULE_COLUMN_ASSEMBLY].is_there ? cells[MODULE_COLUMN_ASSEMBLY].number
							  : 0);
	out_module_name(out, cells);
	out_printf(out, "]\n  Module\n  %016" PRIx64 "    ", cells[MODULE_COLUMN_ADDRESS].number);
	out_module_name(out, cells);
	out_puts(out, "\n\n");
}

static const struct schema assemblies_schema = {
	.name = "assemblies",
	.columns = module_columns,
	.count = MODULE_COLUMNS,
	.is_main = true,
	.heading = "",
	.layout = assembly_layout,
};

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

static void write_module(struct call *call, const struct module *module)
{
	struct cell cells[MODULE_COLUMNS];
	struct module_texts texts;
	module_cells(call->heap->runtime, module, &texts, cells);
	answer_row(&call->answer, cells);
}

static enum hd_status write_assemblies(struct call *call)
{
	struct module *const *modules;
	size_t count;
	TRY(module_list(call->heap->runtime, &modules, &count, call->err));
	/* Some may be missing. */
	call->findings |= findings_has(runtime_findings(call->heap->runtime), FINDING_MODULE_LIST);
	answer_table(&call->answer, &assemblies_schema, &bare);
	for (size_t i = 0; i < count; i++) {
		if (answer_wants_row(&call->answer))
			write_module(call, modules[i]);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static struct cell address_cell(uint64_t address)
{
	return address ? cell_number(address) : (struct cell){ 0 };
}

static enum hd_status run_dumpdomain(struct call *call)
{
	struct runtime *runtime = call->heap->runtime;
	const struct value *word = &call->words[0];
	uint64_t app = coreclr_app_domain(runtime), system = coreclr_system_domain(runtime);
	if (word->given && (!word->number || (word->number != app && word->number != system))) {
		return fail(call->err, HD_ERR_NOTFOUND, word->number,
			    "no domain at %" PRIx64 "; dumpdomain without an address shows all",
			    word->number);
	}
	bool wants_app = !word->given || word->number == app;
	answer_table(&call->answer, &domains_schema, &bare);
	if (!word->given || word->number == system) {
		const struct cell cells[DOMAIN_COLUMNS] = {
			[DOMAIN_ADDRESS] = address_cell(system),
			[DOMAIN_KIND] = cell_string("system"),
		};
		answer_row(&call->answer, cells);
	}
	if (wants_app) {
		char *name = app ? domain_name(runtime, app) : NULL;
		const struct cell cells[DOMAIN_COLUMNS] = {
			[DOMAIN_ADDRESS] = address_cell(app),
			[DOMAIN_KIND] = cell_string("app"),
			[DOMAIN_NAME] = cell_string(name),
		};
		answer_row(&call->answer, cells);
		mem_free(name);
	}
	(void)answer_table_end(&call->answer);
	return wants_app ? write_assemblies(call) : HD_OK;
}

COMMAND(dumpdomain, .has_rows = true,
	.summary = "show the domains, and the assemblies that are loaded",
	.description =
		"Since .NET Core a process has one AppDomain; the SystemDomain has no assemblies of\n"
		"its own. ADDR chooses one of them. dumpalc says which AssemblyLoadContext has loaded\n"
		"the type of an object.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME | NEEDS_MODULES,
	.words = { { "ADDR", VALUE_ADDRESS, true } });

static void one_assembly_layout(struct out *out, const struct cell *cells)
{
	out_puts(out, "Name:               ");
	out_module_name(out, cells);
	out_puts(out, "\n");
	out_text_line(out, "AssemblyName:       ", &cells[MODULE_COLUMN_NAME]);
	out_text_line(out, "Version:            ", &cells[MODULE_COLUMN_VERSION]);
	out_flag_line(out, "IsCollectible:      ", &cells[MODULE_COLUMN_COLLECTIBLE]);
	out_printf(out, "  Module\n  %016" PRIx64 "    ", cells[MODULE_COLUMN_ADDRESS].number);
	out_module_name(out, cells);
	out_puts(out, "\n");
}

static const struct schema one_assembly_schema = {
	.columns = module_columns,
	.count = MODULE_COLUMNS,
	.layout = one_assembly_layout,
};

static const struct column parent_columns[] = {
	{ "domain", NULL, KIND_ADDRESS, 0, 0, "the AppDomain that it is in; null: not known" },
};

static void parent_layout(struct out *out, const struct cell *cells)
{
	out_address_line(out, "Parent Domain:      ", &cells[0]);
}

SCHEMA(parent, .layout = parent_layout);

static enum hd_status run_dumpassembly(struct call *call)
{
	const struct module *module;
	struct cell cells[MODULE_COLUMNS];
	struct module_texts texts;
	TRY(call_module(call, call->words[0].number, true, &module));
	const struct cell parent[] = { address_cell(coreclr_app_domain(call->heap->runtime)) };
	answer_record(&call->answer, &parent_schema, parent);
	module_cells(call->heap->runtime, module, &texts, cells);
	answer_record(&call->answer, &one_assembly_schema, cells);
	return HD_OK;
}

COMMAND(dumpassembly, .summary = "describe an assembly by the address of the runtime's Assembly",
	.description = "dumpdomain and clrmodules -verbose show these addresses.\n",
	.example = "dumpassembly 5592a5d4b4f0", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_MODULES, .words = { { "ADDR", VALUE_ADDRESS, false } });
