/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

#define INSTANTIATED 0x10u

enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_STRING,
	DEF_LIST,
	DEF_TWIN
};

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	uint64_t other; /* a second module, with a type of a name that the first has too */
	uint64_t twin, other_twin, list;
};

static uint64_t make(struct fixture *fixture, uint64_t module, uint32_t rid)
{
	struct fake_clr *fake = fixture->fake;
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = rid });
	fake_poke_u64(&fake->memory, type + 24, module);
	return type;
}

static struct fixture set_up(void)
{
	struct fixture fixture = { .fake = fake_clr_create(NULL) };
	struct fake_clr *fake = fixture.fake;
	struct metadata_maker maker;
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	maker_type(&maker, "Ns", "List`1");
	maker_type(&maker, "Ns", "Twin");
	fixture.other = fake_module(fake);
	fake_metadata(fake, fake->module, &maker);
	fake_metadata(fake, fixture.other, &maker);
	maker_deinit(&maker);
	fixture.twin = make(&fixture, fake->module, DEF_TWIN);
	fixture.other_twin = make(&fixture, fixture.other, DEF_TWIN);
	fixture.list = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .token = DEF_LIST, .flags = INSTANTIATED });
	fake_arguments(fake, fixture.list, &fixture.other_twin, 1);
	const uint64_t first[] = { 0, 0, fake->object_type, fake->string_type, 0, fixture.twin };
	const uint64_t second[] = { 0, 0, 0x123458, 0, 0, fixture.other_twin };
	fake_lookup_map(fake, fake->module + FAKE_MODULE_TYPE_DEFS, first, 6);
	fake_lookup_map(fake, fixture.other + FAKE_MODULE_TYPE_DEFS, second, 6);
	/* an instantiation that is there twice (bit 0 is a lock), an array, a TypeDesc */
	const uint64_t params[] = { fixture.list, fake->object_array_type | 1, 0x777772,
				    fixture.list | 1 };
	fake_type_params(fake, fixture.other, params, 4);
	fixture.runtime = fake_runtime(fake);
	const uint64_t modules[] = { fake->module, 0, fixture.other };
	fake_domain(fake, modules, 3);
	return fixture;
}

static void check(struct fixture *fixture, const char *name, uint64_t module, uint64_t expected)
{
	const struct type *type = type_by_name(fixture->runtime, name, module);
	ASSERT_UINT(type ? type->method_table : 0, expected);
}

TEST(test_names)
{
	struct fixture fixture = set_up();
	check(&fixture, "System.Object", 0, fixture.fake->object_type);
	check(&fixture, "System.Object[]", 0, fixture.fake->object_array_type);
	check(&fixture, "Ns.List<Ns.Twin>", 0, fixture.list);
	check(&fixture, "Ns.List", 0, 0);
	check(&fixture, "", 0, 0);
	check(&fixture, "Ns.Twin", fixture.other, fixture.other_twin);
	check(&fixture, "Ns.Twin", fixture.fake->module, fixture.twin);
	check(&fixture, "Ns.Twin", 0, fixture.twin);
	check(&fixture, "Ns.List<Ns.Twin>", fixture.other, fixture.list);
	fake_clr_destroy(fixture.fake);
}

struct visits {
	size_t count, limit;
	bool twice;
	const struct type *seen[16];
};

static bool visit(void *arg, const struct type *type)
{
	struct visits *visits = arg;
	for (size_t i = 0; i < visits->count; i++)
		visits->twice |= visits->seen[i] == type;
	if (visits->count < 16)
		visits->seen[visits->count] = type;
	return ++visits->count < visits->limit;
}

TEST(test_visits)
{
	struct fixture fixture = set_up();
	struct visits visits = { .limit = 100 };
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, NULL), HD_OK);
	ASSERT_UINT(visits.count, 6);
	CU_ASSERT(!visits.twice);
	visits = (struct visits){ .limit = 2 };
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, NULL), HD_OK);
	ASSERT_UINT(visits.count, 2);
	fake_clr_destroy(fixture.fake);
}

/* While a table grows, its new array hangs on the old one and entries may be in either. */
TEST(test_growing)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = &fixture.fake->memory;
	uint64_t table = fake_peek_u64(memory, fixture.other + FAKE_MODULE_TYPE_PARAMS);
	uint64_t old = fake_peek_u64(memory, table + 16), fresh = fake_alloc(memory, 64);
	uint64_t entry = fake_alloc(memory, 24);
	fake_poke_u64(memory, fresh, 1);
	fake_poke_u64(memory, fresh + 24, entry);
	fake_poke_u64(memory, entry, fixture.fake->string_type);
	fake_poke_u64(memory, entry + 8, 1);
	fake_poke_u64(memory, old + 8, fresh);
	fake_lookup_map(fixture.fake, fixture.fake->module + FAKE_MODULE_TYPE_DEFS, NULL, 0);
	struct visits visits = { .limit = 100 };
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, NULL), HD_OK);
	ASSERT_UINT(visits.count, 4);
	check(&fixture, "System.String", 0, fixture.fake->string_type);
	fake_clr_destroy(fixture.fake);
}

/* Chains, arrays and maps that lead back to themselves end. */
TEST(test_cycles)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = &fixture.fake->memory;
	uint64_t table = fake_peek_u64(memory, fixture.other + FAKE_MODULE_TYPE_PARAMS);
	uint64_t array = fake_peek_u64(memory, table + 16);
	uint64_t entry = fake_peek_u64(memory, array + 24);
	fake_poke_u64(memory, entry + 8, entry);
	fake_poke_u64(memory, array + 8, array);
	uint64_t map = fixture.fake->module + FAKE_MODULE_TYPE_DEFS;
	fake_poke_u64(memory, map, map);
	struct visits visits = { .limit = 100 };
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, NULL), HD_OK);
	CU_ASSERT(visits.count >= 4 && visits.count <= 6);
	const struct module *module = module_find(fixture.runtime, fixture.fake->module);
	REQUIRE(module);
	ASSERT_UINT(module_type_def(fixture.runtime, module, DEF_TWIN), fixture.twin);
	ASSERT_UINT(module_type_def(fixture.runtime, module, 6 + DEF_TWIN), fixture.twin);
	ASSERT_UINT(module_type_def(fixture.runtime, module, 0xffffff), 0);
	fake_clr_destroy(fixture.fake);
}

TEST(test_lies)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = &fixture.fake->memory;
	uint64_t table = fake_peek_u64(memory, fixture.other + FAKE_MODULE_TYPE_PARAMS);
	uint64_t array = fake_peek_u64(memory, table + 16);
	fake_poke_u64(memory, array, UINT64_MAX); /* buckets */
	fake_poke_u32(memory, table + 24, UINT32_MAX);
	fake_poke_u32(memory, fixture.fake->module + FAKE_MODULE_TYPE_DEFS + 16, UINT32_MAX);
	struct visits visits = { .limit = 100 };
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, NULL), HD_OK);
	fake_clr_destroy(fixture.fake);
	/* a table that is another module's */
	fixture = set_up();
	table = fake_peek_u64(&fixture.fake->memory, fixture.other + FAKE_MODULE_TYPE_PARAMS);
	fake_poke_u64(&fixture.fake->memory, table, fixture.fake->module);
	check(&fixture, "Ns.List<Ns.Twin>", 0, 0);
	fake_clr_destroy(fixture.fake);
}

TEST(test_no_list)
{
	struct fixture fixture = set_up();
	struct hd_error err = { 0 };
	struct visits visits = { .limit = 100 };
	coreclr_of(fixture.runtime)->globals.app_domain = 0;
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, &err), HD_ERR_UNSUPPORTED);
	CU_ASSERT(!type_by_name(fixture.runtime, "System.Object", 0));
	coreclr_of(fixture.runtime)->globals.app_domain = 0x1230;
	ASSERT_UINT(type_for_each(fixture.runtime, visit, &visits, &err), HD_ERR_FAULT);
	fake_clr_destroy(fixture.fake);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 1000; nth++) {
		struct fixture fixture = set_up();
		alloc_fail_at(nth);
		const struct type *type = type_by_name(fixture.runtime, "Ns.Twin", 0);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(failed || type);
		fake_clr_destroy(fixture.fake);
	}
	CU_ASSERT(!failed);
}

SUITE(.name = "type_lookup")
