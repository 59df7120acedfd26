/* SPDX-License-Identifier: MIT */
/* name2ee and token2ee: a type or method by its name or token. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names/name_lookup.h"
#include "command/names/code_rows.h"
#include "command/table.h"
#include "gc/heap.h"
#include "util/alloc.h"

#define MATCH_LIST(X)                                                                     \
	X(MATCH_MODULE, "module", NULL, KIND_ADDRESS, 0, 0, "the Module that defines it") \
	X(MATCH_ASSEMBLY, "assembly", NULL, KIND_TEXT, 0, 0,                              \
	  "file of the module, else the name of its assembly")                            \
	X(MATCH_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0, "its metadata token")           \
	X(MATCH_MT, "mt", NULL, KIND_ADDRESS, 0, 0,                                       \
	  "MethodTable of the type, or of the method's type; null: not loaded")           \
	X(MATCH_CLASS, "ee_class", NULL, KIND_ADDRESS, 0, 0, "the EEClass of that")       \
	X(MATCH_METHOD_DESC, "method_desc", NULL, KIND_ADDRESS, 0, 0,                     \
	  "MethodDesc of the method; null: a type, or not loaded")                        \
	X(MATCH_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the type or method")        \
	X(MATCH_IS_TYPE, .heading = "is_type", .kind = KIND_FLAG) /**< text only */

COLUMNS(match, MATCH_COLUMNS, MATCH_LIST);

static const struct schema matches_schema = {
	.name = "matches",
	SCHEMA_COLUMNS(match_columns),
	.is_main = true,
	.lines = "--------------------------------------\n"
		 "Module:               {module:016}\n"
		 "Assembly:             {assembly?<not known>}\n"
		 "Token:                {token:016}\n"
		 "[?is_type MethodTable:          {mt:016?<not loaded yet>}\n"
		 "EEClass:              {ee_class:016?<not loaded yet>}|MethodDesc:           "
		 "{method_desc:016?<not loaded yet>}]\n"
		 "Name:                 {name?<not known>}\n",
};

static const char *file_of(const struct module *module)
{
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;
	const char *file = slash ? slash + 1 : module->path;
	return file && *file ? file : module->name;
}

/* Code of any instantiation of a generic method, or of a method of a generic type. */
static void write_instantiations(struct call *call, const struct named_entity *entity,
				 const struct method_bodies *bodies)
{
	struct runtime *runtime = call->heap->runtime;
	uint64_t last = 0;
	bool is_one = false;
	answer_table(&call->answer, &bodies_schema, NULL);
	for (size_t i = 0; i < bodies->rows_count; i++) {
		const struct method_body *body = &bodies->rows[i];
		if (body->method_desc != last)
			is_one = entity_is_method(runtime, entity, body->method_desc);
		last = body->method_desc;
		struct method method;
		if (!is_one || !method_read(runtime, last, &method))
			continue;
		const struct method_body *current = method_body_current(runtime, bodies, &method);
		write_body(call, body, current, current == body);
	}
	(void)answer_table_end(&call->answer);
}

static void write_code(struct call *call, const struct named_entity *entity,
		       const struct loaded_entity *loaded, const struct method_bodies *bodies)
{
	struct method method;
	uint64_t rows = call->answer.rows;
	if (loaded->is_generic) {
		write_instantiations(call, entity, bodies);
	} else if (loaded->method_desc &&
		   method_read(call->heap->runtime, loaded->method_desc, &method)) {
		write_bodies(call, bodies, &method);
	} else {
		answer_table(&call->answer, &bodies_schema, NULL);
		(void)answer_table_end(&call->answer);
	}
	if (rows == call->answer.rows && loaded->method_desc)
		answer_remark(&call->answer, "Not JITTED yet.\n");
}

static void write_match(struct call *call, const struct named_entity *entity,
			const struct method_bodies *bodies)
{
	struct runtime *runtime = call->heap->runtime;
	struct loaded_entity loaded = entity_load(runtime, entity);
	HD_CLEANUP(text) struct text name = { 0 };
	bool is_type = entity->token >> 24 == 2;
	if (loaded.method_desc) {
		runtime_method_signature(runtime, loaded.method_desc, &name);
	} else if (is_type && loaded.type) {
		size_t size;
		const char *bytes = type_name(runtime, loaded.type, &size);
		text_append(&name, bytes, size);
	} else {
		entity_name(entity, &name);
	}
	struct cell cells[MATCH_COLUMNS] = {
		[MATCH_MODULE] = cell_number(entity->module->address),
		[MATCH_ASSEMBLY] = cell_string(file_of(entity->module)),
		[MATCH_TOKEN] = cell_number(entity->token),
		[MATCH_NAME] = cell_text(name.bytes, name.size),
		[MATCH_IS_TYPE] = cell_flag(entity->token >> 24 == 2),
	};
	if (loaded.type) {
		cells[MATCH_MT] = cell_number(loaded.type->method_table);
		cells[MATCH_CLASS] = cell_number(loaded.type->links.ee_class);
	}
	if (loaded.method_desc)
		cells[MATCH_METHOD_DESC] = cell_number(loaded.method_desc);
	answer_row_begin(&call->answer, cells);
	if (!is_type)
		write_code(call, entity, &loaded, bodies);
	answer_row_end(&call->answer);
	call->out.text.failed |= name.failed;
}

/* Nothing was found: why? */
static enum hd_status nothing_found(struct call *call, const struct named_entities *entities,
				    const char *module, const char *what)
{
	if (!entities->modules) {
		return fail(call->err, HD_ERR_NOTFOUND, 0,
			    "no module \"%.200s\"; sql \"SELECT name FROM modules\" lists them",
			    module);
	}
	if (entities->unnamed == entities->modules) {
		return fail(call->err, HD_ERR_NOTFOUND, 0,
			    "the metadata of \"%.200s\" is not there; info says what to do",
			    module);
	}
	if (strcmp(module, "*") == 0) {
		return fail(call->err, HD_ERR_NOTFOUND, 0,
			    "no type or method \"%.200s\" in any module", what);
	}
	return fail(call->err, HD_ERR_NOTFOUND, 0, "no type or method \"%.200s\" in \"%.200s\"",
		    what, module);
}

static enum hd_status write_matches(struct call *call, const struct named_entities *entities,
				    const char *module, const char *what)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	bool has_methods = false;
	if (!entities->rows_count)
		return nothing_found(call, entities, module, what);
	for (size_t i = 0; i < entities->rows_count; i++)
		has_methods |= entities->rows[i].token >> 24 != 2;
	if (has_methods)
		TRY(method_bodies_read(call->heap->runtime, &call->job, &bodies, call->err));
	answer_table(&call->answer, &matches_schema, &options);
	for (size_t i = 0; i < entities->rows_count; i++) {
		if (answer_wants_row(&call->answer))
			write_match(call, &entities->rows[i], &bodies);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	write_bodies_end(call, &bodies);
	return HD_OK;
}

static enum hd_status run_name2ee(struct call *call)
{
	const char *first = call->words[0].text, *name = call->words[1].text;
	const char *mark = strchr(first, '!');
	if (!call->words[1].given && (!mark || mark == first || !mark[1])) {
		return call_usage(call,
				  "a module and a name are needed: MODULE NAME or MODULE!NAME");
	}
	if (!call->words[1].given)
		name = mark + 1;
	HD_FREE char *module =
		mem_strndup(first, call->words[1].given ? strlen(first) : (size_t)(mark - first));
	TRY_MEMORY(module, call->err);
	HD_CLEANUP(named_entities) struct named_entities entities = { 0 };
	TRY(names_find(call->heap->runtime, module, name, &call->job, &entities, call->err));
	return write_matches(call, &entities, module, name);
}

static enum hd_status run_token2ee(struct call *call)
{
	const char *module = call->words[0].text;
	uint64_t token = call->words[1].number;
	if (token >> 24 != 0x02 && token >> 24 != 0x06) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "token %" PRIx64
			    " is not one of a type (02......) or method (06......)",
			    token);
	}
	HD_CLEANUP(named_entities) struct named_entities entities = { 0 };
	char what[32];
	TRY(tokens_find(call->heap->runtime, module, (uint32_t)token, &entities, call->err));
	(void)snprintf(what, sizeof(what), "%08" PRIx64, token);
	return write_matches(call, &entities, module, what);
}

COMMAND(name2ee, .has_rows = true, .summary = "find a type or method of a module by its name",
	.description =
		"MODULE is the name of an assembly or of its file; * is all modules. NAME is the full\n"
		"name of a type (Ns.Outer+Inner) or of a method (Ns.Type.Method), as the metadata has\n"
		"it; `1 after the name of a generic type may be left out. A method is shown with all\n"
		"code that it was compiled to.\n",
	.example = "name2ee System.Private.CoreLib System.String.Concat",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME | NEEDS_METADATA,
	.words = { { "MODULE", VALUE_TEXT, false }, { "NAME", VALUE_TEXT, true } });

COMMAND(token2ee, .has_rows = true,
	.summary = "find a type or method of a module by its metadata token",
	.description = "The answer is that of name2ee. MODULE may be *, for all modules.\n",
	.example = "token2ee System.Private.CoreLib 02000002", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA,
	.words = { { "MODULE", VALUE_TEXT, false }, { "TOKEN", VALUE_ADDRESS, false } });
