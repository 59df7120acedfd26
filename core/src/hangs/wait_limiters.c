/* SPDX-License-Identifier: MIT */
#include "hangs/wait_limiters.h"

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/wait_alive.h"
#include "hangs/wait_rows.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/job.h"

/* Objects whose fields are looked at: larger ones are no classes of a program. */
#define OBJECT_MAX 1024u
/* Limiters with leases that are looked at; a limiter of each user of a service may be many. */
#define LIMITERS_MAX 8u

struct limiter {
	const struct waits *waits;
	struct wait_thing *thing;
	uint64_t permits;        /* in all; none of them is free */
	struct wait_rows leases; /* that are not disposed of; node: unused */
	struct wait_rows held; /* leases, and the ends of the calls that have them and wait again */
	struct wait_rows seen; /* leases, and the ends of calls, or threads, that refer to them */
	struct window window, inner;
};

static void limiter_deinit(struct limiter *limiter)
{
	wait_rows_deinit(&limiter->leases);
	wait_rows_deinit(&limiter->held);
	wait_rows_deinit(&limiter->seen);
	window_deinit(&limiter->window);
	window_deinit(&limiter->inner);
}

/* Is it a ConcurrencyLimiter that has no free permit, and gives some? */
static bool is_taken(struct limiter *limiter)
{
	struct members *members = limiter->waits->members;
	struct object object;
	size_t size;
	if (limiter->thing->kind != AWAIT_LIMITER ||
	    !member_object(members, limiter->thing->address, &object))
		return false;
	const char *name = type_name(limiter->waits->heap->runtime, object.type, &size);
	struct member available = fact_of(members, &object, FACT_LIMITER_FREE);
	struct member all = fact_of(members, &object, FACT_LIMITER_LIMIT);
	struct member disposed = fact_of(members, &object, FACT_LIMITER_DISPOSED);
	if (!net_type_is(NET_CONCURRENCY_LIMITER, name, size) || all.state != MEMBER_READ ||
	    available.state != MEMBER_READ || disposed.state != MEMBER_READ)
		return false;
	limiter->permits = member_signed(&all) > 0 ? all.bits : 0;
	return limiter->permits && !available.bits && !disposed.bits;
}

/* Does a thread run, and refer to the limiter?  It may have taken a permit, and not made the lease yet. */
static bool is_at_work(const struct limiter *limiter)
{
	const struct waits *waits = limiter->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		for (size_t k = 0; waits->rows[i].kind == WAIT_NONE && k < stack->roots_count;
		     k++) {
			if (stack->roots[k].value == limiter->thing->address)
				return true;
		}
	}
	return false;
}

static enum hd_status find_leases(struct limiter *limiter, struct hd_error *err)
{
	const struct async_links *links = &limiter->waits->async->links;
	for (size_t i = 0; i < links->rows_count; i++) {
		const struct async_link *link = &links->rows[i];
		if (link->kind == LINK_LEASE && link->to == limiter->thing->address)
			TRY(wait_rows_add(&limiter->leases, link->from, 0, err));
	}
	wait_rows_sort(&limiter->leases);
	return HD_OK;
}

static bool is_lease(const struct limiter *limiter, uint64_t address)
{
	const struct wait_rows *leases = &limiter->leases;
	return wait_rows_has(leases, wait_rows_of(leases, address), address);
}

/* Add the lease that is at @p address, or to which an object there refers. */
static enum hd_status look_at(struct limiter *limiter, uint64_t address, uint32_t end,
			      struct wait_rows *rows, struct hd_error *err)
{
	const struct waits *waits = limiter->waits;
	struct object object;
	struct references references;
	struct reference reference;
	if (is_lease(limiter, address))
		return wait_rows_add(rows, address, end, err);
	if (!member_object(waits->members, address, &object) || !object.type->has_pointers ||
	    object.type->component_size || object.size > OBJECT_MAX ||
	    async_type_is_task(async_graph_type(waits->async, object.type)))
		return HD_OK;
	references_begin(&references, &limiter->inner, &object);
	while (references_next(&references, &reference)) {
		if (is_lease(limiter, reference.value))
			TRY(wait_rows_add(rows, reference.value, end, err));
	}
	return HD_OK;
}

/* Does it wait for the same limiter over another method, without a limit? */
static bool is_holder(const struct limiter *limiter, const struct async_node *method)
{
	const struct async_node *end = &limiter->waits->async->rows[method->end];
	return end->wait == AWAIT_LIMITER && end->object == limiter->thing->address &&
	       end->next == ASYNC_NO_NODE && !method->is_limited;
}

static enum hd_status look_at_method(struct limiter *limiter, uint32_t row, struct hd_error *err)
{
	struct async_graph *graph = limiter->waits->async;
	const struct async_node *method = &graph->rows[row];
	bool holds = is_holder(limiter, method);
	uint64_t self = async_node_this(graph, method);
	struct object object;
	struct references references;
	struct reference reference;
	if (!member_object(limiter->waits->members, method->holder, &object))
		return HD_OK;
	size_t before = limiter->held.rows_count;
	references_begin(&references, &limiter->window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot < method->fields)
			continue;
		TRY(look_at(limiter, reference.value, method->end, &limiter->seen, err));
		if (holds && reference.slot != self)
			TRY(look_at(limiter, reference.value, method->end, &limiter->held, err));
	}
	if (limiter->held.rows_count > before)
		limiter->thing->holder = row;
	return HD_OK;
}

static enum hd_status look_at_all(struct limiter *limiter, struct job *job, struct hd_error *err)
{
	const struct waits *waits = limiter->waits;
	struct async_graph *graph = waits->async;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		TRY(look_at_method(limiter, (uint32_t)i, err));
	}
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		uint32_t end = (uint32_t)(graph->rows_count + i);
		TRY(job_check(job, 0, err));
		for (size_t k = 0; k < stack->roots_count; k++)
			TRY(look_at(limiter, stack->roots[k].value, end, &limiter->seen, err));
	}
	wait_rows_sort(&limiter->held);
	wait_rows_sort(&limiter->seen);
	return graph->failed ? fail_nomem(err) : HD_OK;
}

/* Has a call that waits again the lease, and nobody else? */
static bool is_held(const struct limiter *limiter, uint64_t lease)
{
	return wait_rows_of(&limiter->held, lease) < limiter->held.rows_count &&
	       wait_rows_only(&limiter->seen, lease) != WAIT_NOBODY;
}

static bool are_held(const struct limiter *limiter)
{
	for (size_t i = 0; i < limiter->leases.rows_count; i++) {
		if (!is_held(limiter, limiter->leases.rows[i].object))
			return false;
	}
	return true;
}

/* The permits that leases have; more than there are: they cannot be counted. */
static uint64_t count_permits(const struct limiter *limiter)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < limiter->leases.rows_count && sum <= limiter->permits; i++) {
		struct member count = fact_at(limiter->waits->members,
					      limiter->leases.rows[i].object, FACT_LEASE_COUNT);
		sum += count.state == MEMBER_READ ? count.bits : limiter->permits + 1;
	}
	return sum;
}

static uint64_t count_holders(const struct limiter *limiter)
{
	const struct wait_rows *held = &limiter->held;
	uint64_t count = 0;
	uint32_t last = ASYNC_NO_NODE;
	for (size_t i = 0; i < held->rows_count; i++) {
		count += held->rows[i].node != last;
		last = held->rows[i].node;
	}
	return count;
}

/* A verdict needs to know of each permit that it does not come back. */
static enum hd_status judge(struct limiter *limiter, struct job *job, struct hd_error *err)
{
	bool is_known = true;
	if (!are_held(limiter)) {
		TRY(wait_alive_keep(limiter->waits, job, &limiter->leases, &is_known, err));
		if (!is_known || !are_held(limiter))
			return HD_OK;
	}
	uint64_t held = count_permits(limiter);
	if (held > limiter->permits || is_at_work(limiter))
		return HD_OK;
	if (held < limiter->permits)
		TRY(wait_all_is_read(limiter->waits, job, &is_known, err));
	if (!is_known)
		return HD_OK;
	limiter->thing->lost = limiter->permits - held;
	limiter->thing->pool_items = held;
	limiter->thing->holders = held ? count_holders(limiter) : 0;
	return HD_OK;
}

enum hd_status wait_limiters_find(const struct waits *waits, struct job *job,
				  struct wait_things *things, struct hd_error *err)
{
	unsigned int with_leases = 0;
	for (size_t i = 0; i < things->rows_count; i++) {
		HD_CLEANUP(limiter)
		struct limiter limiter = { .waits = waits,
					   .thing = &things->rows[i],
					   .window = { .memory = waits->heap->memory },
					   .inner = { .memory = waits->heap->memory } };
		if (!is_taken(&limiter))
			continue;
		TRY(find_leases(&limiter, err));
		with_leases += limiter.leases.rows_count > 0;
		if (with_leases > LIMITERS_MAX)
			return HD_OK;
		if (limiter.leases.rows_count)
			TRY(look_at_all(&limiter, job, err));
		TRY(judge(&limiter, job, err));
	}
	return HD_OK;
}
