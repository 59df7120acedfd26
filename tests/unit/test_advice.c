/* SPDX-License-Identifier: MIT */
/* The advice for users about bytes that a core lacks. */
#include <elf.h>

#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "targets/target_files.h"

#define PAGE  ((uint64_t)4096)
#define OWN   ((uint64_t)0x500000000000)
#define WHOLE ((uint64_t)0x7f0000000000)
#define CUT   ((uint64_t)0x7f0000100000)
#define FILES "give the files"

static const uint8_t zeros[4 * 4096];

/*
 * Two files that are not here: the first lacks the page that is not a segment's, the
 * second what lies after the end of the core, @p cut bytes before that of a whole one.
 */
static struct target *open_cut(uint64_t cut, bool notes_last, const struct target_options *options)
{
	struct elf_maker maker;
	elf_maker_init(&maker);
	maker.notes_last = notes_last;
	elf_maker_load(&maker, OWN, zeros, PAGE, 2 * PAGE, PF_R | PF_W);
	elf_maker_load(&maker, WHOLE, zeros, PAGE, PAGE, PF_R);
	elf_maker_load(&maker, CUT + PAGE, zeros, 4 * PAGE, 4 * PAGE, PF_R);
	elf_maker_file(&maker, WHOLE, WHOLE + PAGE, 0, "/no/such/whole.so");
	elf_maker_file(&maker, WHOLE + PAGE, WHOLE + 2 * PAGE, PAGE, "/no/such/whole.so");
	elf_maker_file(&maker, CUT, CUT + PAGE, 0, "/no/such/cut.so");
	elf_maker_file(&maker, CUT + PAGE, CUT + 5 * PAGE, PAGE, "/no/such/cut.so");
	struct text core = elf_maker_build(&maker);
	struct target *target = NULL;
	CU_ASSERT(core_open_bytes(core.bytes, core.size - cut, options, &target, NULL) == HD_OK);
	REQUIRE(target);
	text_deinit(&core);
	elf_maker_deinit(&maker);
	return target;
}

static bool is_again(const char *advice)
{
	return advice && strstr(advice, "the core is cut: write it again") != NULL;
}

TEST(a_cut_core_is_written_again)
{
	struct target *target = open_cut(PAGE, false, NULL);
	CU_ASSERT(target->core.is_truncated);
	CU_ASSERT(is_again(target_advice(target, CUT + 4 * PAGE, FILES)));
	/* The image as a whole. */
	CU_ASSERT(is_again(target_advice(target, CUT, FILES)));
	CU_ASSERT(is_again(target_advice(target, 0, FILES)));
	/* These were never in it. */
	ASSERT_TEXT(target_advice(target, WHOLE, FILES), FILES);
	ASSERT_TEXT(target_advice(target, WHOLE + PAGE, FILES), FILES);
	ASSERT_TEXT(target_advice(target, OWN + PAGE, FILES), FILES);
	target_destroy(target);
	target = open_cut(0, false, NULL);
	ASSERT_TEXT(target_advice(target, CUT + 4 * PAGE, FILES), FILES);
	ASSERT_TEXT(target_advice(target, 0, FILES), FILES);
	target_destroy(target);
	/* The names of files are lost. */
	target = open_cut(8, true, NULL);
	ASSERT_UINT(target->map.mapping_count, 0);
	CU_ASSERT(is_again(target_advice(target, WHOLE, FILES)));
	target_destroy(target);
}

TEST(no_file_has_what_the_process_has_written)
{
	struct target *target = open_cut(0, false, NULL);
	CU_ASSERT(strstr(target_advice_written(target, OWN + PAGE), "private memory") != NULL);
	/* A filter has left out all of that. */
	for (size_t i = 0; i < target->map.range_count; i++) {
		if (target->map.ranges[i].flags & PF_W)
			target->map.ranges[i].captured = 0;
	}
	CU_ASSERT(strstr(target_advice(target, WHOLE, FILES), "private memory") != NULL);
	target->options.no_files = true;
	CU_ASSERT(strstr(target_advice(target, 0, FILES), "private memory") != NULL);
	target->kind = TARGET_PROCESS;
	ASSERT_TEXT(target_advice(target, WHOLE, FILES), FILES);
	target_destroy(target);
	target = open_cut(PAGE, false, NULL);
	CU_ASSERT(is_again(target_advice_written(target, CUT)));
	target_destroy(target);
}

TEST(files_that_were_forbidden_are_to_be_allowed)
{
	struct target *target = open_cut(PAGE, false, &(struct target_options){ .no_files = true });
	CU_ASSERT(strstr(target_advice(target, WHOLE, FILES), "leave --no-files away") != NULL);
	CU_ASSERT(is_again(target_advice(target, CUT, FILES)));
	target->kind = TARGET_PROCESS;
	ASSERT_TEXT(target_advice(target, WHOLE, FILES), FILES);
	target_destroy(target);
}

static const char *advice_about_files(const struct target *target)
{
	for (size_t i = 0; i < target->findings.count; i++) {
		if (strcmp(finding_name(target->findings.rows[i].kind), "files-missing") == 0)
			return target->findings.rows[i].advice;
	}
	return NULL;
}

TEST(missing_files_are_asked_for_where_they_help)
{
	struct target *target = open_cut(PAGE, false, NULL);
	uint8_t byte;
	CU_ASSERT(!memory_u8(target->memory, CUT + 4 * PAGE, &byte));
	target_add_file_findings(target);
	CU_ASSERT(is_again(advice_about_files(target)));
	CU_ASSERT(!memory_u8(target->memory, WHOLE + PAGE, &byte));
	target_add_file_findings(target);
	const char *advice = advice_about_files(target);
	CU_ASSERT(advice && strstr(advice, "--sysroot") != NULL);
	target_destroy(target);
}

SUITE(.name = "advice")
