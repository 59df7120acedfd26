/* SPDX-License-Identifier: MIT */
#include "analysis/modules/load_contexts.h"
#include "command/modules/module_rows.h"
#include "command/objects/object.h"
#include "command/table.h"
#include "gc/heap.h"
#include "util/alloc.h"

#define CONTEXT_LIST(X)                                                                          \
	X(CONTEXT_OBJECT, "address", NULL, KIND_ADDRESS, 0, 0, "the AssemblyLoadContext object") \
	X(CONTEXT_TYPE, "type", NULL, KIND_TYPE, 0, 0, "its type")                               \
	X(CONTEXT_NAME, "name", NULL, KIND_TEXT, 0, 0, "its name; null: it has none")            \
	X(CONTEXT_COLLECTIBLE, "collectible", NULL, KIND_FLAG, 0, 0, "can it be unloaded?")      \
	X(CONTEXT_UNLOADING, "unloading", NULL, KIND_FLAG, 0, 0, "was Unload() called?")         \
	X(CONTEXT_BINDER, "binder", NULL, KIND_ADDRESS, 0, 0,                                    \
	  "the runtime's AssemblyBinder; null: not known")                                       \
	X(CONTEXT_MODULES, "modules", NULL, KIND_NUMBER, 0, 0,                                   \
	  "how many modules of the runtime's list it has loaded")

COLUMNS(context, CONTEXT_COLUMNS, CONTEXT_LIST);

static const struct schema contexts_schema = {
	.name = "contexts",
	SCHEMA_COLUMNS(context_columns),
	.is_main = true,
	.lines = "AssemblyLoadContext: {address:016?<not known>}\n"
		 "    Type:            {type}\n    Name:            {name?<none>}\n"
		 "    IsCollectible:   {collectible?<not known>}\n"
		 "    IsUnloading:     {unloading?<not known>}\n"
		 "    Modules:         {modules}\n",
};
static const struct column module_of_columns[] = {
	{ "type", NULL, KIND_TYPE, 0, 0, "type of the object" },
	{ "module", NULL, KIND_ADDRESS, 0, 0, "the Module that defines it" },
	{ "path", NULL, KIND_TEXT, 0, 0, "file of that" },
};

SCHEMA(module_of, .lines = "Type:                {type}\n"
			   "Module:              {module:016?<not known>}\n"
			   "[?path File:                {path}\n]");

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

static uint64_t count_modules(struct call *call, uint64_t binder)
{
	struct module *const *modules;
	size_t count;
	uint64_t found = 0;
	struct hd_error ignored;
	if (!binder || module_list(call->heap->runtime, &modules, &count, &ignored) != HD_OK)
		return 0;
	for (size_t i = 0; i < count; i++) {
		struct module_facts facts;
		module_facts_read(call->heap->runtime, modules[i], &facts);
		found += facts.binder == binder;
	}
	return found;
}

static void context_cells(struct call *call, const struct load_context *context, struct cell *ret)
{
	size_t size;
	const char *type = type_name(call->heap->runtime, context->type, &size);
	ret[CONTEXT_OBJECT] = cell_number(context->object);
	ret[CONTEXT_TYPE] = cell_type(type, size, context->type->method_table);
	ret[CONTEXT_NAME] = cell_string(context->name);
	ret[CONTEXT_COLLECTIBLE] = cell_flag(context->is_collectible);
	ret[CONTEXT_UNLOADING] = cell_flag(context->is_unloading);
	if (context->binder)
		ret[CONTEXT_BINDER] = cell_number(context->binder);
	ret[CONTEXT_MODULES] = cell_number(count_modules(call, context->binder));
}

static enum hd_status write_load_contexts(struct call *call, const struct load_contexts *contexts)
{
	answer_table(&call->answer, &contexts_schema, &bare);
	for (size_t i = 0; i < contexts->rows_count; i++) {
		struct cell cells[CONTEXT_COLUMNS] = { 0 };
		if (!answer_wants_row(&call->answer))
			continue;
		context_cells(call, &contexts->rows[i], cells);
		answer_row(&call->answer, cells);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	if (!contexts->rows_count) {
		answer_remark(&call->answer,
			      "There is no AssemblyLoadContext object; the default one is made "
			      "when the program asks for it first.\n");
	}
	return HD_OK;
}

/*
 * Put the context that has loaded the module of @p facts into @p ret.  Where the binder does not lead to its object, all
 * objects are looked at.
 *
 * @param[out] ret To be given to load_contexts_deinit(), also on failure.
 */
static enum hd_status find_context(struct call *call, const struct module_facts *facts,
				   struct load_contexts *ret)
{
	enum module_context known;
	struct load_context found;
	TRY(load_context_of_module(call->heap, facts, &known, &found, call->err));
	if (known != MODULE_CONTEXT_FOUND)
		return load_contexts_read(call->heap, &call->job, ret, call->err);
	if (!PAGES_RESERVE(ret, rows)) {
		mem_free(found.name);
		return fail_nomem(call->err);
	}
	ret->rows[ret->rows_count++] = found;
	return HD_OK;
}

/* Write only what is proven: the object of a context has the binder of the module. */
static enum hd_status write_context_of(struct call *call, const struct object *object)
{
	HD_CLEANUP(load_contexts) struct load_contexts contexts = { 0 };
	struct runtime *runtime = call->heap->runtime;
	uint64_t address = type_home_module(runtime, object->type);
	const struct module *module = address ? module_find(runtime, address) : NULL;
	struct module_facts facts = { 0 };
	struct cell cells[CONTEXT_COLUMNS] = { 0 };
	size_t size;
	if (module)
		module_facts_read(runtime, module, &facts);
	TRY(find_context(call, &facts, &contexts));
	const char *type = type_name(runtime, object->type, &size);
	const struct cell of[] = {
		cell_type(type, size, object->type->method_table),
		address ? cell_number(address) : (struct cell){ 0 },
		cell_string(module ? module->path : NULL),
	};
	answer_record(&call->answer, &module_of_schema, of);
	const struct load_context *context = load_context_of(&contexts, facts.binder);
	answer_table(&call->answer, &contexts_schema, &bare);
	if (context && answer_wants_row(&call->answer)) {
		context_cells(call, context, cells);
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	if (context)
		return HD_OK;
	answer_remark(&call->answer, "AssemblyLoadContext: %s\n",
		      !facts.binder
			      ? "<not known: the runtime's binder of the module cannot be read>"
			      : "<not known: there is not exactly one object with the binder of "
				"the module; the default one is made when the program asks for it "
				"first>");
	call->findings = true;
	return HD_OK;
}

static enum hd_status run_dumpalc(struct call *call)
{
	HD_CLEANUP(load_contexts) struct load_contexts contexts = { 0 };
	struct object object = { 0 };
	if (call->words[0].given)
		TRY(call_heap_object(call, call->words[0].number, &object));
	if (object.type)
		return write_context_of(call, &object);
	TRY(load_contexts_read(call->heap, &call->job, &contexts, call->err));
	return write_load_contexts(call, &contexts);
}

COMMAND(dumpalc, .has_rows = true,
	.summary = "show which AssemblyLoadContext has loaded the type of an object",
	.description =
		"Without an object all contexts are listed, with the number of their modules. The\n"
		"context of a type is shown only if it is proven: its object and the runtime's\n"
		"PEAssembly of the module name the same binder. The status is 1 if it is not.\n",
	.example = "dumpalc 7f0fd5c0b448", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_MODULES, .words = { { "OBJECT", VALUE_ADDRESS, true } });
