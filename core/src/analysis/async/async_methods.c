/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_methods.h"

#include <string.h>

#include "inspect/async_name.h"
#include "inspect/suspended.h"
#include "util/alloc.h"
#include "util/text.h"

/* A method gets this name if the target lacks its page. */
#define UNKNOWN "<unknown async method>"

void async_methods_deinit(struct async_methods *methods)
{
	for (size_t i = 0; i < methods->rows_count; i++) {
		mem_free(methods->rows[i].name);
		mem_free(methods->rows[i].code);
	}
	pages_free(methods->rows, methods->rows_capacity, sizeof(*methods->rows));
	hash_index_deinit(&methods->index);
	*methods = (struct async_methods){ 0 };
}

static bool is_same_method(const void *arg, uint32_t index)
{
	const struct async_methods *methods = arg;
	const struct async_method_key *a = &methods->rows[index].key, *b = &methods->next;
	return a->machine == b->machine && a->method_desc == b->method_desc &&
	       a->resume_info == b->resume_info && a->owner == b->owner;
}

uint32_t async_methods_add(struct async_methods *methods, struct async_method_key key)
{
	methods->next = key;
	if (key.machine || key.method_desc)
		methods->next.resume_info = 0;
	if (!PAGES_RESERVE(methods, rows))
		return ASYNC_NO_METHOD;
	uint64_t hash = hash_mix(methods->next.method_desc, (uint64_t)(uintptr_t)key.machine);
	hash = hash_mix(hash, (uint64_t)(uintptr_t)key.owner);
	uint32_t row = hash_index_add(&methods->index, hash_mix(hash, methods->next.resume_info),
				      (uint32_t)methods->rows_count, is_same_method, methods);
	if (row == methods->rows_count) {
		methods->rows[methods->rows_count++] =
			(struct async_method){ .key = methods->next };
	}
	return row;
}

static void append_machine(struct text *text, struct runtime *runtime, const struct type *machine,
			   bool is_code)
{
	size_t size;
	const char *name = type_name(runtime, machine, &size);
	if (is_code || !async_method_append(text, name, size))
		text_append(text, name, size);
}

/* Keep a name in *@p kept. */
static const char *keep_name(struct text *text, char **kept)
{
	if (!text->failed)
		*kept = mem_strndup(text->bytes ? text->bytes : "", text->size);
	text_deinit(text);
	return *kept;
}

const char *async_methods_name(struct async_methods *methods, struct runtime *runtime, uint32_t row)
{
	struct async_method *method = &methods->rows[row];
	struct text text = { 0 };
	if (method->name)
		return method->name;
	if (method->key.machine) {
		append_machine(&text, runtime, method->key.machine, false);
	} else if (!async_code_append_name(&text, runtime, method->key.method_desc,
					   method->key.owner)) {
		text_puts(&text, UNKNOWN);
	}
	return keep_name(&text, &method->name);
}

const char *async_methods_code(struct async_methods *methods, struct runtime *runtime, uint32_t row)
{
	struct async_method *method = &methods->rows[row];
	struct text text = { 0 };
	if (method->code)
		return method->code;
	if (method->key.machine) {
		append_machine(&text, runtime, method->key.machine, true);
	} else if (!async_code_append(&text, runtime, method->key.method_desc, method->key.owner)) {
		text_puts(&text, UNKNOWN);
	}
	return keep_name(&text, &method->code);
}

static enum code_owner owner_of(struct async_methods *methods, struct runtime *runtime,
				uint32_t row)
{
	const struct async_method_key *key = &methods->rows[row].key;
	const char *name = async_methods_name(methods, runtime, row);
	if (!name || !*name || framework_owns(runtime, name, strlen(name)))
		return CODE_OF_FRAMEWORK;
	return key->machine ? code_owner_of_type(runtime, key->machine)
			    : code_owner_of_method(runtime, key->method_desc);
}

enum code_owner async_methods_owner(struct async_methods *methods, struct runtime *runtime,
				    uint32_t row)
{
	if (!methods->rows[row].has_owner) {
		methods->rows[row].owner = owner_of(methods, runtime, row);
		methods->rows[row].has_owner = true;
	}
	return methods->rows[row].owner;
}
