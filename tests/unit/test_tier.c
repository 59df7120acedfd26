/* SPDX-License-Identifier: MIT */
/* The tier of each version of a method's code (doc/coreclr.md 12.16). */
#include "runtime/coreclr/code/tier.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"

#define TIERED      0x8000u
#define OPTIMIZES   0x800u
#define CODE        ((uint64_t)0x7e1200001000)
#define FIRST_CODE  (CODE + 0x1000)
#define VERSIONS    6u
#define DATA_SIZE   64u
#define NO_OPTIMIZE 0x40u

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	uint64_t methods[2], data, versions, rows[VERSIONS];
};

static void set_flags(struct fixture *fixture, uint64_t method, uint16_t flags)
{
	uint16_t word = (uint16_t)(flags | (method == fixture->methods[0] ? 1 : 2));
	fake_poke(&fixture->fake->memory, fake_at(fixture->fake, method, L_METHOD_TOKEN), &word, 2);
}

static struct fixture set_up(unsigned int release)
{
	struct fixture fixture = { .fake = fake_clr_create(
					   &(struct fake_options){ .release = release }) };
	struct fake_clr *fake = fixture.fake;
	struct fake_memory *memory = &fake->memory;
	struct metadata_maker maker;
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "Ns", "Worker");
	maker_method(&maker, "Run");
	MAKER_ROW(&maker, MD_METHOD, 0, NO_OPTIMIZE, 0, maker_string(&maker, "Slow"), 0, 1);
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = 2 });
	fixture.methods[0] = fake_method_desc(fake, type, 1);
	fixture.methods[1] = fake_method_desc(fake, type, 2);
	fixture.runtime = fake_runtime(fake);
	fixture.data = fake_alloc(memory, DATA_SIZE);
	fixture.versions = fake_alloc(memory, DATA_SIZE);
	fake_poke_u64(memory, fake_at(fake, fixture.methods[0], L_METHOD_CODE_DATA), fixture.data);
	fake_poke_u64(memory, fake_at(fake, fixture.data, L_CODE_DATA_VERSIONS), fixture.versions);
	uint64_t next = 0;
	for (uint32_t i = VERSIONS; i-- > 0;) {
		uint64_t row = fake_alloc(memory, DATA_SIZE);
		fixture.rows[i] = row;
		fake_poke_u64(memory, fake_at(fake, row, L_VERSION_CODE), CODE + 0x10 * i);
		fake_poke_u64(memory, fake_at(fake, row, L_VERSION_METHOD), fixture.methods[0]);
		fake_poke_u64(memory, fake_at(fake, row, L_VERSION_NEXT), next);
		fake_poke_u32(memory, fake_at(fake, row, L_VERSION_TIER), i);
		next = row;
	}
	fake_poke_u64(memory, fake_at(fake, fixture.versions, L_VERSIONS_FIRST), next);
	set_flags(&fixture, fixture.methods[0], TIERED);
	return fixture;
}

static const char *ask(struct fixture *fixture, unsigned int index, uint64_t start)
{
	struct method method;
	CU_ASSERT_FATAL(method_read(fixture->runtime, fixture->methods[index], &method));
	const char *name = code_tier_name(method_tier(fixture->runtime, &method, start, false));
	return name ? name : "";
}

TEST(each_version_has_its_tier)
{
	static const char *const names[VERSIONS] = {
		"QuickJitted", "OptimizedTier1",          "OptimizedTier1OSR",
		"Optimized",   "QuickJittedInstrumented", "OptimizedTier1Instrumented",
	};
	for (unsigned int release = 9; release <= 11; release++) {
		struct fixture fixture = set_up(release);
		for (uint32_t i = 0; i < VERSIONS; i++)
			ASSERT_TEXT(ask(&fixture, 0, CODE + 0x10 * i), names[i]);
		fake_poke_u32(&fixture.fake->memory,
			      fake_at(fixture.fake, fixture.rows[0], L_VERSION_TIER), 6);
		ASSERT_TEXT(ask(&fixture, 0, CODE), "");
		struct method method;
		CU_ASSERT(method_read(fixture.runtime, fixture.methods[0], &method));
		ASSERT_UINT(method_tier(fixture.runtime, &method, CODE, true), TIER_READY_TO_RUN);
		fake_clr_destroy(fixture.fake);
	}
}

TEST(the_first_version_is_tier_0_unless_11_says_more)
{
	for (unsigned int release = 9; release <= 11; release++) {
		struct fixture fixture = set_up(release);
		struct fake_memory *memory = &fixture.fake->memory;
		if (release == 11) {
			uint64_t tier = fake_at(fixture.fake, fixture.data, L_CODE_DATA_TIER);
			fake_poke_u32(memory, tier, 3);
			ASSERT_TEXT(ask(&fixture, 0, FIRST_CODE), "Optimized");
			fake_poke_u32(memory, tier, UINT32_MAX);
		}
		ASSERT_TEXT(ask(&fixture, 0, FIRST_CODE), "QuickJitted");
		/* a list of another method, one that cannot be read, one without an end */
		fake_poke_u64(memory, fake_at(fixture.fake, fixture.rows[2], L_VERSION_METHOD), 16);
		ASSERT_TEXT(ask(&fixture, 0, FIRST_CODE), "");
		fake_poke_u64(memory, fake_at(fixture.fake, fixture.rows[1], L_VERSION_NEXT), 16);
		ASSERT_TEXT(ask(&fixture, 0, FIRST_CODE), "");
		fake_poke_u64(memory, fake_at(fixture.fake, fixture.rows[1], L_VERSION_NEXT),
			      fixture.rows[0]);
		ASSERT_TEXT(ask(&fixture, 0, FIRST_CODE), "");
		fake_clr_destroy(fixture.fake);
	}
}

TEST(code_that_stays_is_optimised_or_for_debugging)
{
	for (unsigned int release = 9; release <= 11; release++) {
		struct fixture fixture = set_up(release);
		struct fake_memory *memory = &fixture.fake->memory;
		uint64_t flags = fake_at(fixture.fake, fixture.fake->module, L_MODULE_FLAGS);
		set_flags(&fixture, fixture.methods[0], 0);
		ASSERT_TEXT(ask(&fixture, 0, CODE), "MinOptJitted");
		fake_poke_u32(memory, flags, OPTIMIZES);
		ASSERT_TEXT(ask(&fixture, 0, CODE), "Optimized");
		ASSERT_TEXT(ask(&fixture, 1, CODE), "MinOptJitted"); /* NoOptimization */
		fake_clr_destroy(fixture.fake);
	}
}

TEST(net_8_does_not_tell_it)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .release = 8 });
	struct runtime *runtime = fake_runtime(fake);
	struct method method = { .address = fake_alloc(&fake->memory, 16), .rid = 0 };
	uint8_t tiered = 0x20;
	ASSERT_UINT(method_tier(runtime, &method, CODE, false), TIER_OPTIMIZED);
	fake_poke(&fake->memory, method.address + 3, &tiered, 1);
	ASSERT_UINT(method_tier(runtime, &method, CODE, false), TIER_UNKNOWN);
	method.address = 16;
	ASSERT_UINT(method_tier(runtime, &method, CODE, false), TIER_UNKNOWN);
	fake_clr_destroy(fake);
}

SUITE(.name = "tier")
