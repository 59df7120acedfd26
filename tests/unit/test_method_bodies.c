/* SPDX-License-Identifier: MIT */
/* All code that the JIT made, out of the maps of a fake runtime of .NET 10. */
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/fake_stack.h"
#include "support/suite.h"

/* In the RealCodeHeader (codeman.h): the MethodDesc. */
#define HEADER_METHOD 24u

/* In the CodeHeapListNode: the end of what is used (doc/coreclr.md 12.12). */
#define NODE_END 24u

/* Any addresses, which nobody asks for names. */
#define FIRST_METHOD 0x1000u
#define LAST_METHOD  0x2000u

static struct fake_clr *fake;
static struct fake_stack *stack;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	stack = fake_stack_create(fake);
	fake_poke_u64(stack->memory, stack->node + NODE_END, FAKE_CODE + FAKE_CODE_SIZE);
}

static void tear_down(void)
{
	fake_stack_destroy(stack);
	fake_clr_destroy(fake);
}

/* A body of a method. */
static uint64_t make_body(uint64_t method_desc)
{
	uint64_t code = fake_method(stack, &(struct fake_method){ .slots = 0 });
	fake_poke_u64(stack->memory, fake_peek_u64(stack->memory, code - 8) + HEADER_METHOD,
		      method_desc);
	return code;
}

static struct method_bodies read_bodies(void)
{
	struct method_bodies bodies;
	ASSERT_UINT_FATAL(method_bodies_read(stack->runtime, NULL, &bodies, NULL), HD_OK);
	return bodies;
}

TEST(a_runtime_without_code_has_no_bodies)
{
	struct method_bodies bodies = read_bodies();
	size_t count = 1;
	ASSERT_UINT(bodies.rows_count, 0);
	(void)method_bodies_of(&bodies, FIRST_METHOD, &count);
	ASSERT_UINT(count, 0);
	method_bodies_deinit(&bodies);
}

TEST(bodies_are_sorted_by_method_and_address)
{
	uint64_t late = make_body(LAST_METHOD), first = make_body(FIRST_METHOD);
	uint64_t again = make_body(FIRST_METHOD);
	struct method_bodies bodies = read_bodies();
	ASSERT_UINT_FATAL(bodies.rows_count, 3);
	const uint64_t starts[] = { first, again, late };
	for (size_t i = 0; i < 3; i++) {
		ASSERT_UINT(bodies.rows[i].start, starts[i]);
		ASSERT_UINT(bodies.rows[i].method_desc, i < 2 ? FIRST_METHOD : LAST_METHOD);
		CU_ASSERT_FALSE(bodies.rows[i].is_precompiled);
	}
	size_t count;
	ASSERT_UINT(method_bodies_of(&bodies, FIRST_METHOD, &count), 0);
	ASSERT_UINT(count, 2);
	ASSERT_UINT(method_bodies_of(&bodies, LAST_METHOD, &count), 2);
	ASSERT_UINT(count, 1);
	(void)method_bodies_of(&bodies, FIRST_METHOD + 8, &count);
	ASSERT_UINT(count, 0);
	method_bodies_deinit(&bodies);
}

TEST(stubs_are_not_bodies)
{
	uint64_t stub = make_body(FIRST_METHOD), last_kind = make_body(FIRST_METHOD);
	uint64_t method = make_body(LAST_METHOD);
	/* In the place of a header, the kind of a stub: up to 15 (codeman.h, StubCodeBlockKind). */
	fake_poke_u64(stack->memory, stub - 8, 0);
	fake_poke_u64(stack->memory, last_kind - 8, 15);
	struct method_bodies bodies = read_bodies();
	ASSERT_UINT_FATAL(bodies.rows_count, 1);
	ASSERT_UINT(bodies.rows[0].start, method);
	method_bodies_deinit(&bodies);
}

TEST(a_header_that_cannot_be_read_makes_the_list_partial)
{
	uint64_t broken = make_body(FIRST_METHOD), method = make_body(LAST_METHOD);
	struct method_bodies bodies = read_bodies();
	bool was_partial = bodies.is_partial;
	ASSERT_UINT(bodies.rows_count, 2);
	method_bodies_deinit(&bodies);
	fake_poke_u64(stack->memory, broken - 8, 0x1000000000000);
	bodies = read_bodies();
	ASSERT_UINT_FATAL(bodies.rows_count, 1);
	ASSERT_UINT(bodies.rows[0].start, method);
	CU_ASSERT_FALSE(was_partial);
	CU_ASSERT_TRUE(bodies.is_partial);
	method_bodies_deinit(&bodies);
}

/* The nibbles of .NET 10: a unit of 256 bytes has 4 bits for each 32 bytes (nibblemapmacros.h). */
TEST(the_map_says_where_methods_begin)
{
	uint64_t method = make_body(FIRST_METHOD);
	uint64_t unit = stack->map + 4 * ((method - FAKE_CODE) / 256);
	uint32_t before = (uint32_t)fake_peek_u64(stack->memory, unit);
	/* A second one, 64 bytes further, at the fourth of eight places of its 32 bytes. */
	uint64_t second = method / 32 * 32 + 64 + 12;
	fake_poke_u64(stack->memory, second - 8, fake_peek_u64(stack->memory, method - 8));
	fake_poke_u32(stack->memory, unit,
		      before | 4u << (28 - 4 * ((second - FAKE_CODE) / 32 % 8)));
	struct method_bodies bodies = read_bodies();
	ASSERT_UINT_FATAL(bodies.rows_count, 2);
	ASSERT_UINT(bodies.rows[0].start, method);
	ASSERT_UINT(bodies.rows[1].start, second);
	method_bodies_deinit(&bodies);
}

TEST(the_only_body_is_the_current_one)
{
	const struct method method = { .address = FIRST_METHOD };
	struct method_bodies bodies;
	uint64_t code = make_body(FIRST_METHOD);
	bodies = read_bodies();
	const struct method_body *current = method_body_current(stack->runtime, &bodies, &method);
	CU_ASSERT_FATAL(current != NULL);
	ASSERT_UINT(current->start, code);
	method_bodies_deinit(&bodies);
	/* Nothing tells here which of the two it is. */
	(void)make_body(FIRST_METHOD);
	bodies = read_bodies();
	CU_ASSERT_PTR_NULL(method_body_current(stack->runtime, &bodies, &method));
	method_bodies_deinit(&bodies);
}

SUITE(.name = "method_bodies", .set_up = set_up, .tear_down = tear_down)
