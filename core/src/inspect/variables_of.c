/* SPDX-License-Identifier: MIT */
#include "inspect/variables_of.h"

#include <string.h>

#include "inspect/async_name.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/type.h"
#include "util/text.h"

#define CLOSURE "+<>c__DisplayClass"
/* Lambdas of one class that are looked at: the first that has a name tells. */
#define METHODS_MAX 1000u
#define MD_NAME     3u

/* The method that a lambda "<Place>b__0", or a local function "<Place>g__Inner|0", is in; false: it is another method. */
static bool outer_method(const char *name, const char **ret, size_t *ret_size)
{
	size_t depth = 0, i = 0;
	for (; name[i]; i++) {
		depth += name[i] == '<';
		if (name[i] == '>' && !--depth)
			break;
	}
	*ret = name + 1;
	*ret_size = i - 1;
	return *name == '<' && i > 1 && name[i] &&
	       (strncmp(name + i, ">b__", 4) == 0 || strncmp(name + i, ">g__", 4) == 0);
}

static void append_lambda_method(struct text *text, struct runtime *runtime,
				 const struct type *type)
{
	const struct module *module =
		type ? module_find(runtime, type_home_module(runtime, type)) : NULL;
	uint32_t end, at;
	if (!module || !module->metadata || !(type->token & 0x00ffffff))
		return;
	at = metadata_members(module->metadata, MD_METHOD, type->token & 0x00ffffff, &end);
	for (uint32_t i = 0; at < end && i < METHODS_MAX; i++, at++) {
		uint32_t rid = metadata_member(module->metadata, MD_METHOD, at);
		const char *name =
			metadata_string(module->metadata,
					metadata_column(module->metadata, MD_METHOD, rid, MD_NAME));
		const char *outer;
		size_t size;
		if (!rid || !outer_method(name, &outer, &size))
			continue;
		text_puts(text, ".");
		text_append(text, outer, size);
		return;
	}
}

static void append_class(struct text *text, const char *name, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_append(text, name[i] == '+' ? "." : name + i, 1);
}

enum variables_kind variables_of_append(struct text *text, struct runtime *runtime,
					const struct type *type, const char *name, size_t size)
{
	size_t machine_size;
	const char *machine = async_box_machine(name, size, &machine_size);
	if (machine) {
		return async_method_append(text, machine, machine_size) ? VARIABLES_CALL
									: VARIABLES_NONE;
	}
	const char *closure = memmem(name, size, CLOSURE, strlen(CLOSURE));
	const char *arguments = memchr(name, '<', size);
	/* Else it is in the arguments of another class; an array ends with a bracket. */
	bool is_whole = closure && arguments == closure + 1 && name[size - 1] != ']';
	bool is_array = size && name[size - 1] == ']';
	if (!is_array && async_method_append(text, name, size))
		return VARIABLES_STATE;
	if (!is_whole)
		return VARIABLES_NONE;
	append_class(text, name, (size_t)(closure - name));
	append_lambda_method(text, runtime, type);
	return VARIABLES_CLOSURE;
}
