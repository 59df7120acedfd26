/* SPDX-License-Identifier: MIT */
/* The arguments and locals of suspended async methods. */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "inspect/saved_variables.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/text.h"

/* Words of a Continuation that are looked at. */
#define WORDS_MAX 4096u

/* The fields of a Continuation that are made. */
struct saved_fields {
	struct async_graph *graph;
	const struct async_node *node;
	struct object holder;
	struct field_list list;
	size_t capacity;
	bool has_name
		[WORDS_MAX]; /* by word of the holder: is it a part of a variable with a name? */
};

static bool add_field(struct saved_fields *saved, const char *name, const char *type_name,
		      struct field field)
{
	field.name = mem_strndup(name, strlen(name));
	field.type_name = mem_strndup(type_name, strlen(type_name));
	if (field.name && field.type_name && saved->list.count < saved->capacity) {
		saved->list.rows[saved->list.count++] = field;
		return true;
	}
	mem_free(field.name);
	mem_free(field.type_name);
	return false;
}

static bool reserve_fields(struct saved_fields *saved, size_t count)
{
	size_t words = (size_t)(saved->holder.size / 8);
	saved->capacity = count + (words < WORDS_MAX ? words : WORDS_MAX);
	saved->list.rows = mem_calloc(saved->capacity + 1, sizeof(*saved->list.rows));
	return saved->list.rows != NULL;
}

/* Remember the words of a variable. */
static void note_words(struct saved_fields *saved, uint64_t offset, uint64_t size)
{
	for (uint64_t word = offset / 8; word * 8 < offset + size && word < WORDS_MAX; word++)
		saved->has_name[word] = true;
}

static bool add_variable(struct saved_fields *saved, const struct saved_variables *variables,
			 size_t number)
{
	struct runtime *runtime = saved->graph->heap->runtime;
	const struct method_variable *variable = &variables->method.rows[number];
	uint32_t offset = variables->offsets[number];
	HD_CLEANUP(text) struct text name = { 0 };
	saved_variable_name(variables, number, &name);
	note_words(saved, offset, saved_variable_size(runtime, variables, number));
	bool is_added =
		!name.failed && add_field(saved, name.bytes ? name.bytes : "", variable->type_name,
					  (struct field){ .type = variable->type,
							  .declaring = saved->holder.type,
							  .offset = offset - OBJECT_FIELDS,
							  .element_type = saved_variable_element(
								  runtime, variables, number) });
	return is_added;
}

/* The variables that the debug info says are saved. */
static enum hd_status read_variables(struct saved_fields *saved, struct hd_error *err)
{
	uint64_t begin = saved->node->fields - saved->holder.address;
	HD_CLEANUP(saved_variables) struct saved_variables variables = { 0 };
	TRY(saved_variables_read(saved->graph->heap->runtime, saved->node->place, &variables, err));
	bool is_made = reserve_fields(saved, variables.method.count);
	for (size_t i = 0; i < variables.method.count && is_made; i++) {
		if (saved_variable_is_there(&variables, i) && variables.offsets[i] >= begin &&
		    variables.offsets[i] < saved->holder.size)
			is_made = add_variable(saved, &variables, i);
	}
	return is_made ? HD_OK : fail_nomem(err);
}

/* References that have no names: what only the compiler knows, and all of precompiled code. */
static enum hd_status read_references(struct saved_fields *saved, struct hd_error *err)
{
	struct runtime *runtime = saved->graph->heap->runtime;
	HD_CLEANUP(window) struct window window = { .memory = saved->graph->heap->memory };
	struct references references;
	struct reference reference;
	bool is_made = true;
	references_begin(&references, &window, &saved->holder);
	while (is_made && references_next(&references, &reference)) {
		struct object object;
		uint64_t word = (reference.slot - saved->holder.address) / 8;
		if (reference.slot < saved->node->fields || word >= WORDS_MAX ||
		    saved->has_name[word])
			continue;
		bool is_there = member_object(saved->graph->members, reference.value, &object);
		is_made = add_field(
			saved, "<saved>", is_there ? type_name(runtime, object.type, NULL) : "",
			(struct field){ .type = is_there ? object.type : NULL,
					.declaring = saved->holder.type,
					.offset = (uint32_t)(reference.slot -
							     saved->holder.address - OBJECT_FIELDS),
					.element_type = ELEMENT_CLASS });
	}
	return is_made ? HD_OK : fail_nomem(err);
}

static enum hd_status read_saved(struct saved_fields *saved, struct hd_error *err)
{
	if (!member_object(saved->graph->members, saved->node->holder, &saved->holder))
		return HD_OK;
	TRY(read_variables(saved, err));
	return read_references(saved, err);
}

enum hd_status async_node_fields(struct async_graph *graph, const struct async_node *node,
				 struct field_list *ret, uint64_t *ret_base, struct hd_error *err)
{
	struct saved_fields saved = { .graph = graph, .node = node };
	if (!node->is_runtime) {
		*ret_base = node->fields;
		return field_list_read(graph->heap->runtime, node->machine, ret, err);
	}
	enum hd_status status = read_saved(&saved, err);
	if (status != HD_OK) {
		field_list_deinit(&saved.list);
		return status;
	}
	*ret_base = node->holder + OBJECT_FIELDS;
	*ret = saved.list;
	return HD_OK;
}
