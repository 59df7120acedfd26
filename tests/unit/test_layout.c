/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "runtime/coreclr/layout.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* doc/coreclr.md 9 to 12, and the descriptors of 9.0.20, 10.0.12 and 11.0.0. */
TEST(offsets_of_a_series)
{
	static const struct {
		unsigned int major;
		enum layout_field field;
		int32_t offset;
	} known[] = {
		{ 8, L_THREAD_LINK, 232 },           { 9, L_THREAD_LINK, 112 },
		{ 10, L_THREAD_LINK, 112 },          { 8, L_THREAD_STORE_FIRST, 160 },
		{ 10, L_THREAD_STORE_FIRST, 88 },    { 8, L_THREAD_ALLOC_CONTEXT, 88 },
		{ 9, L_EE_ALLOC_CONTEXT, 0 },        { 10, L_EE_ALLOC_CONTEXT, 8 },
		{ 8, L_LOADER_EXPOSED, 976 },        { 9, L_LOADER_EXPOSED, 1128 },
		{ 10, L_LOADER_EXPOSED, 752 },       { 9, L_CLASS_NUM_METHODS, 52 },
		{ 8, L_DOMAIN_ASSEMBLIES, 2544 },    { 10, L_MODULE_TYPE_DEF_MAP, 416 },
		{ 8, L_TYPE_VAR_MODULE, 8 },         { 9, L_TYPE_VAR_MODULE, 16 },
		{ 9, L_THREAD_STORE_PENDING, 196 },  { 10, L_THREAD_STORE_PENDING, 124 },
		{ 11, L_THREAD_STORE_PENDING, 108 }, { 11, L_THREAD_STORE_COUNT, 96 },
		{ 11, L_THREAD_OS_ID, 224 },         { 11, L_LOADER_EXPOSED, 664 },
		{ 11, L_DOMAIN_ASSEMBLIES, 576 },    { 11, L_IMAGE_LAYOUT_BASE, 16 },
		{ 11, L_TLS_IN_FLIGHT, 40 },         { 11, L_R2R_ENTRY_POINTS, 376 },
		{ 10, L_MODULE_FIELD_MAP, 512 },     { 11, L_MODULE_FIELD_MAP, 480 },
		{ 10, L_SYNC_BLOCK_INDEX, 28 },      { 11, L_SYNC_BLOCK_INDEX, 12 },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct layout layout;
		layout_init(&layout);
		layout_fill(&layout, known[i].major, ORIGIN_SERIES);
		ASSERT_UINT((uint64_t)layout.offsets[known[i].field], (uint64_t)known[i].offset);
		ASSERT_UINT(layout.origins[known[i].field], ORIGIN_SERIES);
	}
}

TEST(what_a_series_lacks)
{
	struct layout layout;
	layout_init(&layout);
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_FLAGS));
	layout_fill(&layout, 7, ORIGIN_SERIES);
	layout_fill(&layout, 12, ORIGIN_SERIES);
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_FLAGS));
	layout_fill(&layout, 10, ORIGIN_SERIES);
	CU_ASSERT_TRUE(layout_has(&layout, L_MT_FLAGS));
	CU_ASSERT_FALSE(layout_has(&layout, L_MODULE_STATICS));
	ASSERT_UINT((uint64_t)layout.offsets[L_MODULE_STATICS], (uint64_t)NO);
}

TEST(what_is_known_is_kept)
{
	struct layout layout;
	layout_init(&layout);
	layout_set(&layout, L_THREAD_LINK, 120, ORIGIN_DESCRIPTOR);
	layout_fill(&layout, 10, ORIGIN_BUILD);
	ASSERT_UINT((uint64_t)layout.offsets[L_THREAD_LINK], 120);
	ASSERT_UINT(layout.origins[L_THREAD_LINK], ORIGIN_DESCRIPTOR);
	ASSERT_UINT(layout.origins[L_THREAD_ID], ORIGIN_BUILD);
}

/* On another processor some offsets differ, and of some nothing is known. */
TEST(differences_of_a_processor)
{
	static const struct layout_difference differences[] = { { L_THREAD_LINK, NO, 152, 160 },
								{ L_THREAD_OS_ID, NO, 336, 272 } };
	for (unsigned int major = 8; major <= 11; major++) {
		struct layout layout;
		layout_init(&layout);
		layout_set(&layout, L_THREAD_OS_ID, 400, ORIGIN_DESCRIPTOR);
		layout_fill_but(&layout, major, differences, 2);
		CU_ASSERT_EQUAL(layout_has(&layout, L_THREAD_LINK), major >= 10);
		if (major >= 10)
			ASSERT_UINT((uint64_t)layout.offsets[L_THREAD_LINK],
				    major == 10 ? 152 : 160);
		ASSERT_UINT((uint64_t)layout.offsets[L_THREAD_OS_ID], 400);
		CU_ASSERT_EQUAL(layout_has(&layout, L_MT_FLAGS), major >= 9);
	}
}

TEST(no_offset_is_taken_that_cannot_be_one)
{
	struct layout layout;
	layout_init(&layout);
	layout_set(&layout, L_MT_FLAGS, -1, ORIGIN_DESCRIPTOR);
	layout_set(&layout, L_MT_MODULE, LAYOUT_OFFSET_LIMIT, ORIGIN_DESCRIPTOR);
	layout_set(&layout, L_MT_PARENT, INT64_MIN, ORIGIN_DESCRIPTOR);
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_FLAGS));
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_MODULE));
	CU_ASSERT_FALSE(layout_has(&layout, L_MT_PARENT));
	layout_set(&layout, L_MT_PARENT, LAYOUT_OFFSET_LIMIT - 1, ORIGIN_DESCRIPTOR);
	CU_ASSERT_TRUE(layout_has(&layout, L_MT_PARENT));
}

/* A field that got another name is still one row, and the names of both releases lead to it. */
TEST(renamed_fields)
{
	enum layout_field field = L_COUNT;
	const char *type = NULL, *usual = NULL;
	ASSERT_TEXT(layout_renamed(0, &field), "AssemblyList");
	layout_name(field, &type, &usual);
	ASSERT_TEXT(type, "AppDomain");
	ASSERT_TEXT(usual, "DomainAssemblyList");
	ASSERT_TEXT(layout_renamed(1, &field), "ObjectHandle");
	ASSERT_UINT(field, L_LOADER_EXPOSED);
	CU_ASSERT_PTR_NULL(layout_renamed(2, &field));
}

TEST(names)
{
	const char *type = NULL, *field = NULL;
	layout_name(L_CLASS_METHOD_TABLE, &type, &field);
	ASSERT_TEXT(type, "EEClass");
	ASSERT_TEXT(field, "MethodTable");
	ASSERT_TEXT(layout_origin_name(ORIGIN_CALIBRATED), "calibrated");
	ASSERT_TEXT(layout_origin_name(ORIGIN_NONE), "none");
}

/* readelf -n of Microsoft's libcoreclr.so. */
TEST(builds)
{
	const struct layout_build *build =
		layout_build_find("79945f51fb2612f13b7667a10a8fd29122664791");
	REQUIRE(build);
	ASSERT_TEXT(build->version, "10.0.12");
	ASSERT_UINT(build->major, 10);
	build = layout_build_find("a44470e1693c65783b6ea573e9a3dca1147f611e");
	REQUIRE(build);
	ASSERT_TEXT(build->version, "11.0.0");
	ASSERT_UINT(build->major, 11);
	build = layout_build_find("d2529b38862d9b522a8367dd2c7ad146ba135ec8");
	REQUIRE(build);
	ASSERT_TEXT(build->version, "8.0.34");
	ASSERT_UINT(build->major, 8);
	build = layout_build_find("d801f62275c8d68cbc395038ef78dce6ee3ed9ea"); /* for musl */
	REQUIRE(build);
	ASSERT_TEXT(build->version, "8.0.34");
	CU_ASSERT_PTR_NULL(layout_build_find(""));
	CU_ASSERT_PTR_NULL(layout_build_find("79945f51"));
}

TEST(versions_of_the_builds)
{
	char text[64];
	layout_build_versions(&arch_x86_64, false, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "10.0.15, 11.0.0"));
	CU_ASSERT_PTR_NULL(strstr(text, "11.0.0, 11.0.0"));
	layout_build_versions(&arch_x86_64, false, text, 4);
	ASSERT_UINT(strlen(text), 3);
	layout_build_versions(&arch_x86_64, true, text, sizeof(text));
	ASSERT_TEXT(text, "8.0.34, 10.0.15, 11.0.0");
	layout_build_versions(&arch_arm64, false, text, sizeof(text));
	ASSERT_TEXT(text, "10.0.15, 11.0.0");
	layout_build_versions(&arch_arm64, true, text, sizeof(text));
	ASSERT_TEXT(text, "");
}

SUITE(.name = "layout")
