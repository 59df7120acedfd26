/* SPDX-License-Identifier: MIT */
/* Finds the name of an async method, who declares it, and its arguments and locals. */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "inspect/saved_variables.h"
#include "inspect/suspended.h"
#include "runtime/coreclr/code/method.h"
#include "util/alloc.h"
#include "util/text.h"

/* A field that the compiler names (Roslyn, GeneratedNames.cs). */
#define THIS_FIELD "<>4__this"

/* ECMA-335 II.22.26: the flags of a row of MethodDef, and the one of static methods. */
#define METHOD_FLAGS  2u
#define METHOD_STATIC 0x10u

/* Methods of a chain that are looked at for one of the program. */
#define OWN_STEPS_MAX 64u

const char *async_node_name(struct async_graph *graph, const struct async_node *node)
{
	const char *name = async_methods_name(&graph->methods, graph->heap->runtime, node->method);
	graph->failed |= !name;
	return name ? name : "";
}

enum code_owner async_node_owner(struct async_graph *graph, const struct async_node *node)
{
	(void)async_node_name(graph, node); /* tells whether memory is left */
	return async_methods_owner(&graph->methods, graph->heap->runtime, node->method);
}

bool async_call_is_limited(const struct async_graph *graph, uint32_t row)
{
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < OWN_STEPS_MAX; i++) {
		if (graph->rows[row].is_limited)
			return true;
		row = graph->rows[row].next;
	}
	return false;
}

uint32_t async_innermost_own(struct async_graph *graph, uint32_t row)
{
	uint32_t found = ASYNC_NO_NODE;
	enum code_owner best = CODE_OF_LIBRARY;
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < OWN_STEPS_MAX; i++) {
		enum code_owner owner = async_node_owner(graph, &graph->rows[row]);
		if (owner != CODE_OF_FRAMEWORK && owner >= best) {
			found = row;
			best = owner;
		}
		row = graph->rows[row].next;
	}
	return found;
}

const char *async_node_code(struct async_graph *graph, const struct async_node *node)
{
	const char *name = async_methods_code(&graph->methods, graph->heap->runtime, node->method);
	graph->failed |= !name;
	return name ? name : "";
}

bool async_node_line(const struct async_graph *graph, const struct async_node *node,
		     struct source_line *ret)
{
	struct runtime *runtime = graph->heap->runtime;
	if (node->is_runtime) {
		return node->place &&
		       runtime_source_line(runtime,
					   graph->methods.rows[node->method].key.method_desc,
					   node->place, ret);
	}
	return node->state >= 0 && node->state != ASYNC_UNKNOWN &&
	       runtime_await_line(runtime, node->machine, (uint32_t)node->state, ret);
}

const struct async_node *async_node_waiter(struct async_graph *graph, const struct async_node *node)
{
	static const char semaphore[] = "System.Threading.SemaphoreSlim.";
	static const char channel[] = "System.Threading.Channels.";
	while (node->is_runtime && !node->is_limited && async_node_is_awaited(node)) {
		const char *name = async_node_code(graph, node);
		if (strncmp(name, semaphore, strlen(semaphore)) != 0 &&
		    strncmp(name, channel, strlen(channel)) != 0)
			break;
		/* A chain has no circle, so this ends. */
		node = &graph->rows[node->outer];
	}
	return node;
}

static bool is_instance_method(const struct method *method)
{
	const struct metadata *metadata = method->module ? method->module->metadata : NULL;
	return metadata && method->rid && method->type &&
	       !(metadata_column(metadata, MD_METHOD, method->rid, METHOD_FLAGS) & METHOD_STATIC);
}

/* The first saved reference to an object of the class that has the method. */
static uint64_t find_saved_this(struct async_graph *graph, const struct async_node *node)
{
	struct heap *heap = graph->heap;
	uint64_t method_desc = graph->methods.rows[node->method].key.method_desc, found = 0;
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	struct references references;
	struct reference reference;
	struct object holder, object;
	struct method method;
	if (!method_desc || !method_read(heap->runtime, method_desc, &method) ||
	    !is_instance_method(&method) || !member_object(graph->members, node->holder, &holder))
		return 0;
	references_begin(&references, &window, &holder);
	while (!found && references_next(&references, &reference)) {
		if (reference.slot >= node->fields &&
		    member_object(graph->members, reference.value, &object) &&
		    object.type->token == method.type->token &&
		    object.type->module == method.type->module)
			found = reference.slot;
	}
	return found;
}

/* The context that a Continuation has among what it saves. */
static uint64_t saved_context(struct async_graph *graph, const struct object *object)
{
	struct suspended continuation;
	return suspended_read(graph->heap, object, &continuation) ? continuation.context : 0;
}

uint64_t async_node_context(struct async_graph *graph, const struct async_node *node)
{
	struct object object;
	if (!node->holder || !member_object(graph->members, node->holder, &object))
		return 0;
	uint64_t context = saved_context(graph, &object);
	struct suspended head;
	struct member first = fact_at(graph->members, node->task, FACT_TASK_STATE_OBJECT);
	/* A method that the head awaits goes on in the context of the head. */
	if (context || !member_object(graph->members, first.bits, &object) ||
	    !suspended_read(graph->heap, &object, &head) || !head.is_head ||
	    head.next != node->holder)
		return context;
	return fact_of(graph->members, &object, FACT_TASK_HEAD_CONTEXT).bits;
}

uint64_t async_node_this(struct async_graph *graph, const struct async_node *node)
{
	if (node->is_runtime)
		return node->holder ? find_saved_this(graph, node) : 0;
	return member_of_struct(graph->members, node->machine, node->fields, THIS_FIELD).address;
}

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
	if (saved->node->is_runtime) {
		TRY(read_variables(saved, err));
	} else if (!reserve_fields(saved, 0)) {
		return fail_nomem(err);
	}
	return read_references(saved, err);
}

enum hd_status async_node_fields(struct async_graph *graph, const struct async_node *node,
				 struct field_list *ret, uint64_t *ret_base, struct hd_error *err)
{
	struct saved_fields saved = { .graph = graph, .node = node };
	if (!async_node_is_nameless(node)) {
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
