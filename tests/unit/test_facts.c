/* SPDX-License-Identifier: MIT */
#include "framework/absent.h"
#include "framework/member.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/text.h"

static struct fake_clr *fake;
static struct fake_types *types;
static struct members *members;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	members_destroy(members);
	members = NULL;
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

/* A class with one field of 32 bits. */
static uint64_t make_class(const char *space, const char *name, const char *field, uint64_t parent)
{
	const struct fake_field fields[] = { { .name = field, .element = ELEMENT_I4 },
					     { .name = NULL } };
	return fake_class(types,
			  &(struct fake_class){ .space = space,
						.name = name,
						.fields = fields,
						.type = { .base_size = 24, .parent = parent } });
}

static void attach(void)
{
	fake_types_attach(types);
	ASSERT_UINT(members_create(fake_heap(fake), &members, NULL), HD_OK);
	REQUIRE(members);
}

static bool is(enum net_type type, const char *name)
{
	return net_type_is(type, name, strlen(name));
}

TEST(a_name_of_a_type_may_have_type_arguments)
{
	CU_ASSERT(is(NET_TASK, "System.Threading.Tasks.Task"));
	CU_ASSERT_FALSE(is(NET_TASK, "System.Threading.Tasks.Task<System.Int32>"));
	CU_ASSERT_FALSE(is(NET_TASK, "System.Threading.Tasks.Tas"));
	CU_ASSERT(is(NET_TASK_OF, "System.Threading.Tasks.Task<System.Int32>"));
	CU_ASSERT(is(NET_TASK_OF, "System.Threading.Tasks.Task<A<B,C>[]>"));
	CU_ASSERT(is(NET_TASK_OF, "System.Threading.Tasks.Task`1"));
	CU_ASSERT_FALSE(is(NET_TASK_OF, "System.Threading.Tasks.Task<A>+Inner"));
	CU_ASSERT_FALSE(is(NET_TASK_OF, "System.Threading.Tasks.Task<A"));
	CU_ASSERT_FALSE(is(NET_TASK_OF, "System.Threading.Tasks.Task"));
	CU_ASSERT(is(NET_SOURCE_AS_TASK_OF,
		     "System.Threading.Tasks.ValueTask<A>+ValueTaskSourceAsTask"));
	CU_ASSERT_FALSE(is(NET_SOURCE_AS_TASK_OF,
			   "System.Threading.Tasks.ValueTask+ValueTaskSourceAsTask"));
}

TEST(every_row_names_a_type_and_a_field)
{
	for (enum net_type type = 0; type < NET_TYPES; type++) {
		CU_ASSERT(strlen(net_type_name(type)) > 3);
		ASSERT_UINT(net_type_main(net_type_main(type)), net_type_main(type));
	}
	for (enum fact fact = 0; fact < FACTS; fact++) {
		CU_ASSERT(fact_row(fact)->type < NET_TYPES && strlen(fact_row(fact)->path) > 1);
		ASSERT_UINT(fact_main(fact_main(fact)), fact_main(fact));
	}
}

TEST(a_field_that_is_there_is_read_and_nothing_is_absent)
{
	uint64_t task = make_class("System.Threading.Tasks", "Task", "m_stateFlags", 0);
	uint64_t object = fake_object(fake, task, 0);
	enum fact absent[FACTS];
	fake_poke_u64(&fake->memory, object + 8, 0x1000);
	attach();
	struct member flags = fact_at(members, object, FACT_TASK_FLAGS);
	ASSERT_UINT(flags.state, MEMBER_READ);
	ASSERT_UINT(flags.bits, 0x1000);
	ASSERT_UINT(fact_at(members, 0, FACT_TASK_FLAGS).state, MEMBER_NULL);
	ASSERT_UINT(facts_absent(fake_heap(fake), absent), 0);
}

TEST(an_object_of_the_type_without_the_field_is_told)
{
	uint64_t task = make_class("System.Threading.Tasks", "Task", "m_otherFlags", 0);
	uint64_t derived = make_class("Program", "MyTask", "mine", task);
	uint64_t object = fake_object(fake, derived, 0);
	enum fact absent[FACTS];
	struct text text = { 0 };
	attach();
	ASSERT_UINT(fact_at(members, object, FACT_TASK_FLAGS).state, MEMBER_ABSENT);
	ASSERT_UINT(facts_absent(fake->heap, absent), 1);
	ASSERT_UINT(absent[0], FACT_TASK_FLAGS);
	fact_append_name(&text, absent[0]);
	CU_ASSERT_STRING_EQUAL(text.bytes, "System.Threading.Tasks.Task.m_stateFlags");
	text_deinit(&text);
	facts_begin(fake->heap);
	ASSERT_UINT(facts_absent(fake->heap, absent), 0);
}

TEST(objects_of_other_types_need_not_have_the_field)
{
	uint64_t other = make_class("Program", "Order", "id", 0);
	uint64_t object = fake_object(fake, other, 0);
	enum fact absent[FACTS];
	attach();
	for (unsigned int i = 0; i < 2; i++)
		ASSERT_UINT(fact_at(members, object, FACT_TASK_FLAGS).state, MEMBER_ABSENT);
	ASSERT_UINT(fact_static(members, FACT_POOL_WORK).state, MEMBER_ABSENT);
	ASSERT_UINT(facts_absent(fake->heap, absent), 0);
}

TEST(an_alternative_that_is_found_makes_up_for_the_row)
{
	uint64_t channel =
		make_class("System.Threading.Channels", "BoundedChannel`1", "_blockedReaders", 0);
	uint64_t object = fake_object(fake, channel, 0);
	enum fact absent[FACTS];
	attach();
	ASSERT_UINT(fact_at(members, object, FACT_CHANNEL_READERS).state, MEMBER_ABSENT);
	ASSERT_UINT(facts_absent(fake->heap, absent), 1);
	ASSERT_UINT(fact_at(members, object, FACT_CHANNEL_READERS_8).state, MEMBER_READ);
	ASSERT_UINT(facts_absent(fake->heap, absent), 0);
	ASSERT_UINT(fact_at(members, object, FACT_CHANNEL_WRITERS_8).state, MEMBER_ABSENT);
	ASSERT_UINT(facts_absent(fake->heap, absent), 1);
	ASSERT_UINT(absent[0], FACT_CHANNEL_WRITERS);
}

SUITE(.name = "facts", .set_up = set_up, .tear_down = tear_down)
