/* SPDX-License-Identifier: MIT */
/* Async methods that may have a semaphore that others wait for, on a heap without threads. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_holders.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

static struct fake_tasks tasks;
static uint64_t enter_type, price_type;
static bool is_attached;

static void set_up(void)
{
	is_attached = false;
	tasks = fake_tasks_create();
	enter_type = fake_box_type(&tasks, "Shop+<Enter>d__1",
				   "B+AsyncStateMachineBox<Shop+<Enter>d__1>");
	price_type = fake_box_type(&tasks, "Shop+<Price>d__2",
				   "B+AsyncStateMachineBox<Shop+<Price>d__2>");
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

/* A semaphore for which one method waits. */
static uint64_t make_wanted(uint32_t highest)
{
	uint64_t semaphore = fake_semaphore(&tasks, highest);
	(void)fake_box(&tasks, enter_type, 0, fake_semaphore_wait(&tasks, semaphore));
	return semaphore;
}

/* A method that waits for something else, and refers to @p value by its field at @p place. */
static uint64_t make_user(uint32_t state, uint32_t place, uint64_t value)
{
	uint64_t box = fake_box(&tasks, price_type, state, fake_task(&tasks, tasks.task_type));
	fake_poke_u64(&tasks.fake->memory, box + place, value);
	return box;
}

/* An object of the program with the semaphore in a field. */
static uint64_t make_owner(uint64_t semaphore)
{
	return fake_one(&tasks, tasks.owner_type, semaphore);
}

/* The box that has the semaphore; 0: it is not known which. */
static uint64_t holder_of(uint64_t semaphore)
{
	struct waits *waits;
	struct held_semaphores found = { 0 };
	if (!is_attached)
		fake_types_attach(tasks.types);
	is_attached = true;
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(held_semaphores_find(waits, NULL, &found, NULL), HD_OK);
	uint32_t node = held_semaphore_holder(&found, semaphore);
	const struct async_node *box = wait_node_method(waits, node);
	uint64_t address = box ? box->address : 0;
	/* Whoever waits for it gets an edge to this one, which is only probable. */
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct async_node *waiter = wait_node_method(waits, i);
		if (waiter->wait == AWAIT_SEMAPHORE && waiter->object == semaphore &&
		    waiter->next == ASYNC_NO_NODE) {
			ASSERT_UINT(waits->edges[i].to, node);
			CU_ASSERT_TRUE(waits->edges[i].is_probable);
		}
	}
	held_semaphores_deinit(&found);
	waits_destroy(waits);
	return address;
}

TEST(the_only_method_that_refers_to_a_semaphore_has_it)
{
	uint64_t semaphore = make_wanted(1);
	uint64_t user = make_user(1, FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), user);
}

TEST(it_may_have_it_over_an_object_of_the_program)
{
	uint64_t semaphore = make_wanted(1);
	uint64_t user = make_user(1, FAKE_BOX_LOCAL, make_owner(semaphore));
	ASSERT_UINT(holder_of(semaphore), user);
}

TEST(who_has_not_passed_an_await_has_nothing)
{
	uint64_t semaphore = make_wanted(1);
	(void)make_user(0, FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), 0);
}

TEST(who_waits_for_it_does_not_have_it)
{
	uint64_t semaphore = make_wanted(1);
	uint64_t box = fake_box(&tasks, price_type, 1, fake_semaphore_wait(&tasks, semaphore));
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), 0);
}

TEST(of_several_nobody_is_named)
{
	uint64_t semaphore = make_wanted(1);
	(void)make_user(1, FAKE_BOX_LOCAL, semaphore);
	(void)make_user(2, FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), 0);
}

TEST(a_free_semaphore_is_nobodys)
{
	uint64_t semaphore = make_wanted(1);
	fake_poke_u32(&tasks.fake->memory, semaphore + FAKE_SEMAPHORE_FREE, 1);
	(void)make_user(1, FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), 0);
}

TEST(a_limit_of_several_has_several_holders)
{
	uint64_t semaphore = make_wanted(3);
	(void)make_user(1, FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), 0);
}

TEST(a_field_of_this_counts_for_a_lock_only)
{
	uint64_t lock = make_wanted(1), signal = make_wanted(FAKE_NO_LIMIT);
	uint64_t user = make_user(1, FAKE_BOX_THIS, make_owner(lock));
	(void)make_user(1, FAKE_BOX_THIS, make_owner(signal));
	ASSERT_UINT(holder_of(lock), user);
	ASSERT_UINT(holder_of(signal), 0);
}

TEST(a_local_comes_before_a_field_of_this)
{
	uint64_t semaphore = make_wanted(1);
	uint64_t user = make_user(1, FAKE_BOX_LOCAL, semaphore);
	(void)make_user(1, FAKE_BOX_THIS, make_owner(semaphore));
	ASSERT_UINT(holder_of(semaphore), user);
}

TEST(of_one_chain_the_method_further_in_has_it)
{
	uint64_t semaphore = make_wanted(1);
	uint64_t inner = make_user(1, FAKE_BOX_LOCAL, semaphore);
	uint64_t outer = fake_box(&tasks, enter_type, 1, inner);
	fake_poke_u64(&tasks.fake->memory, outer + FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), inner);
}

/* A method of the class whose inner method waits for the semaphore. */
static uint64_t make_journal(uint64_t semaphore)
{
	uint64_t inner = fake_box(&tasks, enter_type, 0, fake_semaphore_wait(&tasks, semaphore));
	uint64_t outer = fake_box(&tasks, price_type, 1, inner);
	fake_poke_u64(&tasks.fake->memory, outer + FAKE_BOX_THIS, make_owner(semaphore));
	return outer;
}

TEST(who_leads_to_a_wait_for_a_lock_may_have_it)
{
	uint64_t semaphore = fake_semaphore(&tasks, 1);
	uint64_t outer = make_journal(semaphore);
	ASSERT_UINT(holder_of(semaphore), outer);
}

TEST(who_leads_to_a_wait_for_a_signal_is_its_consumer)
{
	uint64_t semaphore = fake_semaphore(&tasks, FAKE_NO_LIMIT);
	uint64_t outer = make_journal(semaphore);
	fake_poke_u64(&tasks.fake->memory, outer + FAKE_BOX_LOCAL, semaphore);
	ASSERT_UINT(holder_of(semaphore), 0);
}

TEST(a_method_of_the_class_and_one_that_leads_to_the_wait_are_two)
{
	uint64_t semaphore = fake_semaphore(&tasks, 1);
	(void)make_journal(semaphore);
	(void)make_user(1, FAKE_BOX_THIS, make_owner(semaphore));
	ASSERT_UINT(holder_of(semaphore), 0);
}

SUITE(.name = "wait_holders", .set_up = set_up, .tear_down = tear_down)
