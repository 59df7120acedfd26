/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/suite.h"
#include "targets/image_list.h"

static char program[] = "/bin/app", library[] = "/lib/a.so", managed[] = "/app/B.dll",
	    data[] = "/usr/share/locale";

static struct target_mapping mappings[] = {
	{ .start = 0x1000, .end = 0x3000, .offset = 0, .path = program },
	{ .start = 0x5000, .end = 0x6000, .offset = 0x2000, .path = program },
	{ .start = 0x10000, .end = 0x14000, .offset = 0, .path = managed },
	{ .start = 0x20000, .end = 0x21000, .offset = 0, .path = library },
	{ .start = 0x22000, .end = 0x25000, .offset = 0x1000, .path = library },
	{ .start = 0x30000, .end = 0x31000, .offset = 0, .path = data },
	{ .start = 0x40000, .end = 0x41000, .offset = 0, .path = managed },
	{ .start = 0x41000, .end = 0x48000, .offset = 0x1000, .path = managed },
	{ .start = 0x50000, .end = 0x51000, .offset = 0, .path = library },
};

static struct target_module modules[] = {
	{ .base = 0, .dynamic = 0x5800, .path = program },
	{ .base = 0x20000, .dynamic = 0x22800, .path = library },
	{ .base = 0x90000, .dynamic = 0x90800, .path = NULL },
};

static void check_image(const struct mapped_image *image, uint64_t begin, uint64_t end,
			const char *path, bool is_managed)
{
	ASSERT_UINT(image->begin, begin);
	ASSERT_UINT(image->end, end);
	ASSERT_TEXT(image->path, path);
	ASSERT_UINT(image->is_managed, is_managed);
	CU_ASSERT((image->module != NULL) == !is_managed);
}

TEST(each_image_has_the_mappings_of_its_file)
{
	struct image_list list;
	struct hd_error err;
	struct target target = { .arch = &arch_x86_64,
				 .map = { .mappings = mappings,
					  .mapping_count = sizeof(mappings) / sizeof(mappings[0]) },
				 .modules = modules,
				 .module_count = 3 };
	ASSERT_UINT(image_list_read(&target, &list, &err), HD_OK);
	ASSERT_UINT(list.rows_count, 4);
	REQUIRE(list.rows_count == 4 ? list.rows : NULL);
	check_image(&list.rows[0], 0x1000, 0x6000, "/bin/app", false);
	check_image(&list.rows[1], 0x20000, 0x25000, "/lib/a.so", false);
	check_image(&list.rows[2], 0x40000, 0x48000, "/app/B.dll", true);
	ASSERT_UINT(list.rows[2].times, 2);
	check_image(&list.rows[3], 0x90000, 0x90000, "", false);
	image_list_deinit(&list);
}

TEST(a_target_without_mappings_has_its_modules)
{
	struct image_list list;
	struct hd_error err;
	struct target target = { .arch = &arch_x86_64, .modules = modules, .module_count = 1 };
	ASSERT_UINT(image_list_read(&target, &list, &err), HD_OK);
	ASSERT_UINT(list.rows_count, 1);
	image_list_deinit(&list);
	target.module_count = 0;
	ASSERT_UINT(image_list_read(&target, &list, &err), HD_OK);
	ASSERT_UINT(list.rows_count, 0);
	image_list_deinit(&list);
}

SUITE(.name = "image_list")
