/* SPDX-License-Identifier: MIT */
/* Names and types of arguments and locals (ECMA-335 II.22.33 Param, II.23.2.6 LocalVarSig, II.25.4). */
#include "runtime/coreclr/code/method_variables.h"

#include <inttypes.h>
#include <string.h>

#include "mem/memory.h"
#include "metadata/pdb.h"
#include "runtime/coreclr/code/method_types.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "util/alloc.h"

/* The most variables that a method may have (II.23.2.6: 0xfffe locals). */
#define VARIABLES_MAX 0x10000u

/* The header of a method's code (II.25.4). */
#define BODY_FORMAT     3u
#define BODY_FAT        3u
#define BODY_LOCALS     8u
#define TOKEN_TABLE     0xff000000u
#define TOKEN_SIGNATURE 0x11000000u

/* Columns. */
#define METHOD_RVA     0u
#define METHOD_PARAMS  5u
#define PARAM_SEQUENCE 1u
#define PARAM_NAME     2u

/* A method whose variables are read. */
struct reading {
	struct runtime *runtime;
	struct method method;
	struct method_variables *variables;
};

static bool is_struct(const struct type *type)
{
	return type->category >= CATEGORY_VALUE && type->category <= CATEGORY_TRUE_PRIMITIVE;
}

/* Skip what does not change how a variable is stored. */
static bool skip_local_modifiers(struct signature *at)
{
	uint32_t token;
	while (at->at != at->end) {
		switch (*at->at) {
		case ELEMENT_MODREQ:
		case ELEMENT_MODOPT:
			at->at++;
			if (!signature_next_number(at, &token))
				return false;
			break;
		case ELEMENT_MODINTERNAL:
			if (at->end - at->at < 10)
				return false;
			at->at += 10;
			break;
		case ELEMENT_PINNED:
			at->at++;
			break;
		default:
			return true;
		}
	}
	return false;
}

/* The type of a generic parameter, as the code has it. */
static const struct type *argument_type(const struct reading *reading, bool is_method,
					uint32_t number)
{
	struct runtime *runtime = reading->runtime;
	uint64_t handle;
	if (!reading->method.rid)
		return NULL;
	struct type_arguments arguments = is_method ? method_arguments(runtime, &reading->method)
						    : type_arguments(runtime, reading->method.type);
	if (number >= arguments.count ||
	    !memory_u64(runtime->memory, arguments.address + 8 * (uint64_t)number, &handle) ||
	    handle & 2)
		return NULL;
	return type_find(runtime, handle);
}

/* The element type of a variable whose type is @p type. */
static uint8_t element_of_type(const struct type *type)
{
	if (!type)
		return 0;
	return is_struct(type) ? ELEMENT_VALUE : ELEMENT_CLASS;
}

/* The type that @p name or the token at @p at names; a TypeDef has no other name. */
static const struct type *named_type(const struct reading *reading, struct signature *at,
				     uint8_t element, const char *name)
{
	struct runtime *runtime = reading->runtime;
	const struct module *module = reading->method.module;
	uint32_t token = 0;
	bool is_own = module && element != ELEMENT_GENERIC_INST &&
		      signature_next_number(at, &token) && !(token & 3);
	if (is_own)
		return type_find(runtime, module_type_def(runtime, module, token >> 2));
	return *name ? type_by_name(runtime, name, module ? module->address : 0) : NULL;
}

/* The type whose handle comes next: in signatures that the runtime has made. */
static const struct type *handle_type(const struct reading *reading, struct signature at)
{
	return at.end - at.at >= 8 ? type_find(reading->runtime, load_u64(at.at)) : NULL;
}

/* How a variable of the type at @p at is stored; its name is known. */
static void find_storage(const struct reading *reading, struct signature at, const char *name,
			 uint8_t *ret_element, const struct type **ret_type)
{
	uint8_t element = 0, kind = 0;
	uint32_t number;
	*ret_element = 0;
	*ret_type = NULL;
	if (!skip_local_modifiers(&at) || !signature_next_byte(&at, &element))
		return;
	switch (element) {
	case ELEMENT_GENERIC_INST:
		if (!signature_next_byte(&at, &kind))
			return;
		*ret_type = named_type(reading, &at, element, name);
		if (kind == ELEMENT_INTERNAL) {
			*ret_element = element_of_type(handle_type(reading, at));
		} else if (kind == ELEMENT_CLASS || kind == ELEMENT_VALUE) {
			*ret_element = kind;
		}
		break;
	case ELEMENT_CLASS:
	case ELEMENT_VALUE:
		*ret_element = element;
		*ret_type = named_type(reading, &at, element, name);
		break;
	case ELEMENT_VAR:
	case ELEMENT_MVAR:
		if (signature_next_number(&at, &number))
			*ret_type = argument_type(reading, element == ELEMENT_MVAR, number);
		*ret_element = element_of_type(*ret_type);
		break;
	case ELEMENT_INTERNAL:
		*ret_type = handle_type(reading, at);
		*ret_element = element_of_type(*ret_type);
		break;
	default:
		if (element_size(element) || element == ELEMENT_TYPED_BYREF)
			*ret_element = element;
		break;
	}
}

/* The type of a variable; it is the next of @p signature.  false: memory is exhausted. */
static bool read_variable(const struct reading *reading, struct signature *signature,
			  struct method_variable *row, bool *ret_is_sound)
{
	struct signature at = *signature;
	HD_CLEANUP(text) struct text name = { 0 };
	*ret_is_sound = signature_skip_type(signature);
	if (!*ret_is_sound)
		return true;
	at.end = signature->at;
	method_type_name(reading->runtime, &reading->method, at.at, (uint32_t)(at.end - at.at),
			 &name);
	bool is_by_ref = skip_local_modifiers(&at) && *at.at == ELEMENT_BYREF;
	if (is_by_ref) {
		at.at++;
		row->element_type = ELEMENT_BYREF;
		/* "System.Int32&" */
		char *target = name.size ? mem_strndup(name.bytes, name.size - 1) : NULL;
		find_storage(reading, at, target ? target : "", &row->target_type, &row->type);
		mem_free(target);
	} else {
		find_storage(reading, at, name.size ? name.bytes : "", &row->element_type,
			     &row->type);
	}
	row->type_name = mem_strndup(name.size ? name.bytes : "", name.size);
	bool ok = row->type_name && !name.failed;
	return ok;
}

static bool set_name(struct method_variable *row, const char *name)
{
	row->name = mem_strndup(name, strlen(name));
	return row->name != NULL;
}

/* The argument that the signature does not mention. */
static bool read_this(const struct reading *reading, struct method_variable *row)
{
	const struct type *type = reading->method.type;
	size_t size = 0;
	const char *name = type ? type_name(reading->runtime, type, &size) : "";
	HD_CLEANUP(text) struct text text = { 0 };
	text_append(&text, name, size);
	row->element_type = ELEMENT_CLASS;
	row->type = type;
	if (type && is_struct(type)) {
		row->element_type = ELEMENT_BYREF;
		row->target_type = ELEMENT_VALUE;
		text_puts(&text, "&");
	}
	row->type_name = mem_strndup(text.bytes ? text.bytes : "", text.size);
	bool ok = row->type_name && !text.failed;
	return ok && set_name(row, "this");
}

static bool append_variables(struct method_variables *variables, size_t count)
{
	struct method_variable *rows =
		mem_realloc(variables->rows, variables->count + count + 1, sizeof(*rows));
	if (!rows)
		return false;
	variables->rows = rows;
	memset(rows + variables->count, 0, count * sizeof(*rows));
	return true;
}

/* Read @p count types; the first one that is damaged ends the list. */
static bool read_types(struct reading *reading, struct signature *signature, uint32_t count)
{
	struct method_variables *variables = reading->variables;
	/* Each has at least a byte. */
	if (count > (size_t)(signature->end - signature->at))
		count = (uint32_t)(signature->end - signature->at);
	if (!append_variables(variables, count))
		return false;
	bool is_sound = true;
	for (uint32_t i = 0; i < count && is_sound; i++) {
		struct method_variable *row = &variables->rows[variables->count];
		if (!read_variable(reading, signature, row, &is_sound)) {
			mem_free(row->type_name);
			return false;
		}
		variables->count += is_sound;
	}
	return true;
}

/* The table that lists of parameters are rows of: ParamPtr leads to Param, if it is in use. */
static enum md_table param_list(const struct metadata *metadata)
{
	return metadata->has_pointer_tables && metadata->tables[MD_PARAM_PTR].rows ? MD_PARAM_PTR
										   : MD_PARAM;
}

/* Names of the arguments: rows of Param, of which 0 is the result. */
static bool read_argument_names(const struct reading *reading, size_t first)
{
	const struct method *method = &reading->method;
	struct method_variables *variables = reading->variables;
	const struct metadata *metadata = method->rid ? method->module->metadata : NULL;
	if (!metadata)
		return true;
	uint32_t at = metadata_column(metadata, MD_METHOD, method->rid, METHOD_PARAMS);
	enum md_table list = param_list(metadata);
	uint32_t end =
		method->rid < metadata->tables[MD_METHOD].rows
			? metadata_column(metadata, MD_METHOD, method->rid + 1, METHOD_PARAMS)
			: metadata->tables[list].rows + 1;
	for (size_t i = 0; at && at < end && i <= VARIABLES_MAX; at++, i++) {
		uint32_t row = list == MD_PARAM ? at : metadata_column(metadata, list, at, 0);
		uint32_t sequence = metadata_column(metadata, MD_PARAM, row, PARAM_SEQUENCE);
		const char *name = metadata_string(
			metadata, metadata_column(metadata, MD_PARAM, row, PARAM_NAME));
		size_t index = first + sequence - 1;
		if (sequence && *name && index < variables->argument_count &&
		    !variables->rows[index].name && !set_name(&variables->rows[index], name))
			return false;
	}
	return true;
}

static bool read_arguments(struct reading *reading)
{
	struct method_variables *variables = reading->variables;
	struct stored_signature stored;
	struct signature signature;
	uint8_t convention;
	uint32_t generics, count;
	if (!method_signature_find(reading->runtime, &reading->method, &stored, &signature) ||
	    !signature_next_byte(&signature, &convention) ||
	    (convention & CALL_GENERIC && !signature_next_number(&signature, &generics)) ||
	    !signature_next_number(&signature, &count) || count > VARIABLES_MAX ||
	    !signature_skip_type(&signature))
		return true;
	if (convention & CALL_HAS_THIS && !(convention & CALL_EXPLICIT_THIS)) {
		if (!append_variables(variables, 1))
			return false;
		bool ok = read_this(reading, &variables->rows[0]);
		variables->count = 1;
		if (!ok)
			return false;
	}
	size_t first = variables->count;
	bool ok = read_types(reading, &signature, count);
	variables->argument_count = variables->count;
	/* Where types are damaged, the numbers of the locals are not known. */
	if (ok && variables->count < first + count)
		variables->no_locals = "the method's signature is damaged";
	return ok && read_argument_names(reading, first);
}

/*
 * RID of the signature of the locals: in the header of the method's IL; the PDB has it, too, for
 * cores without IL.
 */
static bool find_locals(const struct reading *reading, const struct pdb *pdb, uint32_t *ret)
{
	struct runtime *runtime = reading->runtime;
	const struct method *method = &reading->method;
	uint32_t rva =
		metadata_column(method->module->metadata, MD_METHOD, method->rid, METHOD_RVA);
	uint64_t body = rva ? module_rva(runtime, method->module, rva) : 0;
	uint8_t head;
	uint32_t token;
	*ret = 0;
	if (body && memory_u8(runtime->memory, body, &head)) {
		if ((head & BODY_FORMAT) != BODY_FAT)
			return true;
		if (memory_u32(runtime->memory, body + BODY_LOCALS, &token)) {
			*ret = (token & TOKEN_TABLE) == TOKEN_SIGNATURE ? token & ~TOKEN_TABLE : 0;
			return !token || *ret;
		}
	}
	return pdb && pdb_local_signature(pdb, method->rid, ret);
}

/* Names of locals; those without one are not in scope, or not in the source. */
static bool read_local_names(struct reading *reading, const struct pdb *pdb, uint32_t il,
			     uint64_t *budget)
{
	struct method_variables *variables = reading->variables;
	size_t first = variables->argument_count, count = variables->count - first;
	HD_FREE const char **names = mem_calloc(count + 1, sizeof(*names));
	bool ok = names != NULL;
	if (ok && il != IL_UNKNOWN &&
	    pdb_local_names(pdb, reading->method.rid, il, budget, names, count)) {
		variables->has_names = true;
		for (size_t i = 0; i < count && ok; i++) {
			variables->rows[first + i].is_hidden = !names[i];
			ok = !names[i] || set_name(&variables->rows[first + i], names[i]);
		}
	}
	return ok;
}

static bool read_locals(struct reading *reading, uint32_t il)
{
	struct runtime *runtime = reading->runtime;
	struct method_variables *variables = reading->variables;
	const struct module *module = reading->method.module;
	struct signature signature = { 0 };
	uint64_t *budget = NULL;
	uint32_t rid, size, count;
	uint8_t kind;
	if (variables->no_locals)
		return true;
	if (!reading->method.rid) {
		variables->no_locals = "the method was made at run time";
		return true;
	}
	const struct pdb *pdb = runtime_pdb(runtime, module, &budget);
	if (!find_locals(reading, pdb, &rid)) {
		variables->no_locals = "the target does not have the method's IL";
		return true;
	}
	if (!rid)
		return true;
	const uint8_t *bytes =
		metadata_blob(module->metadata,
			      metadata_column(module->metadata, MD_STAND_ALONE_SIG, rid, 0), &size);
	signature = (struct signature){ bytes, bytes ? bytes + size : NULL };
	if (!signature_next_byte(&signature, &kind) || kind != SIGNATURE_LOCALS ||
	    !signature_next_number(&signature, &count) || count > VARIABLES_MAX) {
		variables->no_locals = "the signature of the method's locals is damaged";
		return true;
	}
	return read_types(reading, &signature, count) &&
	       (!pdb || read_local_names(reading, pdb, il, budget));
}

enum hd_status method_variables_read(struct runtime *runtime, uint64_t method_desc, uint32_t il,
				     struct method_variables *ret, struct hd_error *err)
{
	struct method_variables variables = { 0 };
	struct reading reading = { .runtime = runtime, .variables = &variables };
	if (method_read(runtime, method_desc, &reading.method) &&
	    (!read_arguments(&reading) || !read_locals(&reading, il))) {
		method_variables_deinit(&variables);
		return fail_nomem(err);
	}
	*ret = variables;
	return HD_OK;
}

void method_variables_touch(struct runtime *runtime, uint64_t method_desc)
{
	struct reading reading = { .runtime = runtime };
	uint32_t rid;
	if (method_read(runtime, method_desc, &reading.method) && reading.method.rid)
		(void)find_locals(&reading, NULL, &rid);
}

void method_variables_deinit(struct method_variables *variables)
{
	for (size_t i = 0; i < variables->count; i++) {
		mem_free(variables->rows[i].name);
		mem_free(variables->rows[i].type_name);
	}
	mem_free(variables->rows);
	*variables = (struct method_variables){ 0 };
}
