/* SPDX-License-Identifier: MIT */
/* Whether a handler of compiled code is a filter: by the exception clauses of its method. */
#include "runtime/coreclr/code/clauses.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"

/* CorExceptionFlag (corhdr.h). */
enum {
	FLAG_CATCH = 0,
	FLAG_FILTER = 1,
	FLAG_FINALLY = 2,
	FLAG_FAULT = 4
};

/*
 * In front of the code, the address of its header; there, at +8, that of the clauses, whose number comes
 * before them (codeman.h).  They are a section of the fat format, a word, then rows of flags, begin and end of
 * the try block, begin and end of the handler, and at +24 where the filter begins (EE_ILEXCEPTION_CLAUSE).
 */
#define ROW_SIZE   32u
#define ROW_FIRST  8u
#define ROW_FILTER 24u
#define CODE_SIZE  0x1000u
#define ROWS_MAX   8u

static struct fake_clr *fake;
static struct runtime *runtime;
static uint64_t code, clauses, header;
static uint32_t count;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	runtime = fake_runtime(fake);
	code = fake_alloc(&fake->memory, CODE_SIZE) + 16;
	header = fake_alloc(&fake->memory, 64);
	clauses = fake_alloc(&fake->memory, 8 + ROW_FIRST + ROWS_MAX * ROW_SIZE) + 8;
	fake_poke_u64(&fake->memory, code - 8, header);
	fake_poke_u64(&fake->memory, header + 8, clauses);
	count = 0;
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

static void add_clause(uint32_t flags, uint32_t filter)
{
	uint64_t row = clauses + ROW_FIRST + (uint64_t)ROW_SIZE * count++;
	fake_poke_u32(&fake->memory, row, flags);
	fake_poke_u32(&fake->memory, row + ROW_FILTER, filter);
	fake_poke_u64(&fake->memory, clauses - 8, count);
}

/* The answer about the function at that offset. */
enum said {
	IS_NONE,
	IS_FILTER,
	IS_NOT_TOLD
};
static unsigned int ask(uint32_t offset)
{
	const struct code_info info = { .start = code, .function = code + offset };
	bool is_filter = false;
	return coreclr_clauses_tell_filter(runtime, &info, &is_filter) ? is_filter : IS_NOT_TOLD;
}

TEST(a_function_where_a_filter_begins_is_one)
{
	add_clause(FLAG_CATCH, 0x01000004); /* in its place, the token of a class */
	add_clause(FLAG_FILTER, 0x80);
	add_clause(FLAG_FINALLY, 0);
	add_clause(FLAG_FILTER, 0xc0);
	ASSERT_UINT(ask(0x80), IS_FILTER);
	ASSERT_UINT(ask(0xc0), IS_FILTER);
	ASSERT_UINT(ask(0x84), IS_NONE);
	ASSERT_UINT(ask(0), IS_NONE);
}

TEST(only_clauses_of_filters_have_one)
{
	add_clause(FLAG_CATCH, 0x80);
	add_clause(FLAG_FINALLY, 0x84);
	add_clause(FLAG_FAULT, 0x88);
	ASSERT_UINT(ask(0x80), IS_NONE);
	ASSERT_UINT(ask(0x84), IS_NONE);
	ASSERT_UINT(ask(0x88), IS_NONE);
}

TEST(a_method_without_clauses_tells_nothing)
{
	ASSERT_UINT(ask(0x80), IS_NOT_TOLD);
	add_clause(FLAG_FILTER, 0x80);
	fake_poke_u64(&fake->memory, header + 8, 0);
	ASSERT_UINT(ask(0x80), IS_NOT_TOLD);
	fake_poke_u64(&fake->memory, code - 8, 0);
	ASSERT_UINT(ask(0x80), IS_NOT_TOLD);
}

TEST(code_of_ready_to_run_has_no_such_header)
{
	const struct code_info info = { .start = code,
					.function = code + 0x80,
					.is_precompiled = true };
	bool is_filter = true;
	add_clause(FLAG_FILTER, 0x80);
	CU_ASSERT_FALSE(coreclr_clauses_tell_filter(runtime, &info, &is_filter));
	CU_ASSERT_TRUE(is_filter);
}

TEST(clauses_that_cannot_be_read_tell_nothing)
{
	add_clause(FLAG_FINALLY, 0);
	/* More than there is memory for; more than a method has. */
	fake_poke_u64(&fake->memory, clauses - 8, 65536);
	ASSERT_UINT(ask(0x80), IS_NOT_TOLD);
	fake_poke_u64(&fake->memory, clauses - 8, UINT64_MAX);
	ASSERT_UINT(ask(0x80), IS_NOT_TOLD);
	fake_poke_u64(&fake->memory, header + 8, 0x10);
	ASSERT_UINT(ask(0x80), IS_NOT_TOLD);
	/* The one that is asked for comes before the damage. */
	fake_poke_u64(&fake->memory, header + 8, clauses);
	add_clause(FLAG_FILTER, 0x80);
	fake_poke_u64(&fake->memory, clauses - 8, 65536);
	ASSERT_UINT(ask(0x80), IS_FILTER);
}

/* The parts of a clause in front of the filter. */
static void set_bounds(uint32_t index, uint32_t first)
{
	uint64_t row = clauses + ROW_FIRST + (uint64_t)ROW_SIZE * index;
	for (uint32_t i = 0; i < 4; i++)
		fake_poke_u32(&fake->memory, row + 4 + 4 * (uint64_t)i, first + 0x10 * i);
}

TEST(clauses_are_listed_in_their_order)
{
	const struct code_info info = { .start = code };
	struct code_clauses list;
	add_clause(FLAG_CATCH, 0x01000004);
	add_clause(FLAG_FILTER, 0x88);
	add_clause(FLAG_FINALLY, 0);
	add_clause(FLAG_CATCH | 0x10000008, 0x12345678); /* a type, of a part that was moved */
	set_bounds(1, 0x20);
	CU_ASSERT_FATAL(code_clauses_read(runtime, &info, &list));
	CU_ASSERT(!list.is_partial);
	ASSERT_UINT(list.rows_count, 4);
	ASSERT_UINT(list.rows[0].token, 0x01000004);
	ASSERT_UINT(list.rows[0].type, 0);
	ASSERT_UINT(list.rows[1].try_begin, 0x20);
	ASSERT_UINT(list.rows[1].try_end, 0x30);
	ASSERT_UINT(list.rows[1].handler_begin, 0x40);
	ASSERT_UINT(list.rows[1].handler_end, 0x50);
	ASSERT_UINT(list.rows[1].filter, 0x88);
	ASSERT_UINT(list.rows[1].token, 0);
	ASSERT_UINT(list.rows[2].flags, CLAUSE_IS_FINALLY);
	ASSERT_UINT(list.rows[3].type, 0x12345678);
	ASSERT_UINT(list.rows[3].token, 0);
	code_clauses_deinit(&list);
	/* more than there is memory for */
	fake_poke_u64(&fake->memory, clauses - 8, 65536);
	CU_ASSERT_FATAL(code_clauses_read(runtime, &info, &list));
	CU_ASSERT(list.is_partial && list.rows_count >= 4);
	code_clauses_deinit(&list);
	fake_poke_u64(&fake->memory, clauses - 8, UINT64_MAX);
	CU_ASSERT_FATAL(code_clauses_read(runtime, &info, &list));
	CU_ASSERT(list.is_partial && !list.rows_count);
	/* none is no gap */
	fake_poke_u64(&fake->memory, header + 8, 0);
	CU_ASSERT_FATAL(code_clauses_read(runtime, &info, &list));
	CU_ASSERT(!list.is_partial && !list.rows_count);
	code_clauses_deinit(&list);
}

SUITE(.name = "clauses", .set_up = set_up, .tear_down = tear_down)
