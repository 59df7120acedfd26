/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "analysis/name_similar.h"
#include "support/assert_more.h"
#include "support/suite.h"

static const struct {
	const char *name, *part;
	unsigned int difference;
} pairs[] = {
	{ "WebShop.Session", "Sesion", 1 },
	{ "WebShop.Session", "Sessions", 1 },
	{ "WebShop.Session", "webshop.sessoin", 2 },
	{ "WebShop.Session", "Web.Sesion$", 1 },
	{ "WebShop.Session", "Sess", NAME_DIFFERS },
	{ "WebShop.Session", "Shop", NAME_DIFFERS },
	{ "A.List<WebShop.Session>+Node[]", "*Sesion*", 1 },
	{ "A.Page", "Pge", 1 },
	{ "A.Page", "Pxe", NAME_DIFFERS },
	{ "A.Page", "Pa", NAME_DIFFERS },
	{ "A.Page", "", NAME_DIFFERS },
	{ "A.Page", "...", NAME_DIFFERS },
	{ "", "Page", NAME_DIFFERS },
};

TEST(a_letter_or_two_do_not_matter)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ASSERT_UINT(name_difference(pairs[i].name, strlen(pairs[i].name), pairs[i].part),
			    pairs[i].difference);
	}
}

TEST(long_words_are_passed_over)
{
	char name[200];
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ASSERT_UINT(name_difference(name, strlen(name), "aaaa"), NAME_DIFFERS);
	ASSERT_UINT(name_difference("aaaa", 4, name), NAME_DIFFERS);
	name[64] = '\0';
	ASSERT_UINT(name_difference(name, 64, name), 0);
	ASSERT_UINT(name_difference(name, 63, name), 1);
}

SUITE(.name = "name_similar")
