/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/findings.h"

TEST(an_equal_finding_is_not_added_again)
{
	struct findings findings = { 0 };
	findings_add(&findings, FINDING_ODD_NOTE, "do this", "note %d", 1);
	findings_add(&findings, FINDING_ODD_NOTE, NULL, "note %d", 1);
	findings_add(&findings, FINDING_ODD_NOTE, NULL, "note %d", 2);
	findings_add_counted(&findings, FINDING_UNWALKABLE, 7, NULL, "note %d", 1);
	ASSERT_UINT_FATAL(findings.count, 3);
	ASSERT_TEXT(findings.rows[0].advice, "do this");
	CU_ASSERT_PTR_NULL(findings.rows[1].advice);
	ASSERT_UINT(findings.rows[2].count, 7);
	ASSERT_TEXT(findings.rows[2].advice, finding_traits(FINDING_UNWALKABLE)->advice);
	CU_ASSERT(findings_has(&findings, FINDING_UNWALKABLE) &&
		  !findings_has(&findings, FINDING_HELD));
	findings_deinit(&findings);
}

TEST(what_is_too_many_to_list_is_counted)
{
	struct findings findings = { 0 };
	for (unsigned int i = 0; i < 100000; i++)
		findings_add(&findings, FINDING_ODD_NOTE, "do this", "note %u", i);
	findings_add(&findings, FINDING_TRUNCATED, NULL, "the file ends");
	/* One that is listed is still known. */
	findings_add(&findings, FINDING_ODD_NOTE, "do this", "note 5");
	ASSERT_UINT_FATAL(findings.count, FINDINGS_LISTED + 2);
	const struct finding *rest = &findings.rows[FINDINGS_LISTED];
	CU_ASSERT(rest->is_rest && !findings.rows[0].is_rest);
	ASSERT_TEXT(finding_name(rest->kind), "odd-note");
	ASSERT_TEXT(rest->detail, "99936 more of this kind, which are not listed");
	ASSERT_UINT(rest->count, 99936);
	ASSERT_TEXT(finding_name(findings.rows[FINDINGS_LISTED + 1].kind), "truncated");
	findings_deinit(&findings);
	ASSERT_UINT(findings.count, 0);
}

TEST(each_kind_has_its_row)
{
	for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
		const struct finding_traits *traits = finding_traits(kind);
		CU_ASSERT_PTR_NOT_NULL_FATAL(traits->name);
		ASSERT_UINT(strspn(traits->name, "abcdefghijklmnopqrstuvwxyz-"),
			    strlen(traits->name));
		for (enum finding_kind other = 0; other < kind; other++)
			CU_ASSERT(strcmp(finding_name(other), traits->name) != 0);
	}
}

TEST(what_is_lost_is_said_in_words)
{
	for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++) {
		const struct finding_traits *traits = finding_traits(kind);
		ASSERT_UINT(!traits->losses, !traits->lost_one);
		CU_ASSERT(traits->lost_one || !traits->lost_many);
		CU_ASSERT(!traits->losses || !(traits->is_harmless || traits->is_elsewhere));
	}
}

TEST(kinds_that_lose_something_come_first)
{
	for (enum finding_kind kind = 1; kind < FINDING_KINDS; kind++) {
		CU_ASSERT(finding_traits(kind - 1)->losses || !finding_traits(kind)->losses);
	}
}

SUITE(.name = "findings")
