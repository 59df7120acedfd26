/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/statics/static.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/statics.h"
#include "support/assert_more.h"
#include "support/fake_statics.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

#define EE_CLASS_OF 40u
#define BUCKET_USED 12u

static struct static_slots read_slots(struct fake_statics *statics)
{
	struct static_slots slots = { 0 };
	struct hd_error err = { 0 };
	if (static_slots_read(statics->runtime, NULL, &slots, &err) != HD_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	return slots;
}

static void check_slot(struct fake_statics *statics, const struct static_slots *slots,
		       uint64_t address, const struct static_slot *expected, const char *name)
{
	const struct static_slot *slot = static_slot_at(slots, address);
	REQUIRE(slot);
	ASSERT_UINT(slot->address, address);
	ASSERT_UINT(slot->token, 0x04000000u | expected->token);
	ASSERT_UINT(slot->thread, expected->thread);
	ASSERT_UINT(slot->is_boxed, expected->is_boxed);
	ASSERT_UINT(slot->is_initialised, expected->is_initialised);
	struct text text = { 0 };
	static_slot_name(statics->runtime, slot, &text);
	ASSERT_TEXT(text.bytes, name);
	text_deinit(&text);
}

TEST(test_slots)
{
	struct fake_statics statics = fake_statics_create();
	struct static_slots slots = read_slots(&statics);
	struct static_slot plain = { .token = FIELD_CACHE,
				     .thread = UINT32_MAX,
				     .is_initialised = true };
	ASSERT_UINT(slots.rows_count, 10);
	ASSERT_UINT(slots.types, 3);
	ASSERT_UINT(slots.broken, 0);
	for (size_t i = 1; i < slots.rows_count; i++)
		CU_ASSERT(slots.rows[i - 1].address < slots.rows[i].address);
	check_slot(&statics, &slots, fake_element(statics.holder_array, 0), &plain,
		   "Ns.Holder.cache");
	plain.token = FIELD_NAME;
	check_slot(&statics, &slots, fake_element(statics.holder_array, 2), &plain,
		   "Ns.Holder.Name");
	plain.token = FIELD_LINK;
	check_slot(&statics, &slots, fake_element(statics.plug_array, 0), &plain, "Ns.Plug.link");
	CU_ASSERT(slots.rows[0].type->method_table != 0);
	plain.token = FIELD_WHEN;
	plain.is_boxed = true;
	check_slot(&statics, &slots, fake_element(statics.holder_array, 1), &plain,
		   "Ns.Holder.when");
	/* of the exact instantiation, not of shared code */
	plain = (struct static_slot){ .token = FIELD_ITEM, .thread = UINT32_MAX };
	uint64_t item = fake_element(statics.holder_array, 3);
	check_slot(&statics, &slots, item, &plain, "Ns.Box<System.String>.item");
	const struct static_slot *slot = static_slot_at(&slots, item);
	ASSERT_UINT(slot ? slot->type->method_table : 0, statics.box);
	CU_ASSERT(!static_slot_at(&slots, item + 8));
	CU_ASSERT(!static_slot_at(&slots, 0));
	CU_ASSERT(!static_slot_at(&slots, UINT64_MAX));
	ASSERT_TEXT(fake_finding(statics.fake, "statics"), "");
	static_slots_deinit(&slots);
	ASSERT_UINT(slots.rows_count, 0);
	fake_statics_destroy(&statics);
}

TEST(test_threads)
{
	struct fake_statics statics = fake_statics_create();
	struct static_slots slots = read_slots(&statics);
	for (uint32_t i = 0; i < 2; i++) {
		struct static_slot mine = { .token = FIELD_MINE,
					    .thread = i,
					    .is_initialised = true };
		check_slot(&statics, &slots, fake_element(statics.statics[i], 0), &mine,
			   "Ns.Holder.mine");
		mine.token = FIELD_OWN;
		mine.is_boxed = true;
		check_slot(&statics, &slots, fake_element(statics.statics[i], 1), &mine,
			   "Ns.Holder.own");
	}
	struct static_slot last = { .token = FIELD_LAST, .thread = 0, .is_initialised = true };
	check_slot(&statics, &slots, fake_element(statics.plug_statics, 0), &last, "Ns.Plug.last");
	const struct static_slot *slot =
		static_slot_at(&slots, fake_element(statics.plug_statics, 0));
	CU_ASSERT(slot && slot->type->is_collectible);
	static_slots_deinit(&slots);
	fake_statics_destroy(&statics);
}

TEST(test_without_metadata)
{
	struct fake_statics statics = fake_statics_create();
	fake_poke_u64(&statics.fake->memory, statics.fake->module + FAKE_MODULE_DYNAMIC_METADATA,
		      0);
	struct static_slots slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 10);
	const struct static_slot *slot =
		static_slot_at(&slots, fake_element(statics.holder_array, 0));
	REQUIRE(slot);
	struct text text = { 0 };
	static_slot_name(statics.runtime, slot, &text);
	REQUIRE(text.bytes);
	CU_ASSERT(strncmp(text.bytes, "<unknown type ", 14) == 0);
	CU_ASSERT(strstr(text.bytes, ".<field 04000002>") != NULL);
	text_deinit(&text);
	static_slots_deinit(&slots);
	fake_statics_destroy(&statics);
}

/* Slots of the runtime's arrays that no field claims: reflection's objects, or what was missed. */
TEST(test_nameless)
{
	struct fake_statics statics = fake_statics_create();
	struct fake_memory *memory = &statics.fake->memory;
	fake_poke_u32(memory, statics.bucket + BUCKET_USED, 6);
	uint64_t released = statics.objects[0];
	fake_poke_u64(memory, released, statics.fake->object_type);
	fake_poke_u64(memory, fake_element(statics.holder_array, 4), released);
	fake_poke_u64(memory, fake_element(statics.holder_array, 5),
		      fake_string(statics.fake, "missed"));
	struct static_slots slots = read_slots(&statics);
	const char *finding = fake_finding(statics.fake, "statics");
	CU_ASSERT(strncmp(finding, "1 static slots without a name", 29) == 0);
	static_slots_deinit(&slots);
	/* what is no bucket is not looked at: more used than there are */
	findings_deinit(&statics.fake->target.findings);
	fake_poke_u32(memory, statics.bucket + BUCKET_USED, 9);
	slots = read_slots(&statics);
	ASSERT_TEXT(fake_finding(statics.fake, "statics"), "");
	static_slots_deinit(&slots);
	/* a chain of buckets that never ends */
	fake_poke_u32(memory, statics.bucket + BUCKET_USED, 4);
	fake_poke_u64(memory, statics.bucket, statics.bucket);
	slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 10);
	static_slots_deinit(&slots);
	fake_statics_destroy(&statics);
}

TEST(test_damage)
{
	struct fake_statics statics = fake_statics_create();
	struct fake_memory *memory = &statics.fake->memory;
	/* two types claim the same slots: the first one found keeps them */
	uint64_t auxiliary = fake_peek_u64(memory, statics.box + FAKE_AUXILIARY_OF);
	fake_poke_u64(memory, auxiliary - 24, fake_element(statics.holder_array, 0));
	struct static_slots slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 9);
	ASSERT_UINT(slots.broken, 1);
	CU_ASSERT(strstr(fake_finding(statics.fake, "statics"),
			 "1 types or slots of static fields could not be read") != NULL);
	static_slots_deinit(&slots);
	/* a base that leads nowhere */
	fake_poke_u64(memory, auxiliary - 24, 0x123450);
	slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 9);
	ASSERT_UINT(slots.broken, 1);
	static_slots_deinit(&slots);
	/* a list of FieldDescs that is not there, one that begins too early, too many fields */
	uint64_t ee_class = fake_peek_u64(memory, statics.holder + EE_CLASS_OF);
	uint64_t list = fake_peek_u64(memory, ee_class + 24);
	fake_poke_u64(memory, ee_class + 24, 0x123450);
	slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 2);
	ASSERT_UINT(slots.broken, 2);
	static_slots_deinit(&slots);
	fake_poke_u64(memory, ee_class + 24, list);
	uint16_t count = 0;
	fake_poke(memory, ee_class + 50, &count, 2);
	slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 2);
	static_slots_deinit(&slots);
	count = 0xffff;
	fake_poke(memory, ee_class + 54, &count, 2);
	slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 2);
	static_slots_deinit(&slots);
	fake_statics_destroy(&statics);
}

TEST(test_without_types)
{
	struct fake_statics statics = fake_statics_create();
	coreclr_of(statics.runtime)->globals.app_domain = 0;
	struct static_slots slots = read_slots(&statics);
	ASSERT_UINT(slots.rows_count, 0);
	CU_ASSERT(strstr(fake_finding(statics.fake, "statics"), "static fields are not known") !=
		  NULL);
	static_slots_deinit(&slots);
	fake_statics_destroy(&statics);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 1000; nth++) {
		struct fake_statics statics = fake_statics_create();
		struct static_slots slots = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = static_slots_read(statics.runtime, NULL, &slots, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		if (!failed)
			ASSERT_UINT(slots.rows_count, 10);
		static_slots_deinit(&slots);
		fake_statics_destroy(&statics);
	}
	CU_ASSERT(!failed);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

/* It is asked for every thousand types or so. */
TEST(test_cancelled)
{
	struct fake_statics statics = fake_statics_create();
	struct fake_clr *fake = statics.fake;
	enum {
		MANY = 1200
	};
	uint64_t types[MANY];
	for (unsigned int i = 0; i < MANY; i++)
		types[i] = fake_type(fake, &(struct fake_type){ .base_size = 24 });
	fake_type_params(fake, fake->module, types, MANY);
	struct job job = { .cancelled = always };
	struct static_slots slots = { 0 };
	ASSERT_UINT(static_slots_read(statics.runtime, &job, &slots, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(slots.rows_count, 0);
	fake_statics_destroy(&statics);
}

/*
 * .NET 8 (appdomain.hpp of 8): Module + 1224 is the DomainLocalModule: +8 dynamic classes, +16 how many,
 * +32 the first GC static, +48 flags by TypeDef, bit 0: initialised.
 */
struct fixture_8 {
	struct fake_statics statics;
	uint64_t local, rows;
};

static struct fixture_8 set_up_8(void)
{
	struct fixture_8 fixture = { .statics = fake_statics_create() };
	struct fake_clr *fake = fixture.statics.fake;
	struct fake_memory *memory = &fake->memory;
	struct runtime *runtime = fixture.statics.runtime;
	coreclr_of(runtime)->major = 8;
	layout_init(&coreclr_of(runtime)->layout);
	layout_fill(&coreclr_of(runtime)->layout, 8, ORIGIN_SERIES);
	fixture.local = fake_alloc(memory, 128);
	fixture.rows = fake_alloc(memory, 64);
	fake_poke_u64(memory, fake->module + 1224, fixture.local);
	fake_poke_u64(memory, fixture.local + 8, fixture.rows);
	fake_poke_u64(memory, fixture.local + 16, 3);
	fake_poke_u64(memory, fixture.local + 32, fake_element(fixture.statics.holder_array, 0));
	return fixture;
}

static void tear_down_8(struct fixture_8 *fixture)
{
	fake_statics_destroy(&fixture->statics);
}

/* Address of the static reference or, with ELEMENT_I4, number at offset 8 of @p type. */
static uint64_t find_8(struct fixture_8 *fixture, const struct type *type, uint8_t element,
		       bool *ret_initialised)
{
	struct field field = {
		.declaring = type, .offset = 8, .element_type = element, .is_static = true
	};
	return field_static_address(fixture->statics.runtime, &field, ret_initialised);
}

TEST(test_module_8)
{
	struct fixture_8 fixture = set_up_8();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	struct type type = *type_find(fixture.statics.runtime, fixture.statics.holder);
	bool initialised = true;
	type.token = 0x02000000 | DEF_HOLDER;
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, &initialised),
		    fake_element(fixture.statics.holder_array, 1));
	CU_ASSERT(!initialised);
	uint8_t flags = 0x5;
	fake_poke(memory, fixture.local + 48 + DEF_HOLDER - 1, &flags, 1);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_I4, &initialised), fixture.local + 8);
	CU_ASSERT(initialised);
	fake_poke_u64(memory, fixture.local + 32, 0);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, NULL), 0);
	fake_poke_u64(memory, fixture.statics.fake->module + 1224, 0);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_I4, NULL), 0);
	tear_down_8(&fixture);
}

/* After the vtable of an instantiation stands {list of FieldDescs that name it, number}. */
TEST(test_generic_8)
{
	struct fixture_8 fixture = set_up_8();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	uint64_t method_table = fake_alloc(memory, 256), list = fake_alloc(memory, 16);
	uint64_t entry = fake_alloc(memory, 64);
	uint16_t virtuals = 9; /* two pointers to chunks of 8 */
	struct type type = { .method_table = method_table,
			     .module = fixture.statics.fake->module,
			     .flags = 0x10 };
	bool initialised = true;
	fake_poke(memory, method_table + 12, &virtuals, 2);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, NULL), 0);
	fake_poke_u64(memory, list, method_table);
	fake_poke_u64(memory, method_table + 64 + 16 + 8, list);
	fake_poke_u64(memory, method_table + 64 + 16 + 16, 2);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, &initialised), 0);
	CU_ASSERT(!initialised);
	fake_poke_u64(memory, fixture.rows + 32, entry);
	fake_poke_u64(memory, entry, fake_element(fixture.statics.holder_array, 2));
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, &initialised),
		    fake_element(fixture.statics.holder_array, 3));
	CU_ASSERT(!initialised);
	fake_poke_u32(memory, fixture.rows + 40, 1);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_I4, &initialised), entry + 8);
	CU_ASSERT(initialised);
	/* a number beyond the table */
	fake_poke_u64(memory, method_table + 64 + 16 + 16, 3);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_I4, NULL), 0);
	tear_down_8(&fixture);
}

/* The first two words of the entry are LOADERHANDLEs for a collectible type. */
TEST(test_collectible_8)
{
	struct fixture_8 fixture = set_up_8();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	uint64_t ee_class = fake_alloc(memory, 64), optional = fake_alloc(memory, 32);
	uint64_t entry = fake_alloc(memory, 32), loader = fake_alloc(memory, 32);
	uint64_t slots = fixture.statics.thread_arrays[0];
	struct type type = { .module = fixture.statics.fake->module,
			     .links.ee_class = ee_class,
			     .is_collectible = true,
			     .loader_allocator = loader };
	fake_poke_u64(memory, ee_class + 8, optional);
	fake_poke_u32(memory, optional + 16, 1);
	fake_poke_u64(memory, fixture.rows + 16, entry);
	fake_poke_u32(memory, fixture.rows + 24, 0x9);
	fake_poke_u64(memory, loader + 16, slots);
	fake_poke_u64(memory, fake_element(slots, 0), fixture.statics.plug_array);
	fake_poke_u64(memory, fake_element(slots, 1), fixture.statics.numbers[0]);
	fake_poke_u64(memory, entry, 2);
	fake_poke_u64(memory, entry + 8, 4);
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, NULL),
		    fake_element(fixture.statics.plug_array, 1));
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_I4, NULL),
		    fake_element(fixture.statics.numbers[0], 0));
	/* the LoaderAllocator is gone */
	type.loader_allocator = 0;
	ASSERT_UINT(find_8(&fixture, &type, ELEMENT_CLASS, NULL), 0);
	tear_down_8(&fixture);
}

SUITE(.name = "static")
