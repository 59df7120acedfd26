/* SPDX-License-Identifier: MIT */
#include "analysis/heap/exception_counts.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Offsets of the fields of System.Exception, from the object's begin. */
enum {
	MESSAGE = 8,
	TRACE = 16,
	REMOTE = 24,
	SIZE = 40
};

static struct fake_clr *fake;
static struct fake_types *types;
static struct exception_counts counts;
static uint64_t exception_type, derived_type, bytes_type;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	const struct fake_field fields[] = {
		{ .name = "_message", .element = ELEMENT_CLASS, .offset = MESSAGE - 8 },
		{ .name = "_stackTrace", .element = ELEMENT_CLASS, .offset = TRACE - 8 },
		{ .name = "_remoteStackTraceString",
		  .element = ELEMENT_CLASS,
		  .offset = REMOTE - 8 },
		{ .name = NULL },
	};
	exception_type = fake_class(types, &(struct fake_class){ .space = "System",
								 .name = "Exception",
								 .fields = fields,
								 .type = { .base_size = SIZE } });
	/* Has a field of the same name, which is another one. */
	const struct fake_field own[] = {
		{ .name = "_message", .element = ELEMENT_CLASS, .offset = SIZE - 16 },
		{ .name = NULL },
	};
	derived_type =
		fake_class(types, &(struct fake_class){ .name = "Derived",
							.fields = own,
							.inherited = 3,
							.type = { .base_size = SIZE + 8,
								  .parent = exception_type } });
	bytes_type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							  .component_size = 1,
							  .flags = 0x000a0000u,
							  .per_inst = fake->object_type });
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x40000);
}

static void tear_down(void)
{
	members_destroy(counts.members);
	exception_counts_deinit(&counts);
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static uint64_t make_exception(uint64_t type, uint64_t message, uint64_t trace)
{
	uint64_t address = fake_object(fake, type, 0);
	fake_poke_u64(&fake->memory, address + MESSAGE, message);
	fake_poke_u64(&fake->memory, address + TRACE, trace);
	return address;
}

/* A trace of @p count frames: instructions from @p ip on, methods 0x3000, ..., stacks from @p sp on. */
static uint64_t make_trace(uint32_t count, uint64_t ip, uint64_t sp)
{
	uint64_t address = fake_object(fake, bytes_type, 16 + 32 * count);
	fake_poke_u32(&fake->memory, address + 16, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at = address + 32 + 32ull * i;
		fake_poke_u64(&fake->memory, at, ip + i);
		fake_poke_u64(&fake->memory, at + 8, sp + 64 * i);
		fake_poke_u64(&fake->memory, at + 16, 0x3000 + i);
	}
	return address;
}

static void begin(void)
{
	counts = (struct exception_counts){ .heap = fake_heap(fake) };
	ASSERT_UINT(members_create(counts.heap, &counts.members, NULL), HD_OK);
}

static enum hd_status add(uint64_t address)
{
	struct object object;
	CU_ASSERT_FATAL(member_object(counts.members, address, &object));
	return exception_counts_add(&counts, &object, NULL);
}

TEST(equal_exceptions_are_one_row)
{
	uint64_t all[7];
	/* Equal texts in different strings, and stacks at different places. */
	all[0] = make_exception(exception_type, fake_string(fake, "late"), 0);
	for (size_t i = 1; i < 4; i++) {
		all[i] = make_exception(derived_type, fake_string(fake, "late"),
					make_trace(3, 0x1000, 0x7000 + 0x100 * i));
	}
	all[4] = make_exception(derived_type, fake_string(fake, "late"),
				make_trace(3, 0x1001, 0x7000));
	all[5] = make_exception(derived_type, fake_string(fake, "later"),
				make_trace(3, 0x1000, 0x7000));
	all[6] = fake_string(fake, "not an exception");
	begin();
	for (size_t i = 0; i < 7; i++)
		ASSERT_UINT(add(all[i]), HD_OK);
	exception_counts_sort(&counts);
	ASSERT_UINT(counts.total, 6);
	ASSERT_UINT(counts.rows_count, 4);
	ASSERT_UINT(counts.rows[0].count, 3);
	ASSERT_UINT(counts.rows[0].first, all[1]);
	ASSERT_UINT(counts.rows[0].type->method_table, derived_type);
	ASSERT_TEXT(counts.rows[0].message.bytes, "late");
	ASSERT_UINT(counts.rows[0].frames_count, 3);
	ASSERT_UINT(counts.rows[0].frames[2].method_desc, 0x3002);
	CU_ASSERT(!counts.rows[0].is_stack_cut && !counts.rows[0].message.is_cut);
	/* Then in the order of the heap. */
	ASSERT_UINT(counts.rows[1].first, all[0]);
	ASSERT_UINT(counts.rows[1].frames_count, 0);
	ASSERT_UINT(counts.rows[2].first, all[4]);
	ASSERT_UINT(counts.rows[3].first, all[5]);
}

TEST(null_and_empty_and_lost_messages_are_different)
{
	uint64_t all[4] = {
		make_exception(exception_type, 0, 0),
		make_exception(exception_type, fake_string(fake, ""), 0),
		make_exception(exception_type, 0, 0),
		make_exception(exception_type, 0x7eee00000008, 0),
	};
	begin();
	for (size_t i = 0; i < 4; i++)
		ASSERT_UINT(add(all[i]), HD_OK);
	exception_counts_sort(&counts);
	ASSERT_UINT(counts.rows_count, 3);
	ASSERT_UINT(counts.rows[0].count, 2);
	CU_ASSERT_PTR_NULL(counts.rows[0].message.bytes);
	CU_ASSERT(!counts.rows[0].message.is_lost);
	ASSERT_TEXT(counts.rows[1].message.bytes, "");
	CU_ASSERT_PTR_NULL(counts.rows[2].message.bytes);
	CU_ASSERT(counts.rows[2].message.is_lost);
}

/* As the cause of a failed static constructor in .NET 11: no frames, but their text. */
TEST(the_text_of_a_stack_is_compared)
{
	static const char *const texts[] = { "at A()", "at B()", "at A()" };
	uint64_t all[5];
	for (size_t i = 0; i < 5; i++) {
		all[i] = make_exception(derived_type, 0, 0);
		fake_poke_u64(&fake->memory, all[i] + REMOTE,
			      i < 3 ? fake_string(fake, texts[i]) : 0);
	}
	fake_poke_u64(&fake->memory, all[4] + REMOTE, 0x7eee00000008);
	begin();
	for (size_t i = 0; i < 5; i++)
		ASSERT_UINT(add(all[i]), HD_OK);
	exception_counts_sort(&counts);
	ASSERT_UINT(counts.rows_count, 4);
	ASSERT_UINT(counts.rows[0].count, 2);
	ASSERT_TEXT(counts.rows[0].remote.bytes, "at A()");
	ASSERT_TEXT(counts.rows[1].remote.bytes, "at B()");
	CU_ASSERT_PTR_NULL(counts.rows[2].remote.bytes);
	CU_ASSERT(!counts.rows[2].remote.is_lost && counts.rows[3].remote.is_lost);
	ASSERT_UINT(counts.bytes, 4 * sizeof(*counts.rows) + 12);
}

/* Many exceptions may share one long message and one long stack: only a part of each is read. */
TEST(long_messages_and_stacks_are_cut)
{
	char text[EXCEPTION_MESSAGE_MAX + 2];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	uint64_t message = fake_string(fake, text);
	uint64_t trace = make_trace(EXCEPTION_FRAMES_MAX + 1, 0x1000, 0x7000);
	uint64_t all[3] = {
		make_exception(exception_type, message, trace),
		make_exception(exception_type, message, trace),
		make_exception(exception_type, 0, make_trace(EXCEPTION_FRAMES_MAX, 0x1000, 0x7000)),
	};
	begin();
	for (size_t i = 0; i < 3; i++)
		ASSERT_UINT(add(all[i]), HD_OK);
	exception_counts_sort(&counts);
	ASSERT_UINT(counts.rows_count, 2);
	ASSERT_UINT(counts.rows[0].count, 2);
	ASSERT_UINT(counts.rows[0].message.size, EXCEPTION_MESSAGE_MAX);
	ASSERT_UINT(counts.rows[0].frames_count, EXCEPTION_FRAMES_MAX);
	CU_ASSERT(counts.rows[0].message.is_cut && counts.rows[0].is_stack_cut);
	ASSERT_UINT(counts.rows[1].frames_count, EXCEPTION_FRAMES_MAX);
	CU_ASSERT(!counts.rows[1].message.is_cut && !counts.rows[1].is_stack_cut);
}

TEST(exhausted_memory_is_said)
{
	uint64_t address = make_exception(derived_type, fake_string(fake, "late"),
					  make_trace(3, 0x1000, 0x7000));
	begin();
	struct object object;
	CU_ASSERT_FATAL(member_object(counts.members, address, &object));
	fake_poke_u64(&fake->memory, address + REMOTE, fake_string(fake, "at A()"));
	bool was_exhausted = false;
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t nth = 1; nth < 60 && status != HD_OK; nth++) {
		struct members *members = counts.members;
		exception_counts_deinit(&counts);
		counts = (struct exception_counts){ .heap = fake->heap, .members = members };
		alloc_fail_at(nth);
		status = exception_counts_add(&counts, &object, NULL);
		alloc_fail_at(0);
		was_exhausted |= status == HD_ERR_NOMEM;
	}
	CU_ASSERT(was_exhausted);
	ASSERT_UINT(status, HD_OK);
}

SUITE(.name = "exception counts", .set_up = set_up, .tear_down = tear_down)
