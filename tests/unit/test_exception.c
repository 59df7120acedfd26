/* SPDX-License-Identifier: MIT */
#include "inspect/value.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Offsets of the fields, from the object's begin. */
enum {
	MESSAGE = 8,
	INNER = 16,
	TRACE = 24,
	TRACE_STRING = 32,
	HRESULT = 40,
	REMOTE = 48,
	SIZE = 72
};

static struct fake_clr *fake;
static struct fake_types *types;
static uint64_t exception_type, derived_type, aggregate_type, bytes_type;

static void make_types(void)
{
	const struct fake_field fields[] = {
		{ .name = "_message", .element = ELEMENT_CLASS, .offset = MESSAGE - 8 },
		{ .name = "_innerException", .element = ELEMENT_CLASS, .offset = INNER - 8 },
		{ .name = "_stackTrace", .element = ELEMENT_CLASS, .offset = TRACE - 8 },
		{ .name = "_stackTraceString",
		  .element = ELEMENT_CLASS,
		  .offset = TRACE_STRING - 8 },
		{ .name = "_remoteStackTraceString",
		  .element = ELEMENT_CLASS,
		  .offset = REMOTE - 8 },
		{ .name = "_HResult", .element = ELEMENT_I4, .offset = HRESULT - 8 },
		{ .name = NULL },
	};
	exception_type = fake_class(types, &(struct fake_class){ .space = "System",
								 .name = "Exception",
								 .fields = fields,
								 .type = { .base_size = SIZE } });
	/* Has a field of the same name, which is another one. */
	const struct fake_field own[] = {
		{ .name = "_message", .element = ELEMENT_CLASS, .offset = SIZE - 24 },
		{ .name = NULL },
	};
	derived_type =
		fake_class(types, &(struct fake_class){ .name = "Derived",
							.fields = own,
							.inherited = 6,
							.type = { .base_size = SIZE + 8,
								  .parent = exception_type } });
	const struct fake_field several[] = {
		{ .name = "_innerExceptions", .element = ELEMENT_CLASS, .offset = SIZE - 24 },
		{ .name = NULL },
	};
	aggregate_type =
		fake_class(types, &(struct fake_class){ .space = "System",
							.name = "AggregateException",
							.fields = several,
							.inherited = 6,
							.type = { .base_size = SIZE + 8,
								  .parent = exception_type } });
	bytes_type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							  .component_size = 1,
							  .flags = 0x000a0000u,
							  .per_inst = fake->object_type });
}

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	make_types();
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x8000);
}

static void tear_down(void)
{
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static bool read_at(uint64_t address, struct exception_info *ret)
{
	struct heap *heap = fake->heap ? fake->heap : fake_heap(fake);
	struct window window = { .memory = heap->memory };
	struct object object;
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	window_deinit(&window);
	return exception_read(heap, &object, ret);
}

static uint64_t make_exception(uint64_t type, const char *message)
{
	uint64_t text = message ? fake_string(fake, message) : 0;
	uint64_t address = fake_object(fake, type, 0);
	fake_poke_u64(&fake->memory, address + MESSAGE, text);
	return address;
}

/* AggregateException: _innerExceptions is an Exception[], whose first is _innerException as well. */
TEST(all_inner_exceptions_are_read)
{
	uint64_t inners[3], outer = make_exception(aggregate_type, "several");
	uint64_t array = fake_object(fake, fake->object_array_type, 3);
	for (size_t i = 0; i < 3; i++) {
		inners[i] = make_exception(derived_type, NULL);
		fake_poke_u64(&fake->memory, array + 16 + 8 * i, inners[i]);
	}
	fake_poke_u64(&fake->memory, outer + INNER, inners[0]);
	fake_poke_u64(&fake->memory, outer + SIZE - 16, array);
	struct exception_info info;
	CU_ASSERT_FATAL(read_at(outer, &info));
	for (uint32_t i = 0; i < 3; i++)
		ASSERT_UINT(exception_inner_at(fake->heap, &info, i), inners[i]);
	ASSERT_UINT(exception_inner_at(fake->heap, &info, 3), 0);
	/* An object that is not an array leaves the first one. */
	fake_poke_u64(&fake->memory, outer + SIZE - 16, inners[2]);
	exception_info_deinit(&info);
	CU_ASSERT_FATAL(read_at(outer, &info));
	ASSERT_UINT(exception_inner_at(fake->heap, &info, 0), inners[0]);
	ASSERT_UINT(exception_inner_at(fake->heap, &info, 1), 0);
	exception_info_deinit(&info);
}

TEST(all_of_an_exception_is_read)
{
	uint64_t inner = make_exception(exception_type, NULL);
	uint64_t outer = make_exception(derived_type, "it failed");
	uint64_t trace = fake_string(fake, "at Main()");
	fake_poke_u64(&fake->memory, outer + INNER, inner);
	fake_poke_u64(&fake->memory, outer + TRACE_STRING, trace);
	fake_poke_u64(&fake->memory, outer + REMOTE, fake_string(fake, "at Far()"));
	fake_poke_u32(&fake->memory, outer + HRESULT, 0x80131500);
	fake_poke_u64(&fake->memory, outer + SIZE - 16, fake->object_type);
	struct exception_info info;
	CU_ASSERT_FATAL(read_at(outer, &info));
	ASSERT_UINT(info.address, outer);
	ASSERT_UINT(info.inner, inner);
	ASSERT_UINT((uint32_t)info.hresult, 0x80131500);
	ASSERT_TEXT(info.message, "it failed");
	ASSERT_TEXT(info.stack_trace, "at Main()");
	ASSERT_TEXT(info.remote_trace, "at Far()");
	exception_info_deinit(&info);
	CU_ASSERT_FATAL(read_at(inner, &info));
	CU_ASSERT_PTR_NULL(info.message);
	CU_ASSERT_PTR_NULL(info.stack_trace);
	CU_ASSERT_PTR_NULL(info.remote_trace);
	CU_ASSERT(!info.remote_trace_lost);
	ASSERT_UINT(info.inner, 0);
	exception_info_deinit(&info);
}

TEST(an_empty_message_is_not_null)
{
	uint64_t address = make_exception(exception_type, "");
	struct exception_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_TEXT(info.message, "");
	exception_info_deinit(&info);
}

TEST(a_message_that_is_no_string_is_null)
{
	uint64_t address = make_exception(exception_type, NULL);
	struct exception_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	CU_ASSERT(!info.message_lost && !info.stack_trace_lost);
	exception_info_deinit(&info);
	fake_poke_u64(&fake->memory, address + MESSAGE, address);
	CU_ASSERT_FATAL(read_at(address, &info));
	CU_ASSERT_PTR_NULL(info.message);
	CU_ASSERT(info.message_lost && !info.stack_trace_lost);
	exception_info_deinit(&info);
	/* Where small cores have nothing. */
	fake_poke_u64(&fake->memory, address + TRACE_STRING, 0x7eee00000008);
	CU_ASSERT_FATAL(read_at(address, &info));
	CU_ASSERT(info.message_lost && info.stack_trace_lost && !info.remote_trace_lost);
	exception_info_deinit(&info);
	fake_poke_u64(&fake->memory, address + REMOTE, 0x7eee00000008);
	CU_ASSERT_FATAL(read_at(address, &info));
	CU_ASSERT(info.remote_trace_lost);
	exception_info_deinit(&info);
}

TEST(other_objects_are_no_exceptions)
{
	uint64_t address = fake_string(fake, "text");
	struct exception_info info;
	CU_ASSERT(!read_at(address, &info));
	CU_ASSERT(type_is_exception(fake->runtime, type_find(fake->runtime, derived_type)));
	CU_ASSERT(!type_is_exception(fake->runtime, type_find(fake->runtime, bytes_type)));
}

TEST(a_type_that_is_its_own_base_ends)
{
	uint64_t ring = fake_type(fake, &(struct fake_type){ .base_size = 24 });
	fake_poke_u64(&fake->memory, ring + 16, ring);
	struct heap *heap = fake_heap(fake);
	const struct type *type = type_find(heap->runtime, ring);
	REQUIRE(type);
	CU_ASSERT(!type_is_exception(heap->runtime, type));
	CU_ASSERT(!type_is_delegate(heap->runtime, type));
	CU_ASSERT(!type_is_enum(heap->runtime, type));
}

TEST(exhausted_memory_loses_nothing)
{
	uint64_t address = make_exception(derived_type, "it failed");
	struct exception_info info;
	(void)fake_heap(fake);
	CU_ASSERT_FATAL(read_at(address, &info));
	exception_info_deinit(&info);
	for (uint64_t nth = 1; nth < 60; nth++) {
		alloc_fail_at(nth);
		bool read = read_at(address, &info);
		alloc_fail_at(0);
		if (read)
			exception_info_deinit(&info);
	}
}

/*
 * A trace of two frames: sp 0x2000 + i, MethodDesc 0x3000 + i; the first where the hardware refused
 * to go on, the second one that called.
 */
static uint64_t make_trace(void)
{
	uint64_t address = fake_object(fake, bytes_type, 16 + 2 * 32 + 5);
	fake_poke_u32(&fake->memory, address + 16, 2);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t at = address + 32 + 32 * i;
		fake_poke_u64(&fake->memory, at, 0x1000 + i);
		fake_poke_u64(&fake->memory, at + 8, 0x2000 + i);
		fake_poke_u64(&fake->memory, at + 16, 0x3000 + i);
		fake_poke_u32(&fake->memory, at + 24, i ? 2 : 0); /* STEF_IP_ADJUSTED */
	}
	return address;
}

static void check_lost(uint64_t address, unsigned int count, bool is_lost)
{
	struct exception_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(exception_frames_lost(fake->heap, &info, count), is_lost);
	exception_info_deinit(&info);
}

static void check_frames(uint64_t address, unsigned int count)
{
	struct exception_info info;
	struct exception_frame frame;
	CU_ASSERT_FATAL(read_at(address, &info));
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT(exception_frame_at(fake->heap, &info, i, &frame));
		ASSERT_UINT(frame.ip, i ? 0x1002 : 0x1000);
		ASSERT_UINT(frame.within, 0x1000 + i);
		ASSERT_UINT(frame.sp, 0x2000 + i);
		ASSERT_UINT(frame.method_desc, 0x3000 + i);
	}
	CU_ASSERT(!exception_frame_at(fake->heap, &info, count, &frame));
	CU_ASSERT(!exception_frame_at(fake->heap, &info, UINT32_MAX, &frame));
	exception_info_deinit(&info);
}

TEST(frames_are_read_from_bytes)
{
	uint64_t trace = make_trace(), address = make_exception(exception_type, NULL);
	check_lost(address, 0, false);
	fake_poke_u64(&fake->memory, address + TRACE, trace);
	check_frames(address, 2);
	check_lost(address, 2, false);
	check_lost(address, 1, true);
	/* A count that the array cannot hold. */
	fake_poke_u32(&fake->memory, trace + 16, UINT32_MAX);
	check_frames(address, 2);
	check_lost(address, 2, true);
	fake_poke_u32(&fake->memory, trace + 16, 0);
	check_frames(address, 0);
}

TEST(frames_are_return_addresses_up_to_zero)
{
	/* Thrown again between the second and the third. */
	static const uint64_t words[] = { 0x1000, 0x1100, 1, 0x1200, 0, 0x1300 };
	uint64_t addresses_type =
		fake_type(fake, &(struct fake_type){ .base_size = 24,
						     .component_size = 8,
						     .flags = 0x000a0000u,
						     .per_inst = fake->object_type });
	uint64_t trace = fake_object(fake, addresses_type, 6);
	uint64_t address = make_exception(exception_type, NULL);
	struct exception_info info;
	struct exception_frame frame;
	for (size_t i = 0; i < 6; i++)
		fake_poke_u64(&fake->memory, trace + 16 + 8 * i, words[i]);
	fake_poke_u64(&fake->memory, address + TRACE, trace);
	CU_ASSERT_FATAL(read_at(address, &info));
	for (uint32_t i = 0; i < 3; i++) {
		CU_ASSERT(exception_frame_at(fake->heap, &info, i, &frame));
		ASSERT_UINT(frame.ip, 0x1000 + 0x100 * i);
		ASSERT_UINT(frame.within, frame.ip - 1);
		ASSERT_UINT(frame.sp, 0);
	}
	CU_ASSERT(!exception_frame_at(fake->heap, &info, 3, &frame));
	CU_ASSERT(!exception_frame_at(fake->heap, &info, UINT32_MAX, &frame));
	exception_info_deinit(&info);
	check_lost(address, 3, false);
	check_lost(address, 2, true);
}

/* A look from the first word on for each of them would take minutes. */
TEST(many_return_addresses_are_read_in_a_row)
{
	enum {
		FRAMES = 100000
	};
	uint64_t addresses_type =
		fake_type(fake, &(struct fake_type){ .base_size = 24,
						     .component_size = 8,
						     .flags = 0x000a0000u,
						     .per_inst = fake->object_type });
	fake_segment(fake, 0, GENERATION_LOH, 0x100000);
	uint64_t trace = fake_object(fake, addresses_type, FRAMES);
	uint64_t address = make_exception(exception_type, NULL);
	struct exception_info info;
	struct exception_frame frame;
	uint32_t right = 0;
	/* Every other word says that it was thrown again. */
	for (uint32_t i = 0; i < FRAMES; i++)
		fake_poke_u64(&fake->memory, trace + 16 + 8 * (uint64_t)i, i % 2 ? 0x1000 + i : 1);
	fake_poke_u64(&fake->memory, address + TRACE, trace);
	CU_ASSERT_FATAL(read_at(address, &info));
	for (uint32_t i = 0; i < FRAMES / 2; i++)
		right += exception_frame_at(fake->heap, &info, i, &frame) &&
			 frame.ip == 0x1001 + 2 * (uint64_t)i;
	ASSERT_UINT(right, FRAMES / 2);
	/* Back to the first ones. */
	CU_ASSERT(exception_frame_at(fake->heap, &info, 1, &frame));
	ASSERT_UINT(frame.ip, 0x1003);
	CU_ASSERT(exception_frame_at(fake->heap, &info, 0, &frame));
	ASSERT_UINT(frame.ip, 0x1001);
	exception_info_deinit(&info);
}

TEST(frames_are_read_through_an_array_of_objects)
{
	uint64_t trace = make_trace(), list = fake_object(fake, fake->object_array_type, 1);
	uint64_t address = make_exception(exception_type, NULL);
	fake_poke_u64(&fake->memory, list + 16, trace);
	fake_poke_u64(&fake->memory, address + TRACE, list);
	check_frames(address, 2);
	/* Arrays within themselves, and what is not an array. */
	fake_poke_u64(&fake->memory, list + 16, list);
	check_frames(address, 0);
	fake_poke_u64(&fake->memory, address + TRACE, address);
	check_frames(address, 0);
	check_lost(address, 0, true);
}

SUITE(.name = "exception", .set_up = set_up, .tear_down = tear_down)
