/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/code/code_names.h"

#include <string.h>

#include "metadata/il.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "runtime/coreclr/modules/token_name.h"
#include "util/alloc.h"

/* Column of the table of methods (ECMA-335 II.22.26). */
#define METHOD_ROW_RVA 0u
/* Most bytes of the code of a method that are read here. */
#define CODE_READ_MAX ((uint32_t)1 << 20)

static uint64_t names_in_code(struct runtime *runtime, const struct method *method,
			      const uint8_t *code, uint32_t size, const struct code_search *search)
{
	struct il_instruction instruction;
	HD_CLEANUP(text) struct text name = { 0 };
	uint64_t found = 0;
	for (uint32_t at = 0; il_next(code, size, at, &instruction); at += instruction.size) {
		name.size = 0;
		if (instruction.opcode && instruction.opcode->operand == IL_TOKEN &&
		    token_name(runtime, method->module, (uint32_t)instruction.number, &name) &&
		    name.size)
			found |= search->match(search->arg, name.bytes);
	}
	return found;
}

static uint64_t names_of(struct runtime *runtime, const struct method *method,
			 const struct code_search *search)
{
	struct il_body body;
	uint64_t place = 0, found = UINT64_MAX;
	if (method->rid && method->module && method->module->metadata) {
		uint32_t rva = metadata_column(method->module->metadata, MD_METHOD, method->rid,
					       METHOD_ROW_RVA);
		module_prove(runtime, method->module->address);
		place = rva ? module_rva(runtime, method->module, rva) : 0;
	}
	if (!place || !il_body_read(runtime->memory, place, &body) ||
	    body.code_size > CODE_READ_MAX)
		return UINT64_MAX;
	HD_FREE uint8_t *code = mem_alloc((size_t)body.code_size + 1, 1);
	if (code && memory_read(runtime->memory, body.code, code, body.code_size))
		found = names_in_code(runtime, method, code, body.code_size, search);
	return found;
}

uint64_t code_names_of_method(struct runtime *runtime, uint64_t method_desc,
			      const struct code_search *search)
{
	struct method method;
	return method_read(runtime, method_desc, &method) ? names_of(runtime, &method, search)
							  : UINT64_MAX;
}

uint64_t code_names_of_machine(struct runtime *runtime, const struct type *machine,
			       const struct code_search *search)
{
	struct method_list list;
	struct method method;
	method_list_begin(&list, runtime, machine);
	while (method_list_next(&list, &method)) {
		if (method.name && strcmp(method.name, "MoveNext") == 0)
			return names_of(runtime, &method, search);
	}
	return UINT64_MAX;
}
