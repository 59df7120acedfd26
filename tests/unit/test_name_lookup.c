/* SPDX-License-Identifier: MIT */
#include "analysis/names/name_lookup.h"
#include "support/assert_more.h"
#include "support/suite.h"

static char path[] = "/app/My.Shop.dll", name[] = "Shop.Core";

TEST(modules_have_the_names_of_assembly_and_file)
{
	static const char *const good[] = { "My.Shop.dll", "my.shop", "SHOP.CORE", "*",
					    "/app/My.Shop.dll" },
				 *const bad[] = { "",     "My",  "My.Shop.dl",
						  "Shop", "app", "Shop.Core.dll",
						  "**" };
	const struct module module = { .path = path, .name = name };
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CU_ASSERT(module_is_named(&module, good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT(!module_is_named(&module, bad[i]));
}

TEST(a_module_without_file_has_the_name_of_its_assembly)
{
	static char empty[] = "";
	const struct module module = { .path = empty, .name = name }, unknown = { 0 };
	CU_ASSERT(module_is_named(&module, "shop.core"));
	CU_ASSERT(!module_is_named(&module, ""));
	CU_ASSERT(module_is_named(&unknown, "*"));
	CU_ASSERT(!module_is_named(&unknown, "shop"));
}

SUITE(.name = "name_lookup")
