/* SPDX-License-Identifier: MIT */
#include "framework/member.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"

static struct fake_clr *fake;
static struct fake_types *types;
static struct members *members;
static uint64_t node, counts, queue;

/* class Node { Node next; int size }, struct Counts { long data }, class Queue { Node head; Counts counts } */
static void make_types(void)
{
	node = fake_class(
		types,
		&(struct fake_class){
			.name = "Node",
			.fields =
				(const struct fake_field[]){
					{ .name = "next", .element = ELEMENT_CLASS },
					{ .name = "size", .element = ELEMENT_I4, .offset = 8 },
					{ .name = NULL } },
			.type = { .base_size = 32 } });
	counts = fake_class(
		types, &(struct fake_class){
			       .name = "Counts",
			       .fields = (const struct fake_field[]){ { .name = "data",
									.element = ELEMENT_I8 },
								      { .name = NULL } },
			       .type = { .base_size = 24, .flags = 0x00040000u } });
	queue = fake_class(
		types, &(struct fake_class){
			       .name = "Queue",
			       .fields = (const struct fake_field[]){ { .name = "head",
									.element = ELEMENT_CLASS },
								      { .name = "counts",
									.element = ELEMENT_VALUE,
									.type = counts,
									.offset = 8 },
								      { .name = NULL } },
			       .type = { .base_size = 32 } });
}

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	make_types();
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	members_destroy(members);
	members = NULL;
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static void attach(void)
{
	fake_types_attach(types);
	ASSERT_UINT(members_create(fake_heap(fake), &members, NULL), HD_OK);
	REQUIRE(members);
}

TEST(a_path_leads_through_structs_and_references)
{
	uint64_t last = fake_object(fake, node, 0), first = fake_object(fake, node, 0);
	uint64_t object = fake_object(fake, queue, 0);
	fake_poke_u64(&fake->memory, last + 16, 0xfffffffe);
	fake_poke_u64(&fake->memory, first + 8, last);
	fake_poke_u64(&fake->memory, object + 8, first);
	fake_poke_u64(&fake->memory, object + 16, 0x1400140014);
	attach();
	for (unsigned int i = 0; i < 2; i++) {
		struct member member = member_at(members, object, "counts.data");
		ASSERT_UINT(member.state, MEMBER_READ);
		ASSERT_UINT(member.bits, 0x1400140014);
		ASSERT_UINT(member.address, object + 16);
		member = member_at(members, object, "head.next.size");
		ASSERT_UINT(member.state, MEMBER_READ);
		ASSERT_UINT(member.bits, 0xfffffffe);
		CU_ASSERT_EQUAL(member_signed(&member), -2);
		member = member_at(members, object, "counts");
		ASSERT_UINT(member.state, MEMBER_READ);
		ASSERT_UINT(member.address, object + 16);
		CU_ASSERT(member.type && member.type->method_table == counts);
		member = member_of_struct(members, member.type, member.address, "data");
		ASSERT_UINT(member.bits, 0x1400140014);
	}
}

TEST(null_absent_and_unreadable_are_told_apart)
{
	uint64_t lonely = fake_object(fake, node, 0), wild = fake_object(fake, node, 0);
	fake_poke_u64(&fake->memory, wild + 8, 0x123456780);
	attach();
	struct member member = member_at(members, lonely, "next");
	ASSERT_UINT(member.state, MEMBER_READ);
	ASSERT_UINT(member.bits, 0);
	ASSERT_UINT(member_at(members, lonely, "next.size").state, MEMBER_NULL);
	ASSERT_UINT(member_at(members, 0, "next").state, MEMBER_NULL);
	ASSERT_UINT(member_at(members, wild, "next").bits, 0x123456780);
	ASSERT_UINT(member_at(members, wild, "next.size").state, MEMBER_UNREADABLE);
	ASSERT_UINT(member_at(members, 0x123456780, "next").state, MEMBER_UNREADABLE);
	ASSERT_UINT(member_at(members, lonely, "previous").state, MEMBER_ABSENT);
	ASSERT_UINT(member_at(members, lonely, "size.bits").state, MEMBER_ABSENT);
	ASSERT_UINT(member_static(members, "Nobody", "field").state, MEMBER_ABSENT);
	ASSERT_UINT(member_static(members, "Node", "field").state, MEMBER_ABSENT);
}

TEST(many_names_are_remembered)
{
	static const char names[200][2] = { "" }; /* 200 addresses */
	uint64_t object = fake_object(fake, node, 0);
	attach();
	for (unsigned int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 200; i++)
			ASSERT_UINT(member_at(members, object, names[i]).state, MEMBER_ABSENT);
		ASSERT_UINT(member_at(members, object, "size").state, MEMBER_READ);
	}
}

SUITE(.name = "member", .set_up = set_up, .tear_down = tear_down)
