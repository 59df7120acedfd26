/* SPDX-License-Identifier: MIT */
/* ConcurrencyLimiters whose permits are lost, or are with those that want more. */
#include "analysis/async/async_graph.h"
#include "gc/layouts/handle_table.h"
#include "hangs/wait_limiters.h"
#include "support/assert_more.h"
#include "support/fake_handles.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/job.h"

#define HANDLE_TYPES 13u
#define PERMITS      2u
#define WAITERS      3u
/* Offsets of the fields in an object of the limiter, its options and its leases. */
#define LIMITER_OPTIONS  8u
#define LIMITER_FREE     16u
#define LIMITER_DISPOSED 20u
#define LEASE_LIMITER    8u
#define LEASE_COUNT      16u
#define LEASE_DISPOSED   20u
#define OPTIONS_LIMIT    8u

static struct fake_tasks tasks;
static uint64_t call_type, inner_type, lease_type, limiter;

/* A class with a reference, a number and a flag. */
static uint64_t make_class(const char *name, uint64_t parent, const struct fake_field *fields)
{
	const struct gc_series series = { .size = 8 - 32, .offset = 8 };
	return fake_class(tasks.types,
			  &(struct fake_class){ .space = "System.Threading.RateLimiting",
						.name = name,
						.fields = fields,
						.type = { .base_size = 32,
							  .parent = parent,
							  .series = &series,
							  .series_count = 1 } });
}

static uint64_t make_limiter(const char *name)
{
	const struct fake_field none[] = { { .name = NULL } };
	const struct fake_field fields[] = {
		{ .name = "_options", .element = ELEMENT_CLASS },
		{ .name = "_permitCount", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_disposed", .element = ELEMENT_BOOLEAN, .offset = 12 },
		{ .name = NULL }
	};
	const struct fake_field options[] = {
		{ .name = "<PermitLimit>k__BackingField", .element = ELEMENT_I4 }, { .name = NULL }
	};
	uint64_t parent = fake_class(tasks.types,
				     &(struct fake_class){ .space = "System.Threading.RateLimiting",
							   .name = "RateLimiter",
							   .fields = none,
							   .type = { .base_size = 24 } });
	uint64_t options_type = fake_class(
		tasks.types, &(struct fake_class){ .space = "System.Threading.RateLimiting",
						   .name = "ConcurrencyLimiterOptions",
						   .fields = options,
						   .type = { .base_size = 24 } });
	uint64_t object = fake_object(tasks.fake, make_class(name, parent, fields), 0);
	uint64_t limits = fake_object(tasks.fake, options_type, 0);
	fake_poke_u32(&tasks.fake->memory, limits + OPTIONS_LIMIT, PERMITS);
	fake_poke_u64(&tasks.fake->memory, object + LIMITER_OPTIONS, limits);
	return object;
}

static uint64_t make_lease(uint32_t permits)
{
	uint64_t lease = fake_object(tasks.fake, lease_type, 0);
	fake_poke_u64(&tasks.fake->memory, lease + LEASE_LIMITER, limiter);
	fake_poke_u32(&tasks.fake->memory, lease + LEASE_COUNT, permits);
	return lease;
}

/* A call that waits for a permit. */
static uint64_t make_wait(uint64_t type)
{
	uint64_t task = fake_task(&tasks, tasks.task_type);
	fake_poke_u64(&tasks.fake->memory, task + FAKE_TASK_STATE, limiter);
	return fake_box(&tasks, type, 0, task);
}

/* A call that has a lease, and awaits @p inner. */
static uint64_t make_holder(uint64_t lease, uint64_t inner)
{
	uint64_t box = fake_box(&tasks, call_type, 1, inner);
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL, lease);
	return box;
}

/* A strong handle of the object. */
static void make_root(uint64_t object)
{
	uint64_t table = fake_handle_table(tasks.fake, HANDLE_TYPES);
	uint64_t segment = fake_handle_segment(tasks.fake, table, HANDLE_TYPES);
	(void)fake_handle_bucket(tasks.fake, &table, 1);
	fake_handle_block(tasks.fake, segment, 0, HANDLE_STRONG);
	(void)fake_handle(tasks.fake, segment, 0, 0, object);
}

static void set_up_limiter(const char *name)
{
	const struct fake_field lease[] = {
		{ .name = "_limiter", .element = ELEMENT_CLASS },
		{ .name = "_count", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_disposed", .element = ELEMENT_BOOLEAN, .offset = 12 },
		{ .name = NULL }
	};
	tasks = fake_tasks_create();
	call_type =
		fake_box_type(&tasks, "Shop+<Call>d__1", "B+AsyncStateMachineBox<Shop+<Call>d__1>");
	inner_type = fake_box_type(&tasks, "Shop+<Inner>d__2",
				   "B+AsyncStateMachineBox<Shop+<Inner>d__2>");
	limiter = make_limiter(name);
	lease_type = make_class("ConcurrencyLimiter+ConcurrencyLease", 0, lease);
	for (unsigned int i = 0; i < WAITERS; i++)
		(void)make_wait(call_type);
}

static void set_up(void)
{
	set_up_limiter("ConcurrencyLimiter");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* So many permits are lost, and so many are with calls that wait for more. */
static void check_permits(uint64_t lost, uint64_t held, uint64_t holders)
{
	struct waits *waits;
	struct wait_things things;
	uint32_t ends[32];
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	CU_ASSERT_FATAL(wait_nodes(waits) <= 32);
	wait_ends(waits, ends);
	ASSERT_UINT(wait_things_find(waits, ends, NULL, &things, NULL), HD_OK);
	ASSERT_UINT_FATAL(things.rows_count, 1);
	ASSERT_UINT(things.rows[0].address, limiter);
	ASSERT_UINT(things.rows[0].kind, AWAIT_LIMITER);
	CU_ASSERT(things.rows[0].methods >= WAITERS);
	CU_ASSERT(things.rows[0].may_change);
	ASSERT_UINT(wait_limiters_find(waits, NULL, &things, NULL), HD_OK);
	ASSERT_UINT(things.rows[0].lost, lost);
	ASSERT_UINT(things.rows[0].pool_items, held);
	ASSERT_UINT(things.rows[0].holders, holders);
	CU_ASSERT_EQUAL(wait_thing_is_sure(&things.rows[0]), lost && !held);
	waits_destroy(waits);
}

TEST(permits_without_a_lease_are_lost)
{
	check_permits(PERMITS, 0, 0);
}

TEST(a_lease_that_nothing_refers_to_is_lost_before_it_is_collected)
{
	(void)make_lease(1);
	check_permits(PERMITS, 0, 0);
}

/* The call forgot the other one. */
TEST(a_lease_that_a_call_has_comes_back)
{
	uint64_t delay = fake_task(&tasks, tasks.delay_type);
	uint64_t box = make_holder(make_lease(1), delay);
	make_root(box);
	check_permits(0, 0, 0);
}

TEST(a_lease_that_was_disposed_of_has_no_permit)
{
	uint64_t lease = make_lease(1);
	fake_poke_u32(&tasks.fake->memory, lease + LEASE_DISPOSED, 1);
	(void)make_holder(lease, fake_task(&tasks, tasks.delay_type));
	check_permits(PERMITS, 0, 0);
}

TEST(a_limiter_with_a_free_permit_gives_it)
{
	fake_poke_u32(&tasks.fake->memory, limiter + LIMITER_FREE, 1);
	check_permits(0, 0, 0);
}

TEST(a_limiter_that_was_disposed_of_ends_all_waits)
{
	fake_poke_u32(&tasks.fake->memory, limiter + LIMITER_DISPOSED, 1);
	check_permits(0, 0, 0);
}

/* It fills up by itself. */
TEST(another_limiter_is_a_thing_without_a_verdict)
{
	tear_down();
	set_up_limiter("TokenBucketRateLimiter");
	check_permits(0, 0, 0);
}

TEST(calls_that_have_all_permits_and_want_one_more_hang)
{
	for (unsigned int i = 0; i < PERMITS; i++)
		(void)make_holder(make_lease(1), make_wait(inner_type));
	check_permits(0, PERMITS, PERMITS);
}

TEST(a_wrapper_has_its_lease_for_the_call)
{
	(void)make_holder(fake_one(&tasks, tasks.owner_type, make_lease(PERMITS)),
			  make_wait(inner_type));
	check_permits(0, PERMITS, 1);
}

TEST(one_is_lost_and_one_is_with_a_call_that_wants_one_more)
{
	(void)make_holder(make_lease(1), make_wait(inner_type));
	check_permits(1, 1, 1);
}

TEST(a_lease_that_two_calls_refer_to_may_be_given_back)
{
	uint64_t lease = make_lease(PERMITS);
	make_root(make_holder(lease, make_wait(inner_type)));
	(void)make_holder(lease, fake_task(&tasks, tasks.delay_type));
	check_permits(0, 0, 0);
}

SUITE(.name = "wait_limiters", .set_up = set_up, .tear_down = tear_down)
