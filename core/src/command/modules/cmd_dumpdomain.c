/* SPDX-License-Identifier: MIT */
/* dumpdomain and dumpassembly: what was loaded, domain by domain. */
#include <inttypes.h>

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
	  "friendly name of an AppDomain; null: not known, or none")   \
	X(DOMAIN_TITLE, .heading = "title", .kind = KIND_TEXT) /**< text only */

COLUMNS(domain, DOMAIN_COLUMNS, DOMAIN_LIST);

static const struct schema domains_schema = {
	.name = "domains",
	SCHEMA_COLUMNS(domain_columns),
	.lines = "--------------------------------------\n"
		 "{title:-20}{address:016?<not known>}\n"
		 "Name:               {name?<not known>}\n",
};

static const struct schema assemblies_schema = {
	.name = "assemblies",
	.columns = module_columns,
	.count = MODULE_COLUMNS,
	.is_main = true,
	.heading = "",
	.lines = "Assembly:           {assembly:016} \\[" MODULE_NAME_LINE "\\]\n  Module\n"
		 "  {address:016}    " MODULE_NAME_LINE "\n\n",
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
			[DOMAIN_NAME] = cell_shown((struct cell){ 0 }, "None"),
			[DOMAIN_TITLE] = cell_string("System Domain:"),
		};
		answer_row(&call->answer, cells);
	}
	if (wants_app) {
		char *name = app ? domain_name(runtime, app) : NULL;
		const struct cell cells[DOMAIN_COLUMNS] = {
			[DOMAIN_ADDRESS] = address_cell(app),
			[DOMAIN_KIND] = cell_string("app"),
			[DOMAIN_NAME] = cell_string(name),
			[DOMAIN_TITLE] = cell_string("Domain 1:"),
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

static const struct schema one_assembly_schema = {
	.columns = module_columns,
	.count = MODULE_COLUMNS,
	.lines =
		"Name:               " MODULE_NAME_LINE "\nAssemblyName:       {name?<not known>}\n"
		"Version:            {version?<not known>}\n"
		"IsCollectible:      {collectible?<not known>}\n  Module\n"
		"  {address:016}    " MODULE_NAME_LINE "\n",
};

static const struct column parent_columns[] = {
	{ "domain", NULL, KIND_ADDRESS, 0, 0, "the AppDomain that it is in; null: not known" },
};

SCHEMA(parent, .lines = "Parent Domain:      {domain:016?<not known>}\n");

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
