/* SPDX-License-Identifier: MIT */
#include "hangs/lost_places.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "graph/heap_graph.h"
#include "hangs/semaphore_code.h"
#include "hangs/wait_graph.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_rows.h"
#include "roots/root_set.h"
#include "runtime/coreclr/code/method.h"
#include "stack/thread_call.h"
#include "util/alloc.h"
#include "util/bitmap.h"

_Static_assert(LOST_NAME_SIZE == SEMAPHORE_NAME_SIZE, "a name does not fit");

/* Methods whose code is asked. */
#define ASKED_MAX 1024u
/* Methods of a call whose variables are looked at, tries that are worth a verdict, and more than a counter ever has. */
#define CHAIN_MAX   64u
#define HOLDERS_MAX 256u
#define TRIES_MIN   4u
#define TRIES_MAX   1000000000u

struct place_search {
	const struct waits *waits;
	struct wait_graph *graph;
	struct wait_rows waiters; /* by semaphore: the nodes that wait for it */
	struct wait_rows
		objects; /* of async methods that wait for the one that is looked at, or for these */
	bool *among;     /* by node: it waits for the semaphore that is looked at */
	bool *blocked;   /* by node: so it does, or waits for one that does */
	struct lost_place place;
	uint64_t
		owner; /* the only object that has it in a field; 0: several, or a static variable */
	struct object owner_object;
	struct semaphore_code code;
	int32_t *entry; /* by method of the graph: the first await at which a call waits for it */
	bool has_other; /* something else refers to it, or may give a place back */
	struct {
		const struct type *machine;
		uint64_t method;
		uint64_t uses;
	} asked[ASKED_MAX];
	size_t asked_count;
};

static void place_search_destroy(struct place_search *search)
{
	wait_rows_deinit(&search->waiters);
	wait_rows_deinit(&search->objects);
	mem_free(search->among);
	mem_free(search->blocked);
	mem_free(search->entry);
	mem_free(search);
}

/* The semaphore that the node itself waits for; 0: none. */
static uint64_t semaphore_of(const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	const struct async_node *method = wait_node_method(waits, node);
	if (method) {
		bool is_one = method->wait == AWAIT_SEMAPHORE && method->next == ASYNC_NO_NODE;
		return is_one ? method->object : 0;
	}
	bool is_one = wait->kind == WAIT_SEMAPHORE && !wait->is_over && wait->object.type;
	return is_one ? wait->object.address : 0;
}

static bool is_limited(const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	const struct async_node *method = wait_node_method(waits, node);
	return method ? method->is_limited
		      : !thread_waits_without_end(runtime_target(waits->heap->runtime),
						  wait->thread->os_id);
}

static enum hd_status collect(struct place_search *search, struct hd_error *err)
{
	for (uint32_t i = 0; i < wait_nodes(search->waits); i++) {
		uint64_t semaphore = semaphore_of(search->waits, i);
		if (semaphore)
			TRY(wait_rows_add(&search->waiters, semaphore, i, err));
	}
	wait_rows_sort(&search->waiters);
	return HD_OK;
}

/* Has the semaphore of row @p begin no free place, and does somebody wait for it without a limit? */
static bool is_worth_it(const struct place_search *search, size_t begin)
{
	const struct waits *waits = search->waits;
	const struct wait_rows *rows = &search->waiters;
	uint64_t address = rows->rows[begin].object;
	struct member count = fact_at(waits->members, address, FACT_SEMAPHORE_FREE);
	bool has_unlimited = false;
	for (size_t i = begin; wait_rows_has(rows, i, address) && !has_unlimited; i++)
		has_unlimited = !is_limited(waits, rows->rows[i].node);
	return has_unlimited && count.state == MEMBER_READ && !count.bits;
}

/* Note who waits, and who waits for these. */
static enum hd_status begin_place(struct place_search *search, size_t begin, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct wait_rows *rows = &search->waiters;
	uint64_t address = rows->rows[begin].object;
	struct member highest = fact_at(waits->members, address, FACT_SEMAPHORE_MAX);
	search->place = (struct lost_place){ .semaphore = address };
	if (highest.state == MEMBER_READ && member_signed(&highest) > 0 &&
	    member_signed(&highest) != INT32_MAX)
		search->place.places = highest.bits;
	memset(search->among, 0, wait_nodes(waits));
	for (size_t i = begin; wait_rows_has(rows, i, address); i++) {
		uint32_t node = rows->rows[i].node;
		bool is_thread = wait_node_thread(waits, node) != NULL;
		search->among[node] = true;
		if (!search->place.methods)
			search->place.first = node;
		search->place.threads += is_thread;
		search->place.methods += !is_thread;
	}
	search->objects.rows_count = 0;
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct async_node *method = wait_node_method(waits, i);
		search->blocked[i] = (method && search->among[waits->count + method->end]) ||
				     wait_first_of(waits, search->among, i) != WAIT_NOBODY;
		if (!search->blocked[i] || !method)
			continue;
		TRY(wait_rows_add(&search->objects, method->address, i, err));
		TRY(wait_rows_add(&search->objects, method->holder, i, err));
	}
	wait_rows_sort(&search->objects);
	search->owner = 0;
	search->has_other = false;
	search->asked_count = 0;
	memset(&search->code, 0, sizeof(search->code));
	return HD_OK;
}

static void set_home(struct place_search *search, const struct type *type)
{
	struct runtime *runtime = search->waits->heap->runtime;
	const struct module *home = module_find(runtime, type_home_module(runtime, type));
	search->has_other |= !home || (search->code.home && search->code.home != home);
	search->code.home = home;
}

/* An object of the program has the semaphore in a field. */
static void add_owner(struct place_search *search, const struct object *object)
{
	struct runtime *runtime = search->waits->heap->runtime;
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	bool is_found = false;
	if (object->type->component_size || framework_owns_type(runtime, object->type) ||
	    field_list_read(runtime, object->type, &list, NULL) != HD_OK) {
		search->has_other = true;
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		uint64_t value = 0, address = object->address + 8 + (uint64_t)field->offset;
		if (field->is_static || !element_is_reference(field->element_type) ||
		    !memory_u64(search->waits->heap->memory, address, &value) ||
		    value != search->place.semaphore)
			continue;
		const struct type *type = field->declaring ? field->declaring : object->type;
		is_found = field_is_named(field) &&
			   semaphore_names_add(&search->code.fields, type_name(runtime, type, NULL),
					       field->name);
		set_home(search, type);
	}
	search->has_other |= !is_found;
	search->owner = search->owner ? 0 : object->address;
	search->owner_object = *object;
}

/* A static variable is one, too. */
static void add_static(struct place_search *search, const struct static_slot *slot)
{
	struct runtime *runtime = search->waits->heap->runtime;
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (slot->thread != UINT32_MAX || framework_owns_type(runtime, slot->type) ||
	    field_list_read(runtime, slot->type, &list, NULL) != HD_OK) {
		search->has_other = true;
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		if (field->token != slot->token || !field->is_static)
			continue;
		search->has_other |= !semaphore_names_add(
			&search->code.fields, type_name(runtime, slot->type, NULL), field->name);
		set_home(search, slot->type);
	}
}

/* Look at all objects that refer to the semaphore, if they are reached without those who wait. */
static enum hd_status look_at_referrers(struct place_search *search, const struct reach_pass *pass,
					struct job *job, struct hd_error *err)
{
	struct hd_graph *graph = search->graph->graph;
	uint32_t wanted = graph_lower_bound(graph, search->place.semaphore);
	const struct csr *csr;
	TRY(graph_forward(graph, job, &csr, err));
	for (uint32_t i = 0; i < graph->object_count; i++) {
		uint64_t end = csr_begin(csr, i + 1);
		bool refers = false;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		for (uint64_t k = csr_begin(csr, i); k < end && !refers; k++)
			refers = csr->targets[k] == wanted;
		if (!refers || i == wanted || !bitmap_has(pass->bitmap, i))
			continue;
		struct object object;
		uint64_t address = graph_id(graph, i);
		if (wait_rows_first(&search->objects, address) != WAIT_NOBODY)
			continue;
		if (member_object(search->waits->members, address, &object)) {
			add_owner(search, &object);
		} else {
			search->has_other = true;
		}
	}
	return HD_OK;
}

/* The roots that have it: static variables, and frames of those who wait. */
static void look_at_roots(struct place_search *search)
{
	const struct waits *waits = search->waits;
	const struct root_set *roots = search->graph->roots;
	size_t threads = runtime_thread_count(waits->heap->runtime);
	for (size_t i = 0; i < roots->rows_count; i++) {
		const struct root *root = &roots->rows[i];
		if (root->value != search->place.semaphore || root->is_weak)
			continue;
		if (root->source == ROOT_STATIC) {
			add_static(search, &roots->statics.rows[root->index]);
			continue;
		}
		uint32_t row = root->thread < threads ? waits->by_thread[root->thread] : UINT32_MAX;
		search->has_other |= row == UINT32_MAX || !search->blocked[row];
	}
}

/* Is an object alive that gives a place back in Dispose? */
static enum hd_status look_at_leases(struct place_search *search, const struct reach_pass *pass,
				     struct job *job, struct hd_error *err)
{
	struct runtime *runtime = search->waits->heap->runtime;
	const struct hd_graph *graph = search->graph->graph;
	for (uint32_t i = 0; i < graph->object_count && search->code.leases_count; i++) {
		struct object object;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (!bitmap_has(pass->bitmap, i) ||
		    !member_object(search->waits->members, graph_id(graph, i), &object))
			continue;
		uint64_t module = type_home_module(runtime, object.type);
		for (size_t k = 0; k < search->code.leases_count; k++) {
			const struct semaphore_lease *lease = &search->code.leases[k];
			search->has_other |= lease->module->address == module &&
					     (object.type->token & 0xffffff) == lease->class_row;
		}
	}
	return HD_OK;
}

/* enum semaphore_use of the code of a state machine, or of a method. */
static uint64_t uses_of(struct place_search *search, const struct type *machine, uint64_t method)
{
	struct runtime *runtime = search->waits->heap->runtime;
	const struct code_search code = { semaphore_code_match, &search->code };
	struct method read;
	for (size_t i = 0; i < search->asked_count; i++) {
		if (search->asked[i].machine == machine && search->asked[i].method == method)
			return search->asked[i].uses;
	}
	if (search->asked_count == ASKED_MAX)
		return UINT64_MAX;
	uint64_t module = machine ? type_home_module(runtime, machine) : 0;
	if (!machine && method_read(runtime, method, &read) && read.module)
		module = read.module->address;
	uint64_t uses = !semaphore_code_has(&search->code, module) ? 0
			: machine ? code_names_of_machine(runtime, machine, &code)
				  : code_names_of_method(runtime, method, &code);
	search->asked[search->asked_count].machine = machine;
	search->asked[search->asked_count].method = method;
	search->asked[search->asked_count++].uses = uses;
	return uses;
}

static uint64_t uses_of_node(struct place_search *search, const struct async_node *method)
{
	const struct async_method_key *key =
		&search->waits->async->methods.rows[method->method].key;
	return uses_of(search, key->machine, key->method_desc);
}

/* Is it a call of the class with the semaphore, but of another object? */
static bool is_of_other_owner(const struct place_search *search, const struct async_node *method)
{
	struct object self;
	uint64_t address = 0, slot = async_node_this(search->waits->async, method);
	return search->owner && slot && memory_u64(search->waits->heap->memory, slot, &address) &&
	       address != search->owner && member_object(search->waits->members, address, &self) &&
	       self.type == search->owner_object.type;
}

/* Has the call passed the await at which others wait for the semaphore?  So it counts where none does. */
static bool has_passed(const struct place_search *search, uint32_t row)
{
	const struct async_node *method = &search->waits->async->rows[row];
	int32_t entry = search->entry[method->method];
	return method->wait == AWAIT_RUNS || method->wait == AWAIT_THREAD ||
	       method->wait == AWAIT_YIELD || method->state > entry ||
	       (method->state == entry && !search->blocked[search->waits->count + row]);
}

/* Does a call that has a place wait for a time?  Then it may do so between tries of what fails. */
static bool waits_for_time(const struct place_search *search, uint32_t row)
{
	const struct async_graph *graph = search->waits->async;
	const struct async_node *method = &graph->rows[row];
	return graph->rows[method->end].wait == AWAIT_DELAY && method->wait != AWAIT_RUNS &&
	       method->wait != AWAIT_THREAD && method->wait != AWAIT_YIELD;
}

/* Does a name say that the variable counts tries: "attempt", "retryCount"? */
static bool counts_tries(const char *name)
{
	static const char *const words[] = { "attempt", "retry", "retries", "tries" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasestr(name, words[i]))
			return true;
	}
	return false;
}

/* The largest number of tries that a method counts in its variables; 0: it does not. */
static enum hd_status tries_of(const struct place_search *search, const struct async_node *method,
			       uint32_t *ret, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	uint64_t base;
	*ret = 0;
	enum hd_status status = async_node_fields(waits->async, method, &list, &base, NULL);
	if (status != HD_OK)
		return status == HD_ERR_NOMEM ? fail_nomem(err) : HD_OK;
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		uint32_t value = 0;
		bool is_count = !field->is_static && field->element_type == ELEMENT_I4 &&
				field_is_named(field) && counts_tries(field->name) &&
				memory_u32(waits->heap->memory, base + field->offset, &value);
		if (is_count && value <= TRIES_MAX && value > *ret)
			*ret = value;
	}
	return HD_OK;
}

/* A call that has a place: with how many tries? */
static enum hd_status note_holder(struct place_search *search, uint32_t row, struct hd_error *err)
{
	const struct async_node *rows = search->waits->async->rows;
	struct lost_place *place = &search->place;
	uint32_t most = 0;
	for (uint32_t at = row, i = 0; at != ASYNC_NO_NODE && i < CHAIN_MAX; i++) {
		uint32_t tries;
		TRY(tries_of(search, &rows[at], &tries, err));
		if (tries > most) {
			most = tries;
			place->trier = at;
		}
		at = rows[at].next;
	}
	if (most < TRIES_MIN || place->holders == HOLDERS_MAX)
		search->has_other = true;
	if (!place->holders++ || most < place->tries)
		place->tries = most;
	/* The method further in stands for a chain. */
	if (place->holders == 1 || rows[row].end == rows[place->holder].end)
		place->holder = row;
	return HD_OK;
}

static enum hd_status look_at_method(struct place_search *search, uint32_t row,
				     struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct async_node *method = &waits->async->rows[row];
	if (async_node_owner(waits->async, method) == CODE_OF_FRAMEWORK ||
	    !uses_of_node(search, method) || is_of_other_owner(search, method))
		return HD_OK;
	search->place.calls += !async_node_is_awaited(method) ||
			       !uses_of_node(search, &waits->async->rows[method->outer]);
	if (!has_passed(search, row))
		return HD_OK;
	if (waits_for_time(search, row))
		return note_holder(search, row, err);
	/* Who waits for a place and has one is a matter of another verdict. */
	search->has_other = true;
	return HD_OK;
}

static void look_at_thread(struct place_search *search, uint32_t row)
{
	const struct thread_wait *wait = &search->waits->rows[row];
	uint64_t uses = 0;
	search->has_other |= wait->stack.is_partial || wait->stack.is_missing;
	for (size_t i = 0; i < wait->stack.frames_count; i++) {
		const struct stack_frame *frame = &wait->stack.frames[i];
		if (frame->kind == STACK_MANAGED && !frame->is_dead && frame->method_desc)
			uses |= uses_of(search, NULL, frame->method_desc);
	}
	search->place.calls += uses != 0;
	search->has_other |= uses && !search->blocked[row];
}

/*
 * Note at which await each method waits for the semaphore, or for one that does.  Is another call of the one that waits itself
 * past it, and waits for no time?  Then its code need not be read.
 */
static void find_entries(struct place_search *search)
{
	const struct waits *waits = search->waits;
	struct async_graph *graph = waits->async;
	const struct async_node *first = wait_node_method(waits, search->place.first);
	for (size_t i = 0; i < graph->methods.rows_count; i++)
		search->entry[i] = INT32_MIN;
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		int32_t *entry = &search->entry[method->method];
		if (search->blocked[waits->count + i] &&
		    (*entry == INT32_MIN || method->state < *entry))
			*entry = method->state;
	}
	for (uint32_t i = 0; i < graph->rows_count && first; i++) {
		if (graph->rows[i].method == first->method && has_passed(search, i) &&
		    !waits_for_time(search, i) &&
		    async_node_owner(graph, first) != CODE_OF_FRAMEWORK &&
		    !is_of_other_owner(search, &graph->rows[i]))
			search->has_other = true;
	}
}

/* Is there a call that may give a place back? */
static enum hd_status look_at_calls(struct place_search *search, struct job *job,
				    struct hd_error *err)
{
	const struct waits *waits = search->waits;
	struct async_graph *graph = waits->async;
	for (uint32_t i = 0; i < graph->rows_count && !search->has_other; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		TRY(look_at_method(search, i, err));
	}
	for (uint32_t i = 0; i < waits->count && !search->has_other; i++)
		look_at_thread(search, i);
	return graph->failed ? fail_nomem(err) : HD_OK;
}

/* A field that the compiler has made for a property has the name of that: "Shop.Gate.<Places>k__BackingField". */
static void name_field(struct lost_place *place, const char *name)
{
	const char *begin = strstr(name, ".<"), *end = strstr(name, ">k__BackingField");
	if (begin && end > begin && strlen(end) == strlen(">k__BackingField")) {
		size_t used = (size_t)(begin + 1 - name), size = (size_t)(end - begin - 2);
		memcpy(place->field, name, used);
		memcpy(place->field + used, begin + 2, size);
		place->field[used + size] = '\0';
	} else {
		strcpy(place->field, name);
	}
}

static enum hd_status judge(struct place_search *search, struct job *job, struct hd_error *err)
{
	const struct wait_cut cut = { .blocked = search->blocked };
	struct reach_pass pass = { 0 };
	struct semaphore_code *code = &search->code;
	TRY(wait_graph_reach(search->graph, &cut, job, &pass, err));
	look_at_roots(search);
	enum hd_status status = look_at_referrers(search, &pass, job, err);
	find_entries(search);
	if (status == HD_OK && !search->has_other && code->fields.count) {
		name_field(&search->place, code->fields.rows[0]);
		status = semaphore_code_read(search->waits->heap->runtime, code, job, err);
	}
	search->has_other |= !code->is_paired;
	if (status == HD_OK && !search->has_other)
		status = look_at_leases(search, &pass, job, err);
	if (status == HD_OK && !search->has_other)
		status = look_at_calls(search, job, err);
	reach_pass_deinit(&pass);
	return status;
}

static enum hd_status look_at_all(struct place_search *search, struct job *job,
				  struct lost_places *ret, struct hd_error *err)
{
	const struct wait_rows *rows = &search->waiters;
	bool is_known;
	for (size_t i = 0, looks = 0; i < rows->rows_count && looks < LOST_PLACES_MAX; i++) {
		if ((i && rows->rows[i - 1].object == rows->rows[i].object) ||
		    !is_worth_it(search, i))
			continue;
		looks++;
		TRY(begin_place(search, i, err));
		TRY(wait_graph_open(search->graph, job, &is_known, err));
		if (!is_known)
			return HD_OK;
		TRY(judge(search, job, err));
		if (search->has_other)
			continue;
		strcpy(search->place.enters, search->code.enters);
		strcpy(search->place.releases, search->code.releases);
		ret->rows[ret->rows_count++] = search->place;
	}
	return HD_OK;
}

enum hd_status lost_places_find(const struct waits *waits, struct wait_graph *graph,
				struct job *job, struct lost_places *ret, struct hd_error *err)
{
	size_t nodes = wait_nodes(waits) + 1;
	struct place_search *search = mem_calloc(1, sizeof(*search));
	TRY_MEMORY(search, err);
	ret->rows_count = 0;
	search->waits = waits;
	search->graph = graph;
	search->among = mem_calloc(nodes, sizeof(bool));
	search->blocked = mem_calloc(nodes, sizeof(bool));
	search->entry = mem_calloc(waits->async->methods.rows_count + 1, sizeof(int32_t));
	enum hd_status status =
		search->among && search->blocked && search->entry ? HD_OK : fail_nomem(err);
	if (status == HD_OK)
		status = collect(search, err);
	if (status == HD_OK)
		status = look_at_all(search, job, ret, err);
	place_search_destroy(search);
	return status;
}

struct lost_place *lost_place_of(struct lost_places *places, uint64_t semaphore)
{
	for (size_t i = 0; i < places->rows_count; i++) {
		if (places->rows[i].semaphore == semaphore)
			return &places->rows[i];
	}
	return NULL;
}
