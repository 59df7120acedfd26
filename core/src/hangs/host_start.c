/* SPDX-License-Identifier: MIT */
#include "hangs/host_start.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/wait_reach.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/code_names.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/job.h"

#define STARTS   "Microsoft.Extensions.Hosting.Internal.Host.StartAsync"
#define SERVICES "Microsoft.Extensions.Hosting.IHostedService[]"
#define SOURCE   "System.Threading.Tasks.TaskCompletionSource"

/* Methods of a call that are looked at, and services. */
#define STEPS_MAX    64u
#define SERVICES_MAX 256u
/* Objects from a service to the source, over one that has it. */
#define LEVELS 3u
/* Methods that complete the source, and bytes of their names. */
#define COMPLETERS_MAX 16u
#define NAME_SIZE      128u
/* Names of the class that has it: its own, and those of its interfaces. */
#define NAMES_MAX 16u

struct class_name {
	const char *text;
	size_t size;
};

struct start_search {
	const struct waits *waits;
	struct host_start found;
	struct array_info services;
	uint64_t current; /* number of the service that the start waits for */
	/* The object with the source in a field, and its class. */
	struct object holder;
	const struct module *holder_module;
	uint32_t holder_row;
	struct class_name names[NAMES_MAX];
	size_t names_count;
	char completers[COMPLETERS_MAX]
		       [NAME_SIZE]; /* methods of that class which complete the source */
	size_t completers_count;
	uint32_t classes; /* rows of TypeDef of the module that is looked at */
	uint8_t *uses;    /* by such a row: the bits below */
	bool is_ended;    /* by another class than that of the completer, or nobody can tell */
	bool has_found;
};

#define USES_HOLDER    1u
#define USES_SET       2u
#define USES_COMPLETER 4u

static uint64_t this_of(const struct waits *waits, const struct async_node *method)
{
	uint64_t place = async_node_this(waits->async, method), value = 0;
	return place && memory_u64(waits->heap->memory, place, &value) ? value : 0;
}

/* The row of a call that the start of a host has in it, and there the row of Host.StartAsync; ASYNC_NO_NODE: none. */
static uint32_t start_in_call(struct async_graph *graph, uint32_t row)
{
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < STEPS_MAX; i++) {
		if (strcmp(async_node_name(graph, &graph->rows[row]), STARTS) == 0)
			return row;
		row = graph->rows[row].next;
	}
	return ASYNC_NO_NODE;
}

/* The first method that is not the framework's, from row @p row on; ASYNC_NO_NODE: none. */
static uint32_t first_own(struct async_graph *graph, uint32_t row)
{
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < STEPS_MAX; i++) {
		if (async_node_owner(graph, &graph->rows[row]) != CODE_OF_FRAMEWORK)
			return row;
		row = graph->rows[row].next;
	}
	return ASYNC_NO_NODE;
}

/* The services of a host, in the order in which they start, if the object at @p address is or refers to the array of them. */
static bool read_services(const struct waits *waits, uint64_t address, struct array_info *ret)
{
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	struct object object, other;
	struct references references;
	struct reference reference;
	if (!member_object(waits->members, address, &object) || object.type->component_size)
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (member_object(waits->members, reference.value, &other) &&
		    strcmp(type_name(waits->heap->runtime, other.type, NULL), SERVICES) == 0)
			return array_read(waits->heap, &other, ret) && ret->length <= SERVICES_MAX;
	}
	return false;
}

/* Is the object one of the services?  Then that is the current one. */
static bool is_service(struct start_search *search, uint64_t address)
{
	for (uint64_t i = 0; i < search->services.length; i++) {
		if (array_reference(search->waits->heap, &search->services, i) == address) {
			search->current = i;
			return true;
		}
	}
	return false;
}

/* Look at what a method has, its "this", arguments and locals, until one of them is what @p asks for. */
static bool look_at_fields(struct start_search *search, const struct async_node *method,
			   bool (*asks)(struct start_search *search, uint64_t address))
{
	HD_CLEANUP(window) struct window window = { .memory = search->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(search->waits->members, method->holder, &object) ||
	    object.type->component_size)
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot >= method->fields && asks(search, reference.value))
			return true;
	}
	return false;
}

static bool has_services(struct start_search *search, uint64_t address)
{
	return read_services(search->waits, address, &search->services);
}

/* The host is the "this" of its methods, and has the services; between it and the program's method somebody has the one. */
static bool find_services(struct start_search *search, uint32_t start, bool *has_current)
{
	const struct async_node *rows = search->waits->async->rows;
	uint32_t own = search->found.own;
	bool has_found = false;
	for (uint32_t row = start; row != own && !has_found; row = rows[row].next)
		has_found = look_at_fields(search, &rows[row], has_services);
	*has_current = false;
	for (uint32_t row = rows[start].next; has_found && row != own && !*has_current;
	     row = rows[row].next)
		*has_current = look_at_fields(search, &rows[row], is_service);
	if (has_found && !*has_current)
		*has_current = is_service(search, this_of(search->waits, &rows[own]));
	return has_found;
}

/* The object over which a service leads to the source; false: it does not. */
static bool find_holder(const struct waits *waits, uint64_t service, uint64_t source,
			struct object *ret)
{
	HD_FREE struct wait_reach *reach = mem_calloc(1, sizeof(*reach));
	if (!reach)
		return false;
	reach->waits = waits;
	reach->is_wanted = reach_is_source;
	reach->wanted = source;
	bool has_found = wait_reaches(reach, service, LEVELS);
	*ret = reach->from;
	return has_found && reach->from.type;
}

/* "SetResult", "TrySetResult", "SetException": what ends a wait; to cancel it is what waiters do. */
static bool is_set(const char *member)
{
	const char *dot = strrchr(member, '.');
	if (strncmp(member, SOURCE, strlen(SOURCE)) != 0 || !dot)
		return false;
	dot += strncmp(dot + 1, "Try", 3) == 0 ? 4 : 1;
	return strncmp(dot, "Set", 3) == 0 && !strstr(dot, "Cancel");
}

static bool is_holder(const struct start_search *search, const struct code_use *use)
{
	return use->module == search->holder_module && use->class_row == search->holder_row;
}

static void note_completer(void *arg, const struct code_use *use)
{
	struct start_search *search = arg;
	if (!is_holder(search, use) || !is_set(use->member))
		return;
	size_t count = search->completers_count;
	if (count && strcmp(search->completers[count - 1], use->method) == 0)
		return;
	if (count == COMPLETERS_MAX || strlen(use->method) >= NAME_SIZE) {
		search->is_ended = true;
		return;
	}
	strcpy(search->completers[count], use->method);
	search->completers_count++;
}

/* The names by which code may call the methods of the holder: its class, and the interfaces that this has. */
static void read_names(struct start_search *search)
{
	struct runtime *runtime = search->waits->heap->runtime;
	const struct type *type = search->holder.type;
	for (uint32_t i = 0; type && search->names_count < NAMES_MAX; i++) {
		struct class_name *name = &search->names[search->names_count++];
		name->text = type_name(runtime, type, &name->size);
		uint64_t table = type_interface(runtime, search->holder.type, i);
		type = table ? type_find(runtime, table) : NULL;
	}
}

static bool names_holder(const struct start_search *search, const char *name, size_t size)
{
	for (size_t i = 0; i < search->names_count; i++) {
		if (search->names[i].size == size && memcmp(search->names[i].text, name, size) == 0)
			return true;
	}
	return false;
}

static void note_use(void *arg, const struct code_use *use)
{
	struct start_search *search = arg;
	if (use->class_row > search->classes)
		return;
	uint8_t *uses = &search->uses[use->class_row];
	const char *dot = strrchr(use->member, '.');
	if (is_set(use->member))
		*uses |= USES_SET;
	if (!dot || dot == use->member)
		return;
	size_t size = (size_t)(dot - use->member) - (dot[-1] == '.');
	if (!names_holder(search, use->member, size))
		return;
	*uses |= USES_HOLDER;
	for (size_t i = 0; i < search->completers_count; i++) {
		if (strcmp(dot + 1, search->completers[i]) == 0)
			*uses |= USES_COMPLETER;
	}
}

/* Is the class at row @p row one of a service that has not begun? */
static bool is_later(struct start_search *search, const struct module *module, uint32_t row)
{
	const struct waits *waits = search->waits;
	struct runtime *runtime = waits->heap->runtime;
	bool is_found = false;
	for (uint64_t i = 0; i < search->services.length; i++) {
		struct object object;
		uint64_t service = array_reference(waits->heap, &search->services, i);
		if (!member_object(waits->members, service, &object) ||
		    type_home_module(runtime, object.type) != module->address ||
		    code_class_of(module->metadata, object.type->token & 0xffffff) != row)
			continue;
		if (i <= search->current)
			return false;
		if (!is_found)
			search->found.completer = object;
		is_found = true;
	}
	return is_found;
}

static enum hd_status look_at_module(struct start_search *search, const struct module *module,
				     struct job *job, struct hd_error *err)
{
	struct code_uses uses = { .visit = note_use, .arg = search };
	uint32_t rows = module->metadata ? module->metadata->tables[MD_TYPE_DEF].rows : 0;
	HD_FREE uint8_t *classes = mem_calloc((size_t)rows + 1, sizeof(*classes));
	TRY_MEMORY(classes, err);
	search->uses = classes;
	search->classes = rows;
	TRY(code_uses_visit(search->waits->heap->runtime, module, &uses, job, err));
	search->is_ended |= uses.is_cut;
	for (uint32_t i = 1; i <= rows; i++) {
		bool is_holder_itself = module == search->holder_module && i == search->holder_row;
		bool completes = is_holder_itself ? search->completers_count > 0
						  : classes[i] & USES_COMPLETER ||
							    (classes[i] & USES_SET &&
							     classes[i] & USES_HOLDER);
		if (!completes)
			continue;
		if (is_later(search, module, i)) {
			search->has_found = true;
		} else if (!is_holder_itself) {
			search->is_ended = true;
		}
	}
	return HD_OK;
}

/* Ask the code of the program who completes the source: only a class of which nothing has begun? */
static enum hd_status ask_code(struct start_search *search, struct job *job, struct hd_error *err)
{
	struct runtime *runtime = search->waits->heap->runtime;
	struct code_uses completers = { .visit = note_completer, .arg = search };
	struct module *const *modules;
	size_t count;
	uint64_t home = type_home_module(runtime, search->holder.type);
	search->holder_module = module_find(runtime, home);
	if (!search->holder_module || !search->holder_module->metadata)
		return HD_OK;
	search->holder_row = code_class_of(search->holder_module->metadata,
					   search->holder.type->token & 0xffffff);
	read_names(search);
	TRY(code_uses_visit(runtime, search->holder_module, &completers, job, err));
	TRY(module_list(runtime, &modules, &count, err));
	for (size_t i = 0; i < count; i++) {
		const struct module *module = module_find(runtime, modules[i]->address);
		if (module && program_owns_module(runtime, module))
			TRY(look_at_module(search, module, job, err));
	}
	return HD_OK;
}

static enum hd_status find_completer(struct start_search *search, struct job *job,
				     struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (uint64_t i = search->current + 1; i < search->services.length; i++) {
		uint64_t service = array_reference(waits->heap, &search->services, i);
		if (!find_holder(waits, service, search->found.source, &search->holder))
			continue;
		TRY(ask_code(search, job, err));
		break;
	}
	if (!search->has_found || search->is_ended)
		search->found.completer = (struct object){ 0 };
	return HD_OK;
}

static enum hd_status look_at_start(struct start_search *search, uint32_t call, uint32_t start,
				    struct job *job, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct async_node *rows = waits->async->rows;
	const struct async_node *end = &rows[rows[call].end];
	search->found.call = call;
	bool has_current;
	if (!find_services(search, start, &has_current))
		return HD_OK;
	search->found.services = search->services.length;
	if (!has_current)
		return HD_OK;
	search->found.later = search->services.length - 1 - search->current;
	if (end->wait != AWAIT_SOURCE || async_call_is_limited(waits->async, call))
		return HD_OK;
	search->found.source = end->object;
	return find_completer(search, job, err);
}

enum hd_status host_start_find(const struct waits *waits, struct job *job, struct host_start *ret,
			       struct hd_error *err)
{
	struct async_graph *graph = waits->async;
	struct start_search search = { .waits = waits, .found = { .call = ASYNC_NO_NODE } };
	for (uint32_t i = 0; i < graph->rows_count && search.found.call == ASYNC_NO_NODE; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (async_node_is_awaited(&graph->rows[i]))
			continue;
		uint32_t start = start_in_call(graph, i);
		uint32_t own = start == ASYNC_NO_NODE ? start : first_own(graph, start);
		if (own == ASYNC_NO_NODE)
			continue;
		search.found.own = own;
		TRY(look_at_start(&search, i, start, job, err));
	}
	*ret = search.found;
	return graph->failed ? fail_nomem(err) : HD_OK;
}
