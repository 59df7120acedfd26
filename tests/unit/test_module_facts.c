/* SPDX-License-Identifier: MIT */
#include "analysis/modules/load_contexts.h"
#include "runtime/coreclr/modules/module_facts.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Offsets of .NET 10 (doc/coreclr.md 9.2, 9.5). */
enum {
	ALLOCATOR = 176,
	FLAGS = 232,
	BINDER = 64,
	BINDER_CONTEXT = 224,
	LAYOUT = 128,
	LAYOUT_SIZE = 16,
	FRIENDLY_NAME = 1080
};

static void fill(struct metadata_maker *maker)
{
	maker_init(maker);
	maker_type(maker, "", "<Module>");
	MAKER_ROW(maker, MD_ASSEMBLY, 0, 9, 8, 7, 65535, 0, 0, maker_string(maker, "Library"), 0);
}

TEST(the_facts_of_a_module_with_an_image)
{
	static const struct image_kind kind = { .is_mapped = true };
	struct fake_clr *fake = fake_clr_create(NULL);
	struct metadata_maker maker;
	struct module_facts facts;
	fill(&maker);
	uint64_t at = fake->module, base = fake_image(fake, at, &maker, &kind, NULL);
	uint64_t assembly = fake_peek_u64(&fake->memory, at + FAKE_MODULE_PE_ASSEMBLY);
	uint64_t layout =
		fake_peek_u64(&fake->memory, fake_peek_u64(&fake->memory, assembly + 8) + LAYOUT);
	fake_poke_u32(&fake->memory, layout + LAYOUT_SIZE, 0x4200);
	fake_poke_u64(&fake->memory, assembly + BINDER, 0x777000);
	fake_poke_u64(&fake->memory, at + FAKE_MODULE_ASSEMBLY, 0x555000);
	fake_poke_u64(&fake->memory, at + ALLOCATOR, 0x666000);
	fake_poke_u64(&fake->memory, at + FAKE_MODULE_READY_TO_RUN, 0x888000);
	fake_poke_u32(&fake->memory, at + FLAGS, 0x11);
	struct runtime *runtime = fake_runtime(fake);
	const struct module *module = module_find(runtime, at);
	REQUIRE(module);
	module_facts_read(runtime, module, &facts);
	ASSERT_UINT(facts.assembly, 0x555000);
	ASSERT_UINT(facts.pe_assembly, assembly);
	ASSERT_UINT(facts.binder, 0x777000);
	ASSERT_UINT(facts.image_size, 0x4200);
	CU_ASSERT(facts.has_flags && facts.flags == 0x11);
	CU_ASSERT(facts.knows_compiled && facts.is_compiled);
	CU_ASSERT(facts.has_version);
	ASSERT_UINT(facts.version[0], 9);
	ASSERT_UINT(facts.version[3], 65535);
	CU_ASSERT(facts.metadata > base);
	ASSERT_UINT(facts.type_map, at + FAKE_MODULE_TYPE_DEFS);
	struct module *const list[] = { module_find(runtime, at) };
	CU_ASSERT_PTR_EQUAL(module_at(list, 1, at), module);
	CU_ASSERT_PTR_NULL(module_at(list, 1, at + 8));
	CU_ASSERT_PTR_EQUAL(module_of_assembly(runtime, list, 1, 0x555000), module);
	CU_ASSERT_PTR_NULL(module_of_assembly(runtime, list, 1, 0));
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

TEST(the_binder_of_a_module_leads_to_the_object_of_its_context)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct module_facts facts;
	struct load_context context;
	enum module_context known;
	struct hd_error err = { 0 };
	struct metadata_maker maker;
	fill(&maker);
	fake_image(fake, fake->module, &maker, &(struct image_kind){ .is_mapped = true }, NULL);
	uint64_t assembly = fake_peek_u64(&fake->memory, fake->module + FAKE_MODULE_PE_ASSEMBLY);
	uint64_t binder = fake_alloc(&fake->memory, 512), handle = fake_alloc(&fake->memory, 8);
	struct runtime *runtime = fake_runtime(fake);
	const struct module *module = module_find(runtime, fake->module);
	REQUIRE(module);
	module_facts_read(runtime, module, &facts);
	CU_ASSERT(!facts.knows_context);
	fake_poke_u64(&fake->memory, assembly + BINDER, binder);
	module_facts_read(runtime, module, &facts);
	CU_ASSERT(facts.knows_context && !facts.context);
	/* The handle leads nowhere. */
	fake_poke_u64(&fake->memory, binder + BINDER_CONTEXT, 0x777000);
	module_facts_read(runtime, module, &facts);
	CU_ASSERT(!facts.knows_context);
	fake_poke_u64(&fake->memory, binder + BINDER_CONTEXT, handle);
	fake_poke_u64(&fake->memory, handle, 0x999000);
	module_facts_read(runtime, module, &facts);
	CU_ASSERT(facts.knows_context);
	ASSERT_UINT(facts.context, 0x999000);
	struct heap *heap = fake_heap(fake);
	CU_ASSERT_EQUAL(load_context_of_module(heap, &facts, &known, &context, &err), HD_OK);
	CU_ASSERT_EQUAL(known, MODULE_CONTEXT_UNKNOWN);
	facts.context = 0;
	CU_ASSERT_EQUAL(load_context_of_module(heap, &facts, &known, &context, &err), HD_OK);
	CU_ASSERT_EQUAL(known, MODULE_CONTEXT_NONE);
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

TEST(another_loader_allocator_than_that_of_corelib_is_collectible)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct module_facts facts;
	uint64_t other = fake_module(fake), third = fake_module(fake);
	fake_poke_u64(&fake->memory, fake->module + ALLOCATOR, 0x666000);
	fake_poke_u64(&fake->memory, other + ALLOCATOR, 0x666800);
	struct runtime *runtime = fake_runtime(fake);
	module_facts_read(runtime, module_find(runtime, fake->module), &facts);
	CU_ASSERT(facts.knows_collectible && !facts.is_collectible);
	module_facts_read(runtime, module_find(runtime, other), &facts);
	CU_ASSERT(facts.knows_collectible && facts.is_collectible);
	CU_ASSERT(facts.knows_compiled && !facts.is_compiled);
	CU_ASSERT(!facts.has_version && !facts.mvid && !facts.metadata && !facts.binder);
	module_facts_read(runtime, module_find(runtime, third), &facts);
	CU_ASSERT(!facts.knows_collectible);
	fake_clr_destroy(fake);
}

TEST(a_domain_has_a_name)
{
	static const uint16_t units[] = { 'h', 0xe9, 0 };
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t domain = fake_alloc(&fake->memory, 2048);
	uint64_t string = fake_alloc(&fake->memory, sizeof(units));
	fake_poke(&fake->memory, string, units, sizeof(units));
	struct runtime *runtime = fake_runtime(fake);
	CU_ASSERT_PTR_NULL(domain_name(runtime, domain));
	fake_poke_u64(&fake->memory, domain + FRIENDLY_NAME, string);
	char *name = domain_name(runtime, domain);
	REQUIRE(name);
	ASSERT_TEXT(name, "h\xc3\xa9");
	mem_free(name);
	fake_clr_destroy(fake);
}

TEST(a_context_is_found_by_its_binder_if_only_one_has_it)
{
	struct load_context rows[] = { { .object = 1, .binder = 100 },
				       { .object = 2, .binder = 200 },
				       { .object = 3, .binder = 100 },
				       { .object = 4 } };
	const struct load_contexts contexts = { .rows = rows, .rows_count = 4 };
	CU_ASSERT_PTR_EQUAL(load_context_of(&contexts, 200), &rows[1]);
	CU_ASSERT_PTR_NULL(load_context_of(&contexts, 100));
	CU_ASSERT_PTR_NULL(load_context_of(&contexts, 300));
	CU_ASSERT_PTR_NULL(load_context_of(&contexts, 0));
}

SUITE(.name = "module_facts")
