/* SPDX-License-Identifier: MIT */
#include "framework/absent.h"
#include "framework/delegate.h"
#include "inspect/value.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Offsets of the fields, from the object's begin. */
enum {
	TARGET = 8,
	METHOD = 16,
	AUX = 24,
	LIST = 32,
	COUNT = 40
};

static struct fake_clr *fake;
static struct fake_types *types;
static uint64_t delegate_type, compiled_type;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	const struct fake_field base[] = {
		{ .name = "_target", .element = ELEMENT_CLASS, .offset = TARGET - 8 },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = METHOD - 8 },
		{ .name = "_methodPtrAux", .element = ELEMENT_I, .offset = AUX - 8 },
		{ .name = NULL },
	};
	const struct fake_field multicast[] = {
		{ .name = "_invocationList", .element = ELEMENT_CLASS, .offset = LIST - 8 },
		{ .name = "_invocationCount", .element = ELEMENT_I, .offset = COUNT - 8 },
		{ .name = NULL },
	};
	uint64_t parent = fake_class(types, &(struct fake_class){ .space = "System",
								  .name = "Delegate",
								  .fields = base,
								  .type = { .base_size = 40 } });
	parent = fake_class(types,
			    &(struct fake_class){ .space = "System",
						  .name = "MulticastDelegate",
						  .fields = multicast,
						  .inherited = 3,
						  .type = { .base_size = 56, .parent = parent } });
	delegate_type = fake_class(
		types, &(struct fake_class){ .name = "Handler",
					     .inherited = 5,
					     .type = { .base_size = 56, .parent = parent } });
	const struct fake_field compiled[] = {
		{ .name = "_firstParameter", .element = ELEMENT_CLASS, .offset = TARGET - 8 },
		{ .name = "_functionPointer", .element = ELEMENT_I, .offset = METHOD - 8 },
		{ .name = "_extraFunctionPointerOrData", .element = ELEMENT_I, .offset = AUX - 8 },
		{ .name = "_helperObject", .element = ELEMENT_CLASS, .offset = LIST - 8 },
		{ .name = NULL },
	};
	parent = fake_class(types, &(struct fake_class){ .space = "System",
							 .name = "Delegate",
							 .fields = compiled,
							 .type = { .base_size = 56 } });
	compiled_type = fake_class(
		types, &(struct fake_class){ .name = "Compiled",
					     .inherited = 4,
					     .type = { .base_size = 56, .parent = parent } });
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x8000);
}

static void tear_down(void)
{
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static uint64_t make_delegate(uint64_t target, uint64_t code, uint64_t aux)
{
	uint64_t address = fake_object(fake, delegate_type, 0);
	fake_poke_u64(&fake->memory, address + TARGET, target ? target : address);
	fake_poke_u64(&fake->memory, address + METHOD, code);
	fake_poke_u64(&fake->memory, address + AUX, aux);
	return address;
}

static bool read_at(uint64_t address, struct delegate_info *ret)
{
	struct heap *heap = fake_heap(fake);
	struct window window = { .memory = heap->memory };
	struct object object;
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	window_deinit(&window);
	return delegate_read(heap, &object, ret);
}

TEST(a_closed_one_has_a_target)
{
	uint64_t target = fake_string(fake, "this");
	uint64_t address = make_delegate(target, 0x5000, 0);
	struct delegate_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.target, target);
	ASSERT_UINT(info.method_code, 0x5000);
	ASSERT_UINT(info.method_desc, 0);
	ASSERT_UINT(info.token, 0);
	ASSERT_UINT(info.invocation_list, 0);
}

TEST(an_open_one_is_its_own_target)
{
	uint64_t address = make_delegate(0, 0x5000, 0x6000);
	struct delegate_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.target, address);
	ASSERT_UINT(info.method_code, 0x6000);
}

static uint64_t make_list(uint64_t delegate, uint32_t length, uint64_t count)
{
	uint64_t list = fake_object(fake, fake->object_array_type, length);
	fake_poke_u64(&fake->memory, delegate + LIST, list);
	fake_poke_u64(&fake->memory, delegate + COUNT, count);
	return list;
}

/* The fields of a program that was compiled ahead of time (doc/nativeaot.md 7.3). */
TEST(a_compiled_one_has_the_same_in_other_fields)
{
	uint64_t target = fake_string(fake, "this"), list;
	uint64_t address = fake_object(fake, compiled_type, 0);
	struct delegate_info info;
	fake_poke_u64(&fake->memory, address + TARGET, target);
	fake_poke_u64(&fake->memory, address + METHOD, 0x5000);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.target, target);
	ASSERT_UINT(info.method_code, 0x5000);
	fake_poke_u64(&fake->memory, address + TARGET, address);
	fake_poke_u64(&fake->memory, address + AUX, 0x6000);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.method_code, 0x6000);
	list = make_list(address, 2, 0);
	fake_poke_u64(&fake->memory, address + AUX, 2);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, list);
	ASSERT_UINT(info.invocation_count, 2);
}

TEST(rules_read_the_words_of_a_compiled_one)
{
	uint64_t target = fake_string(fake, "this"), address = fake_object(fake, compiled_type, 0);
	uint64_t list = fake_object(fake, fake->object_array_type, 3);
	struct heap *heap = fake_heap(fake);
	struct members *members = NULL;
	struct window window = { .memory = heap->memory };
	struct delegate_words words;
	struct object object;
	CU_ASSERT_FATAL(members_create(heap, &members, NULL) == HD_OK);
	fake_poke_u64(&fake->memory, address + TARGET, target);
	fake_poke_u64(&fake->memory, address + AUX, 3);
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	/* No list: one handler. */
	CU_ASSERT_TRUE(delegate_handlers_read(members, &object, &words));
	ASSERT_UINT(words.handlers, 0);
	fake_poke_u64(&fake->memory, address + LIST, list);
	CU_ASSERT_TRUE(delegate_handlers_read(members, &object, &words));
	ASSERT_UINT(words.handlers, list);
	ASSERT_UINT(words.count, 3);
	ASSERT_UINT(delegate_target(members, &object).bits, target);
	/* Nothing of CoreCLR's is missing. */
	enum fact absent[FACTS];
	ASSERT_UINT(facts_absent(heap, absent), 0);
	window_deinit(&window);
	members_destroy(members);
}

TEST(a_multicast_one_has_a_list)
{
	uint64_t address = make_delegate(0, 0x5000, 0x6000), list = make_list(address, 4, 3);
	struct delegate_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, list);
	ASSERT_UINT(info.invocation_count, 3);
	ASSERT_UINT(info.target, 0);
	ASSERT_UINT(info.method_code, 0);
}

TEST(a_count_beyond_the_list_makes_no_list)
{
	uint64_t address = make_delegate(0, 0x5000, 0x6000);
	(void)make_list(address, 4, 5);
	struct delegate_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, 0);
	ASSERT_UINT(info.method_code, 0x6000);
	(void)make_list(address, 4, UINT64_MAX); /* an unmanaged function pointer's */
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, 0);
}

TEST(a_list_that_is_none_is_ignored)
{
	uint64_t address = make_delegate(0, 0x5000, 0x6000), text = fake_string(fake, "abcdef");
	fake_poke_u64(&fake->memory, address + LIST, text);
	fake_poke_u64(&fake->memory, address + COUNT, 2);
	struct delegate_info info;
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, 0);
	fake_poke_u64(&fake->memory, address + LIST, 0x10);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, 0);
}

/* Delegates of .NET 11: a list has structs of one reference each, and may be longer than what is used. */
static uint64_t make_delegate_11(uint64_t *ret_wrappers)
{
	const struct fake_field fields[] = {
		{ .name = "_helperObject", .element = ELEMENT_CLASS, .offset = 0 },
		{ .name = "_target", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 16 },
		{ .name = "_methodPtrAux", .element = ELEMENT_I, .offset = 24 },
		{ .name = "_extraData", .element = ELEMENT_I, .offset = 32 },
		{ .name = NULL },
	};
	const struct fake_field value[] = { { .name = "Value", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	fake_types_destroy(types);
	fake_clr_destroy(fake);
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	uint64_t parent = fake_class(types, &(struct fake_class){ .space = "System",
								  .name = "Delegate",
								  .fields = fields,
								  .type = { .base_size = 56 } });
	parent = fake_class(types,
			    &(struct fake_class){ .space = "System",
						  .name = "MulticastDelegate",
						  .inherited = 5,
						  .type = { .base_size = 56, .parent = parent } });
	delegate_type = fake_class(
		types, &(struct fake_class){ .name = "Handler",
					     .inherited = 5,
					     .type = { .base_size = 56, .parent = parent } });
	uint64_t wrapper = fake_class(
		types, &(struct fake_class){ .space = "System",
					     .name = "Wrapper",
					     .fields = value,
					     .type = { .base_size = 24, .flags = 0x00040000u } });
	*ret_wrappers = fake_array_type(fake, wrapper);
	const struct fake_field compiled[] = {
		{ .name = "_firstParameter", .element = ELEMENT_CLASS, .offset = TARGET - 8 },
		{ .name = "_functionPointer", .element = ELEMENT_I, .offset = METHOD - 8 },
		{ .name = "_extraFunctionPointerOrData", .element = ELEMENT_I, .offset = AUX - 8 },
		{ .name = "_helperObject", .element = ELEMENT_CLASS, .offset = LIST - 8 },
		{ .name = NULL },
	};
	parent = fake_class(types, &(struct fake_class){ .space = "System",
							 .name = "Delegate",
							 .fields = compiled,
							 .type = { .base_size = 56 } });
	compiled_type = fake_class(
		types, &(struct fake_class){ .name = "Compiled",
					     .inherited = 4,
					     .type = { .base_size = 56, .parent = parent } });
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x8000);
	uint64_t address = fake_object(fake, delegate_type, 0);
	fake_poke_u64(&fake->memory, address + 16, address);
	fake_poke_u64(&fake->memory, address + 24, 0x5000);
	return address;
}

TEST(a_multicast_one_of_11_has_a_list_of_wrappers)
{
	uint64_t wrappers, address = make_delegate_11(&wrappers);
	uint64_t list = fake_object(fake, wrappers, 8);
	struct delegate_info info;
	fake_poke_u64(&fake->memory, address + 8, list);
	fake_poke_u64(&fake->memory, address + 40, 5);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, list);
	ASSERT_UINT(info.invocation_count, 5);
	ASSERT_UINT(info.target, 0);
	ASSERT_UINT(info.method_code, 0);
	fake_poke_u64(&fake->memory, address + 40, 9);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.invocation_list, 0);
}

TEST(a_closed_one_of_11_has_a_target)
{
	uint64_t wrappers, address = make_delegate_11(&wrappers);
	uint64_t target = fake_string(fake, "this");
	struct delegate_info info;
	fake_poke_u64(&fake->memory, address + 16, target);
	fake_poke_u64(&fake->memory, address + 40, 0x7f0012345678);
	CU_ASSERT_FATAL(read_at(address, &info));
	ASSERT_UINT(info.target, target);
	ASSERT_UINT(info.method_code, 0x5000);
	ASSERT_UINT(info.invocation_list, 0);
}

TEST(delegates_whose_list_is_not_known_are_told)
{
	const struct fake_field fields[] = {
		{ .name = "_target", .element = ELEMENT_CLASS, .offset = 0 },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 8 },
		{ .name = "_methodPtrAux", .element = ELEMENT_I, .offset = 16 },
		{ .name = "_handlersOf12", .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = NULL },
	};
	tear_down();
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	uint64_t parent = fake_class(types, &(struct fake_class){ .space = "System",
								  .name = "Delegate",
								  .fields = fields,
								  .type = { .base_size = 40 } });
	parent = fake_class(types,
			    &(struct fake_class){ .space = "System",
						  .name = "MulticastDelegate",
						  .inherited = 4,
						  .type = { .base_size = 40, .parent = parent } });
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x8000);
	struct delegate_info info;
	enum fact absent[FACTS];
	CU_ASSERT(read_at(fake_object(fake, parent, 0), &info));
	ASSERT_UINT(facts_absent(fake->heap, absent), 2);
	ASSERT_UINT(absent[0], FACT_DELEGATE_LIST);
	ASSERT_UINT(absent[1], FACT_DELEGATE_COUNT);
}

TEST(other_objects_are_no_delegates)
{
	struct delegate_info info;
	CU_ASSERT(!read_at(fake_string(fake, "text"), &info));
}

TEST(exhausted_memory_loses_nothing)
{
	uint64_t address = make_delegate(0, 0x5000, 0x6000);
	struct delegate_info info;
	struct heap *heap = fake_heap(fake);
	struct window window = { .memory = heap->memory };
	struct object object;
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	for (uint64_t nth = 1; nth < 60; nth++) {
		alloc_fail_at(nth);
		(void)delegate_read(heap, &object, &info);
		alloc_fail_at(0);
	}
	CU_ASSERT(delegate_read(heap, &object, &info));
	window_deinit(&window);
}

SUITE(.name = "delegate", .set_up = set_up, .tear_down = tear_down)
