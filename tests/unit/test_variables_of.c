/* SPDX-License-Identifier: MIT */
#include "inspect/variables_of.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/text.h"

#define BOX(machine)                                                                                         \
	"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+AsyncStateMachineBox<" machine \
	">"

TEST(objects_that_keep_variables_are_known_by_their_method)
{
	static const struct {
		const char *type, *method;
		enum variables_kind kind;
	} cases[] = {
		{ BOX("Shop.Cart+<Load>d__5"), "Shop.Cart.Load", VARIABLES_CALL },
		{ BOX("Shop.Cart+<>c+<<Load>b__0>d"), "Shop.Cart.Load.lambda", VARIABLES_CALL },
		{ BOX("Shop.Cart"), "", VARIABLES_NONE },
		{ "Shop.Cart+<Items>d__3", "Shop.Cart.Items", VARIABLES_STATE },
		{ "Shop.Cart+<Items>d__3[]", "", VARIABLES_NONE },
		{ "Shop.Cart+Line+<>c__DisplayClass3_0", "Shop.Cart.Line", VARIABLES_CLOSURE },
		{ "Shop.Cart+<>c__DisplayClass3_0<Shop.Line>", "Shop.Cart", VARIABLES_CLOSURE },
		{ "Shop.Cart+<>c__DisplayClass3_0[]", "", VARIABLES_NONE },
		{ "System.Func<Shop.Cart+<>c__DisplayClass3_0>", "", VARIABLES_NONE },
		{ "Shop.Cart+<>c", "", VARIABLES_NONE },
		{ "Shop.Cart", "", VARIABLES_NONE },
		{ "", "", VARIABLES_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text text = { 0 };
		ASSERT_UINT(variables_of_append(&text, NULL, NULL, cases[i].type,
						strlen(cases[i].type)),
			    cases[i].kind);
		ASSERT_TEXT(text.bytes ? text.bytes : "", cases[i].method);
		text_deinit(&text);
	}
}

SUITE(.name = "variables_of")
