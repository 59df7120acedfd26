/* SPDX-License-Identifier: MIT */
#include "framework/survey.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"

static struct fake_clr *fake;
static struct fake_types *types;
static struct framework_survey survey;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
}

static void tear_down(void)
{
	findings_deinit(&fake->target.findings);
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static void make_class(const char *space, const char *name, const char *field)
{
	const struct fake_field fields[] = { { .name = field, .element = ELEMENT_I4 },
					     { .name = NULL } };
	(void)fake_class(types, &(struct fake_class){ .space = space,
						      .name = name,
						      .fields = fields,
						      .type = { .base_size = 24 } });
}

/* The module is the assembly with that name: what does it lack? */
static void attach(const char *assembly)
{
	fake_types_attach(types);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	(void)fake_heap(fake);
	struct module *module = module_find(fake->runtime, fake->module);
	REQUIRE(module);
	REQUIRE(module->metadata);
	mem_free(module->name);
	module->name = mem_strndup(assembly, strlen(assembly));
	framework_survey_modules(fake->runtime, &module, 1, &survey);
}

TEST(a_loaded_assembly_tells_what_it_lacks)
{
	make_class("System.Threading.Channels", "BoundedChannel`1", "_bufferedCapacity");
	attach("System.Threading.Channels");
	CU_ASSERT(survey.asked > survey.missing && survey.missing > 0);
	CU_ASSERT_FALSE(survey.type_is_missing[NET_CHANNEL_BOUNDED]);
	CU_ASSERT(survey.type_is_missing[NET_CHANNEL_SINGLE]);
	CU_ASSERT_FALSE(survey.fact_is_missing[FACT_CHANNEL_CAPACITY]);
	CU_ASSERT(survey.fact_is_missing[FACT_CHANNEL_READERS]);
	CU_ASSERT(survey.fact_is_missing[FACT_CHANNEL_READER]);
	/* Nothing is said of assemblies that are not loaded. */
	CU_ASSERT_FALSE(survey.type_is_missing[NET_TASK]);
	CU_ASSERT_FALSE(survey.fact_is_missing[FACT_TASK_FLAGS]);
	framework_survey_report(fake->runtime, &survey);
	ASSERT_UINT(fake->target.findings.count, 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(fake->target.findings.rows[0].detail,
		       "types and fields that answers use are not in this framework: "
		       "System.Threading.Channels."));
}

TEST(an_alternative_of_another_release_makes_up_for_a_field)
{
	make_class("System.Threading.Channels", "BoundedChannel`1", "_blockedReaders");
	attach("System.Threading.Channels");
	CU_ASSERT_FALSE(survey.fact_is_missing[FACT_CHANNEL_READERS]);
	CU_ASSERT(survey.fact_is_missing[FACT_CHANNEL_WRITERS]);
}

TEST(an_assembly_with_another_name_says_nothing)
{
	make_class("System.Threading.Channels", "BoundedChannel`1", "_bufferedCapacity");
	attach("Shop");
	ASSERT_UINT(survey.asked, 0);
	ASSERT_UINT(survey.missing, 0);
	framework_survey_report(fake->runtime, &survey);
	ASSERT_UINT(fake->target.findings.count, 0);
}

SUITE(.name = "survey", .set_up = set_up, .tear_down = tear_down)
