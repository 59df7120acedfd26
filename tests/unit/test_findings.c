/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/findings.h"

static void an_equal_finding_is_not_added_again(void)
{
	struct findings findings = { 0 };
	findings_add(&findings, "odd-note", "do this", "note %d", 1);
	findings_add(&findings, "odd-note", NULL, "note %d", 1);
	findings_add(&findings, "odd-note", NULL, "note %d", 2);
	findings_add_counted(&findings, "other", 7, NULL, "note %d", 1);
	ASSERT_UINT_FATAL(findings.count, 3);
	ASSERT_TEXT(findings.rows[0].advice, "do this");
	CU_ASSERT_PTR_NULL(findings.rows[1].advice);
	ASSERT_UINT(findings.rows[2].count, 7);
	CU_ASSERT(findings_has(&findings, "other") && !findings_has(&findings, "none"));
	findings_deinit(&findings);
}

static void what_is_too_many_to_list_is_counted(void)
{
	struct findings findings = { 0 };
	for (unsigned int i = 0; i < 100000; i++)
		findings_add(&findings, "odd-note", "do this", "note %u", i);
	findings_add(&findings, "truncated", NULL, "the file ends");
	/* One that is listed is still known. */
	findings_add(&findings, "odd-note", "do this", "note 5");
	ASSERT_UINT_FATAL(findings.count, FINDINGS_LISTED + 2);
	const struct finding *rest = &findings.rows[FINDINGS_LISTED];
	CU_ASSERT(rest->is_rest && !findings.rows[0].is_rest);
	ASSERT_TEXT(rest->kind, "odd-note");
	ASSERT_TEXT(rest->detail, "99936 more of this kind, which are not listed");
	ASSERT_UINT(rest->count, 99936);
	ASSERT_TEXT(findings.rows[FINDINGS_LISTED + 1].kind, "truncated");
	findings_deinit(&findings);
	ASSERT_UINT(findings.count, 0);
}

#define TEST(name)          \
	{                   \
#name, name \
	}

int main(void)
{
	CU_TestInfo tests[] = {
		TEST(an_equal_finding_is_not_added_again),
		TEST(what_is_too_many_to_list_is_counted),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { .pName = "findings", .pTests = tests }, CU_SUITE_INFO_NULL };
	return suite_main(suites);
}
