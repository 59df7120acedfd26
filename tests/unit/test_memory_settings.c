/* SPDX-License-Identifier: MIT */
/*
 * The settings of a process about its memory: the block of its environment, the GC's own variables.
 */
#include "arch/arch.h"
#include "gc/gc_limits.h"
#include "native/memory_settings.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* The end of a stack: other strings, variables, the name of the program. */
#define TAKE(settings, block) \
	memory_settings_take(settings, (const uint8_t *)(block), sizeof(block))

TEST(variables_are_found_in_the_block)
{
	struct memory_settings settings = { 0 };
	TAKE(&settings, "x86_64\0dotnet\0HOME=/\0MALLOC_ARENA_MAX=2\0DOTNET_GCConserveMemory=5\0"
			"DOTNET_GCHeapHardLimit=\0/usr/bin/dotnet");
	const struct memory_setting *rows = settings.rows;
	CU_ASSERT(settings.has_environment && !settings.has_config);
	CU_ASSERT(rows[MEMORY_SETTING_ARENAS].source == MEMORY_SET_IN_ENVIRONMENT);
	CU_ASSERT_STRING_EQUAL(rows[MEMORY_SETTING_ARENAS].value, "2");
	CU_ASSERT_STRING_EQUAL(rows[MEMORY_SETTING_CONSERVE].value, "5");
	CU_ASSERT_STRING_EQUAL(rows[MEMORY_SETTING_CONSERVE].name, "DOTNET_GCConserveMemory");
	CU_ASSERT(rows[MEMORY_SETTING_LIMIT].source == MEMORY_SET_IN_ENVIRONMENT);
	CU_ASSERT_STRING_EQUAL(rows[MEMORY_SETTING_LIMIT].value, "");
	CU_ASSERT(rows[MEMORY_SETTING_DATAS].source == MEMORY_SET_NOWHERE);
}

TEST(the_older_name_counts_without_the_newer_one)
{
	struct memory_settings settings = { 0 };
	TAKE(&settings, "COMPlus_GCConserveMemory=4");
	CU_ASSERT_STRING_EQUAL(settings.rows[MEMORY_SETTING_CONSERVE].value, "4");
	CU_ASSERT_STRING_EQUAL(settings.rows[MEMORY_SETTING_CONSERVE].name,
			       "COMPlus_GCConserveMemory");
	TAKE(&settings, "DOTNET_GCConserveMemory=6\0COMPlus_GCConserveMemory=7");
	CU_ASSERT_STRING_EQUAL(settings.rows[MEMORY_SETTING_CONSERVE].value, "6");
}

TEST(values_are_plain_and_short)
{
	struct memory_settings settings = { 0 };
	TAKE(&settings, "DOTNET_GCHeapHardLimit=1000\x1b[2J\0DOTNET_GCConserveMemory="
			"0123456789012345678901234567890123456789\0XMALLOC_ARENA_MAX=1");
	CU_ASSERT_STRING_EQUAL(settings.rows[MEMORY_SETTING_LIMIT].value, "1000");
	CU_ASSERT_STRING_EQUAL(settings.rows[MEMORY_SETTING_CONSERVE].value,
			       "0123456789012345678901234567890");
	CU_ASSERT(settings.rows[MEMORY_SETTING_ARENAS].source == MEMORY_SET_NOWHERE);
}

TEST(any_path_shows_that_it_is_an_environment)
{
	struct memory_settings settings = { 0 };
	TAKE(&settings, "HOME=/\0rest");
	CU_ASSERT(!settings.has_environment);
	TAKE(&settings, "PATH=/bin\0");
	CU_ASSERT(settings.has_environment);
}

/* The words as a GC has them: doc/memory.md 8.2. */
struct limits_words {
	uint64_t shares[2];
	uint32_t percents[4];
	uint64_t zero, machine, other, heap;
};

static bool parse(const struct limits_words *words, struct gc_limits *ret)
{
	uint8_t bytes[GC_LIMITS_SIZE];
	CU_ASSERT_FATAL(sizeof(*words) == sizeof(bytes));
	memcpy(bytes, words, sizeof(bytes));
	return gc_limits_parse(&arch_x86_64.space, bytes, ret);
}

TEST(limits_of_a_gc_have_a_shape)
{
	const struct limits_words good = {
		{ 4194304, 4194304 }, { 90, 95, 97, 85 }, 0, 419430400, 0, 314572800
	};
	struct limits_words words = good;
	struct gc_limits limits = { 0 };
	CU_ASSERT(parse(&words, &limits) && limits.is_known);
	ASSERT_UINT(limits.machine, 419430400);
	ASSERT_UINT(limits.heap, 314572800);
	/* A workstation GC has half of it. */
	words.shares[0] = words.shares[1] = 2097152;
	words.heap = 0;
	CU_ASSERT(parse(&words, &limits));
	ASSERT_UINT(limits.heap, 0);
	words.shares[1]++;
	CU_ASSERT(!parse(&words, &limits));
	words = good;
	words.percents[2] = 96;
	CU_ASSERT(!parse(&words, &limits));
	words = good;
	words.machine *= 3;
	CU_ASSERT(!parse(&words, &limits));
	words = good;
	words.heap = UINT64_MAX;
	CU_ASSERT(!parse(&words, &limits));
	words = (struct limits_words){ .percents = { 90, 95, 97, 85 } };
	CU_ASSERT(!parse(&words, &limits));
}

SUITE(.name = "memory_settings")
