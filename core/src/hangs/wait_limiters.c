/* SPDX-License-Identifier: MIT */
#include "hangs/wait_limiters.h"

#include "analysis/async/async_graph.h"
#include "hangs/wait_alive.h"
#include "hangs/wait_items.h"
#include "runtime/coreclr/types/type_name.h"

/* Limiters with leases that are looked at; a limiter of each user of a service may be many. */
#define LIMITERS_MAX 8u
/* A call has a lease itself, or in an object of its own. */
#define LEASE_LEVELS 1u

struct limiter {
	struct wait_items leases; /* that are not disposed of */
	uint64_t permits;         /* in all; none of them is free */
};

static void limiter_deinit(struct limiter *limiter)
{
	wait_items_deinit(&limiter->leases);
}

/* Is it a ConcurrencyLimiter that has no free permit, and gives some? */
static bool is_taken(struct limiter *limiter)
{
	const struct waits *waits = limiter->leases.waits;
	const struct wait_thing *thing = limiter->leases.thing;
	struct members *members = waits->members;
	struct object object;
	size_t size;
	if (thing->kind != AWAIT_LIMITER || !member_object(members, thing->address, &object))
		return false;
	const char *name = type_name(waits->heap->runtime, object.type, &size);
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
	const struct waits *waits = limiter->leases.waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		for (size_t k = 0; waits->rows[i].kind == WAIT_NONE && k < stack->roots_count;
		     k++) {
			if (stack->roots[k].value == limiter->leases.thing->address)
				return true;
		}
	}
	return false;
}

/* The permits that leases have; more than there are: they cannot be counted. */
static uint64_t count_permits(const struct limiter *limiter)
{
	const struct wait_rows *leases = &limiter->leases.items;
	uint64_t sum = 0;
	for (size_t i = 0; i < leases->rows_count && sum <= limiter->permits; i++) {
		struct member count = fact_at(limiter->leases.waits->members,
					      leases->rows[i].object, FACT_LEASE_COUNT);
		sum += count.state == MEMBER_READ ? count.bits : limiter->permits + 1;
	}
	return sum;
}

/* A verdict needs to know of each permit that it does not come back. */
static enum hd_status judge(struct limiter *limiter, struct job *job, struct hd_error *err)
{
	struct wait_items *leases = &limiter->leases;
	bool is_known;
	TRY(wait_items_keep(leases, job, &is_known, err));
	uint64_t held = count_permits(limiter);
	if (!is_known || held > limiter->permits || is_at_work(limiter))
		return HD_OK;
	if (held < limiter->permits)
		TRY(wait_all_is_read(leases->waits, job, &is_known, err));
	if (!is_known)
		return HD_OK;
	leases->thing->lost = limiter->permits - held;
	leases->thing->pool_items = held;
	leases->thing->holders = held ? wait_items_holders(leases) : 0;
	return HD_OK;
}

enum hd_status wait_limiters_find(const struct waits *waits, struct job *job,
				  struct wait_things *things, struct hd_error *err)
{
	unsigned int with_leases = 0;
	for (size_t i = 0; i < things->rows_count; i++) {
		HD_CLEANUP(limiter)
		struct limiter limiter = {
			.leases = { .waits = waits,
				    .thing = &things->rows[i],
				    .levels = LEASE_LEVELS,
				    .window = { .memory = waits->heap->memory },
				    .inner = { .memory = waits->heap->memory } },
		};
		if (!is_taken(&limiter))
			continue;
		TRY(wait_items_find(&limiter.leases, LINK_LEASE, err));
		with_leases += limiter.leases.items.rows_count > 0;
		if (with_leases > LIMITERS_MAX)
			return HD_OK;
		TRY(wait_items_look(&limiter.leases, job, err));
		TRY(judge(&limiter, job, err));
	}
	return HD_OK;
}
