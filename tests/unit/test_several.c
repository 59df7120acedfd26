/* SPDX-License-Identifier: MIT */
/* Targets with several runtimes: which is read, and what is said of the others. */
#include "runtime/runtime.h"
#include "runtime/several.h"
#include "support/assert_more.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"

#define CORECLR "/opt/app/libcoreclr.so"
#define PLUGIN  "/opt/app/libplugin.so"

static char *text_of(const char *text)
{
	char *copy = mem_strndup(text, strlen(text));
	REQUIRE(copy);
	return copy;
}

/* A target with CoreCLR, and a second module that exports what NativeAOT does. */
static struct fake_clr *make(const char *wanted)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct target *target = &fake->target;
	fake_segment(fake, 0, GENERATION_LOH, 0x1000);
	fake_thread(fake);
	fake_export(fake, &(struct fake_export){ .path = CORECLR,
						 .version = "@(#)Version 10.0.326.7603",
						 .symbol = "DotNetRuntimeDebugHeader" });
	struct target_module *modules = mem_realloc(target->modules, 2, sizeof(*modules));
	REQUIRE(modules);
	modules[1] = modules[0];
	modules[1].path = text_of(PLUGIN);
	target->modules = modules;
	target->module_count = 2;
	target->options.runtime = wanted;
	return fake;
}

static const char *finding_of(const struct fake_clr *fake, enum finding_kind kind)
{
	const struct findings *findings = &fake->target.findings;
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->rows[i].kind == kind)
			return findings->rows[i].detail;
	}
	return "";
}

TEST(the_first_is_read_and_the_other_is_told)
{
	struct fake_clr *fake = make(NULL);
	struct runtime *runtime = NULL;
	ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, NULL), HD_OK);
	REQUIRE(runtime);
	ASSERT_TEXT(runtime_path(runtime), CORECLR);
	runtime_report_others(runtime);
	ASSERT_TEXT(finding_of(fake, FINDING_OTHER_RUNTIME),
		    "there is another .NET runtime, of which nothing is shown: CoreCLR in " PLUGIN
		    "; the option --runtime libplugin.so, or the setting runtime, chooses it");
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

TEST(a_name_or_a_path_chooses)
{
	static const char *const names[] = { "libcoreclr.so", CORECLR };
	for (size_t i = 0; i < 2; i++) {
		struct fake_clr *fake = make(names[i]);
		struct runtime *runtime = NULL;
		CU_ASSERT_TRUE(runtime_is_meant(&fake->target, &fake->target.modules[0]));
		CU_ASSERT_FALSE(runtime_is_meant(&fake->target, &fake->target.modules[1]));
		ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, NULL), HD_OK);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

/* Its header is none, which only NativeAOT finds out. */
TEST(the_other_one_is_asked_for)
{
	struct fake_clr *fake = make("libplugin.so");
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, &err), HD_ERR_FAULT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, PLUGIN " is a NativeAOT program"));
	fake_clr_destroy(fake);
}

TEST(nothing_has_that_name)
{
	struct fake_clr *fake = make("libother.so");
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, &err), HD_ERR_ARGUMENT);
	ASSERT_TEXT(
		err.message,
		"no .NET runtime in a module with the name \"libother.so\" (runtime): there are "
		"libcoreclr.so (CoreCLR), libplugin.so (CoreCLR)");
	fake_clr_destroy(fake);
}

SUITE(.name = "several")
