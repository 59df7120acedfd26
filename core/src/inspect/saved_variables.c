/* SPDX-License-Identifier: MIT */
#include "inspect/saved_variables.h"

#include "inspect/value.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/saved_variables.h"
#include "runtime/coreclr/code/source.h"
#include "util/alloc.h"
#include "util/text.h"

/*
 * The BaseSize of a struct counts this besides its fields: the header and the MethodTable of its
 * box.
 */
#define BOX_OVERHEAD 16u

void saved_variables_deinit(struct saved_variables *saved)
{
	method_variables_deinit(&saved->method);
	mem_free(saved->offsets);
	*saved = (struct saved_variables){ 0 };
}

enum hd_status saved_variables_read(struct runtime *runtime, uint64_t place,
				    struct saved_variables *ret, struct hd_error *err)
{
	struct saved_variables saved = { 0 };
	uint64_t *budget = coreclr_debug_budget(runtime);
	struct code_info code;
	uint32_t il = IL_UNKNOWN;
	TRY_MEMORY(budget, err);
	if (!place || !runtime_code_at(runtime, place, &code)) {
		*ret = saved;
		return HD_OK;
	}
	(void)runtime_il_at(runtime, &code, place, budget, &il);
	TRY(method_variables_read(runtime, code.method_desc, il, &saved.method, err));
	saved.offsets = mem_calloc(saved.method.count + 1, sizeof(*saved.offsets));
	if (!saved.offsets) {
		saved_variables_deinit(&saved);
		return fail_nomem(err);
	}
	(void)runtime_saved_variables(runtime, &code, place, budget, saved.offsets,
				      saved.method.count);
	*ret = saved;
	return HD_OK;
}

bool saved_variable_is_there(const struct saved_variables *saved, size_t number)
{
	return saved->offsets[number] != SAVED_NOWHERE && !saved->method.rows[number].is_hidden;
}

void saved_variable_name(const struct saved_variables *saved, size_t number, struct text *text)
{
	const char *name = saved->method.rows[number].name;
	size_t arguments = saved->method.argument_count;
	if (name) {
		text_puts(text, name);
	} else if (number < arguments) {
		text_printf(text, "argument %zu", number);
	} else {
		text_printf(text, "local %zu", number - arguments);
	}
}

uint8_t saved_variable_element(struct runtime *runtime, const struct saved_variables *saved,
			       size_t number)
{
	const struct method_variable *variable = &saved->method.rows[number];
	if (variable->element_type == ELEMENT_VALUE && variable->type)
		return type_storage(runtime, variable->type);
	return variable->element_type ? variable->element_type : ELEMENT_U;
}

uint64_t saved_variable_size(struct runtime *runtime, const struct saved_variables *saved,
			     size_t number)
{
	const struct type *type = saved->method.rows[number].type;
	uint8_t element = saved_variable_element(runtime, saved, number);
	if (element == ELEMENT_VALUE && type && type->base_size > BOX_OVERHEAD)
		return type->base_size - BOX_OVERHEAD;
	unsigned int size = element_size(element);
	return size ? size : 8;
}
