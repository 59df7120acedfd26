/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "command/call.h"
#include "command/foreign_names.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* Users of SOS are told what to use: it must be there. */
TEST(advice_on_names_of_sos_leads_to_commands)
{
	for (unsigned int i = 0; foreign_name_at(i); i++) {
		const char *name = foreign_name_at(i), *advice = foreign_name_advice(name);
		char word[32];
		REQUIRE(advice);
		CU_ASSERT_PTR_NULL(command_find(name));
		if (sscanf(advice, "use %31[a-z]", word) != 1 || strcmp(word, "the") == 0)
			continue;
		if (!command_find(word))
			(void)printf("%s: %s\n", name, advice);
		CU_ASSERT_PTR_NOT_NULL(command_find(word));
	}
	CU_ASSERT_PTR_NOT_NULL(foreign_name_advice("EESTACK"));
	/* Habits of debuggers. */
	static const char *const stacks[] = { "bt", "backtrace", "k", "kb", "where", "!analyze" };
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(foreign_name_advice(stacks[i]));
	CU_ASSERT_PTR_NULL(foreign_name_advice("gcroot"));
	CU_ASSERT_PTR_NULL(foreign_name_advice(""));
}

SUITE(.name = "foreign_names")
