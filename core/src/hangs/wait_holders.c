/* SPDX-License-Identifier: MIT */
#include "hangs/wait_holders.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/wait_references.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Objects whose fields are looked at: larger ones are no classes of a program. */
#define OBJECT_MAX 1024u
/* Steps along a chain, to see which of two methods of it is further in. */
#define CHAIN_STEPS_MAX 64u

#define CLOSURE "<>c__DisplayClass"

struct holder_search {
	const struct waits *waits;
	struct held_semaphores *found;
	struct window outer, inner;
	uint32_t node; /* whose references are looked at */
};

void held_semaphores_deinit(struct held_semaphores *semaphores)
{
	pages_free(semaphores->rows, semaphores->rows_capacity, sizeof(*semaphores->rows));
	*semaphores = (struct held_semaphores){ 0 };
}

static struct held_semaphore *find_semaphore(const struct held_semaphores *semaphores,
					     uint64_t address)
{
	size_t row = ROWS_FROM(semaphores->rows, semaphores->rows_count, address, address);
	bool is_found = row < semaphores->rows_count && semaphores->rows[row].address == address;
	return is_found ? &semaphores->rows[row] : NULL;
}

/*
 * Is it used like a lock, and not free?  A limit of several has several holders; without a highest
 * count, "new SemaphoreSlim(1)" cannot be told from a signal.
 */
static enum hd_status add_semaphore(struct holder_search *search, uint64_t address,
				    struct hd_error *err)
{
	struct members *members = search->waits->members;
	struct member highest = fact_at(members, address, FACT_SEMAPHORE_MAX);
	struct member count = fact_at(members, address, FACT_SEMAPHORE_FREE);
	int64_t limit = member_signed(&highest);
	if (highest.state != MEMBER_READ || count.state != MEMBER_READ || count.bits ||
	    (limit != 1 && limit != INT32_MAX))
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(search->found, rows), err);
	search->found->rows[search->found->rows_count++] =
		(struct held_semaphore){ .address = address,
					 .is_mutex = limit == 1,
					 .holders = { WAIT_NOBODY, WAIT_NOBODY, WAIT_NOBODY } };
	return HD_OK;
}

ORDER_BY(compare_semaphores, struct held_semaphore, address)

static void drop_equal(struct held_semaphores *semaphores)
{
	size_t count = 0;
	for (size_t i = 0; i < semaphores->rows_count; i++) {
		if (!count || semaphores->rows[count - 1].address != semaphores->rows[i].address)
			semaphores->rows[count++] = semaphores->rows[i];
	}
	semaphores->rows_count = count;
}

/* All semaphores that a thread or an async method waits for. */
static enum hd_status find_wanted(struct holder_search *search, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	uint64_t last = 0;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (wait->kind == WAIT_SEMAPHORE && wait->object.type)
			TRY(add_semaphore(search, wait->object.address, err));
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		const struct async_node *node = &waits->async->rows[i];
		if (node->wait != AWAIT_SEMAPHORE || !node->object || node->object == last)
			continue;
		last = node->object;
		TRY(add_semaphore(search, last, err));
	}
	if (search->found->rows_count) {
		qsort(search->found->rows, search->found->rows_count, sizeof(*search->found->rows),
		      compare_semaphores);
	}
	drop_equal(search->found);
	return HD_OK;
}

uint32_t wait_chain_end(const struct waits *waits, uint32_t node)
{
	if (node >= waits->count)
		return waits->async->rows[node - waits->count].end;
	const struct thread_wait *wait = &waits->rows[node];
	uint32_t method = wait->kind == WAIT_TASK && wait->object.type
				  ? async_graph_find(waits->async, wait->object.address)
				  : ASYNC_NO_NODE;
	return method == ASYNC_NO_NODE ? ASYNC_NO_NODE : waits->async->rows[method].end;
}

static bool waits_itself(const struct waits *waits, uint32_t node, uint64_t semaphore)
{
	if (node < waits->count)
		return waits->rows[node].object.address == semaphore;
	const struct async_node *method = &waits->async->rows[node - waits->count];
	return method->wait == AWAIT_SEMAPHORE && method->object == semaphore;
}

/* Is @p inner a method that @p outer awaits, or waits for, over others? */
static bool node_leads_to(const struct waits *waits, uint32_t outer, uint32_t inner)
{
	uint32_t method = outer < waits->count ? async_graph_find(waits->async,
								  waits->rows[outer].object.address)
					       : waits->async->rows[outer - waits->count].next;
	for (unsigned int i = 0; method != ASYNC_NO_NODE && i < CHAIN_STEPS_MAX; i++) {
		if (waits->count + method == inner)
			return true;
		method = waits->async->rows[method].next;
	}
	return false;
}

/* The node that is looked at refers to the semaphore. */
static void offer(struct holder_search *search, struct held_semaphore *semaphore,
		  enum holder_kind kind)
{
	const struct waits *waits = search->waits;
	uint32_t node = search->node, end = wait_chain_end(waits, node);
	if (waits_itself(waits, node, semaphore->address))
		return;
	bool leads = end != ASYNC_NO_NODE &&
		     waits_itself(waits, (uint32_t)waits->count + end, semaphore->address);
	/* A consumer that waits for a signal looks the same, but has no highest count of 1. */
	if (leads && !semaphore->is_mutex)
		return;
	if (leads)
		kind = HOLDER_WAITS;
	uint32_t *holder = &semaphore->holders[kind];
	if (*holder == node)
		return;
	if (*holder != WAIT_NOBODY &&
	    (end == ASYNC_NO_NODE || wait_chain_end(waits, *holder) != end)) {
		semaphore->are_several[kind] = true;
	} else if (*holder == WAIT_NOBODY || node_leads_to(waits, *holder, node)) {
		*holder = node;
	}
}

static bool is_closure(struct runtime *runtime, const struct type *type)
{
	return strstr(type_name(runtime, type, NULL), CLOSURE) != NULL;
}

/* An object of the program, whose fields may have a semaphore: no array, no task. */
static bool may_have_semaphore(const struct holder_search *search, uint64_t address,
			       struct object *ret)
{
	struct async_graph *graph = search->waits->async;
	return member_object(search->waits->members, address, ret) && ret->type->has_pointers &&
	       !ret->type->component_size && ret->size <= OBJECT_MAX &&
	       !async_type_is_task(async_graph_type(graph, ret->type));
}

/* The fields of an object that the node refers to. */
static void look_at_fields(struct holder_search *search, const struct object *object,
			   bool only_mutex)
{
	struct references references;
	struct reference reference;
	references_begin(&references, &search->inner, object);
	while (references_next(&references, &reference)) {
		struct held_semaphore *semaphore = find_semaphore(search->found, reference.value);
		if (semaphore && (semaphore->is_mutex || !only_mutex))
			offer(search, semaphore, only_mutex ? HOLDER_CLASS : HOLDER_OWN);
	}
}

/*
 * Look at the object that the node refers to, and at its fields.  A field of its "this" belongs to
 * all methods of the class, so there only a mutex counts.
 */
static void look_at(struct holder_search *search, uint64_t value, bool only_mutex)
{
	struct object object, held;
	struct references references;
	struct reference reference;
	struct held_semaphore *semaphore = find_semaphore(search->found, value);
	if (semaphore)
		offer(search, semaphore, HOLDER_OWN);
	if (semaphore || !may_have_semaphore(search, value, &object))
		return;
	if (!is_closure(search->waits->heap->runtime, object.type)) {
		look_at_fields(search, &object, only_mutex);
		return;
	}
	/* The variables of a lambda are those of the method around it. */
	references_begin(&references, &search->outer, &object);
	while (references_next(&references, &reference)) {
		semaphore = find_semaphore(search->found, reference.value);
		if (semaphore) {
			offer(search, semaphore, HOLDER_OWN);
		} else if (may_have_semaphore(search, reference.value, &held)) {
			look_at_fields(search, &held, true);
		}
	}
}

/* Only a mutex counts in a field of what a thread refers to, and of an async method's "this". */
static enum hd_status visit_reference(void *arg, const struct wait_reference *reference,
				      struct hd_error *err)
{
	struct holder_search *search = arg;
	(void)err;
	search->node = reference->node;
	look_at(search, reference->value,
		reference->is_this || reference->node < search->waits->count);
	return HD_OK;
}

enum hd_status held_semaphores_find(const struct waits *waits, struct job *job,
				    struct held_semaphores *ret, struct hd_error *err)
{
	struct holder_search search = { .waits = waits,
					.found = ret,
					.outer = { .memory = waits->heap->memory },
					.inner = { .memory = waits->heap->memory } };
	enum hd_status status = find_wanted(&search, err);
	if (status == HD_OK && ret->rows_count)
		status = wait_references_visit(waits, visit_reference, &search, job, err);
	window_deinit(&search.outer);
	window_deinit(&search.inner);
	return status;
}

uint32_t held_semaphore_holder(const struct held_semaphores *semaphores, uint64_t address)
{
	const struct held_semaphore *semaphore = find_semaphore(semaphores, address);
	if (!semaphore)
		return WAIT_NOBODY;
	const uint32_t *holders = semaphore->holders;
	enum holder_kind kind = HOLDER_OWN;
	if (holders[HOLDER_OWN] == WAIT_NOBODY) {
		bool is_class = holders[HOLDER_CLASS] != WAIT_NOBODY;
		/* A method of the class, or one that the waiter comes from: either may have it. */
		if (is_class && holders[HOLDER_WAITS] != WAIT_NOBODY)
			return WAIT_NOBODY;
		kind = is_class ? HOLDER_CLASS : HOLDER_WAITS;
	}
	return semaphore->are_several[kind] ? WAIT_NOBODY : holders[kind];
}
