/* SPDX-License-Identifier: MIT */
/* Each piece of advice: the evidence with which it is just given, and with which it is not. */
#include "native/memory_advice.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define MB ((uint64_t)1 << 20)

/* A program of 400 MB without anything to complain about. */
static struct memory_evidence healthy(void)
{
	return (struct memory_evidence){ .all = 400 * MB,
					 .arenas = 8,
					 .arenas_free = 4 * MB,
					 .objects = 100 * MB,
					 .unused = 20 * MB,
					 .stacks = 2,
					 .stacks_below = 5 * MB,
					 .is_walked = true,
					 .live = 80 * MB,
					 .dead = 15 * MB,
					 .loh = 120 * MB,
					 .loh_free = 6 * MB };
}

/* Only this advice is given, and it is about so many bytes. */
static void check_only(const struct memory_evidence *evidence, enum memory_advice wanted,
		       uint64_t bytes)
{
	for (enum memory_advice advice = 0; advice < MEMORY_ADVICES; advice++)
		ASSERT_UINT(memory_advice_bytes(advice, evidence), advice == wanted ? bytes : 0);
}

static void check_none(const struct memory_evidence *evidence)
{
	check_only(evidence, MEMORY_ADVICES, 0);
}

TEST(a_healthy_program_gets_none)
{
	struct memory_evidence evidence = healthy();
	check_none(&evidence);
	evidence = (struct memory_evidence){ 0 };
	check_none(&evidence);
}

TEST(free_memory_of_many_arenas)
{
	struct memory_evidence evidence = healthy();
	evidence.arenas_free = 50 * MB;
	check_only(&evidence, MEMORY_ADVICE_ARENAS, 50 * MB);
	evidence.arenas = 2;
	check_none(&evidence);
	evidence = healthy();
	evidence.arenas_free = 50 * MB - 1;
	check_none(&evidence);
	/* A tenth of all. */
	evidence.arenas_free = 60 * MB;
	evidence.all = 600 * MB;
	check_none(&evidence);
}

TEST(memory_of_the_gc_without_objects)
{
	struct memory_evidence evidence = healthy();
	evidence.unused = 101 * MB;
	check_only(&evidence, MEMORY_ADVICE_UNUSED, 101 * MB);
	evidence.unused = 100 * MB;
	check_none(&evidence);
}

TEST(dead_objects)
{
	struct memory_evidence evidence = healthy();
	evidence.dead = 81 * MB;
	check_only(&evidence, MEMORY_ADVICE_DEAD, 81 * MB);
	evidence.dead = 80 * MB;
	check_none(&evidence);
	evidence.dead = 81 * MB;
	evidence.is_walked = false;
	check_none(&evidence);
}

TEST(less_is_worth_it_where_memory_is_short)
{
	struct memory_evidence evidence = healthy();
	evidence.all = 90 * MB;
	evidence.objects = evidence.live = 60 * MB;
	evidence.loh = 0;
	evidence.dead = 10 * MB;
	check_none(&evidence);
	evidence.is_pressed = true;
	check_only(&evidence, MEMORY_ADVICE_DEAD, 10 * MB);
	evidence.dead--;
	check_none(&evidence);
}

TEST(gaps_between_large_objects)
{
	struct memory_evidence evidence = healthy();
	evidence.loh_free = 61 * MB;
	check_only(&evidence, MEMORY_ADVICE_LOH, 61 * MB);
	evidence.loh_free = 60 * MB;
	check_none(&evidence);
	evidence.loh = 60 * MB;
	evidence.loh_free = 49 * MB;
	check_none(&evidence);
}

TEST(stacks_that_were_deeper_once)
{
	struct memory_evidence evidence = healthy();
	evidence.stacks_below = 55 * MB;
	check_only(&evidence, MEMORY_ADVICE_STACKS, 55 * MB);
	/* A little of each of very many threads. */
	evidence.stacks = 0;
	check_none(&evidence);
}

TEST(contexts_that_stay)
{
	struct memory_evidence evidence = healthy();
	evidence.unloading = 3;
	check_none(&evidence);
	evidence.context_bytes = 2 * MB;
	check_only(&evidence, MEMORY_ADVICE_CONTEXTS, 2 * MB);
	evidence.unloading = 0;
	check_none(&evidence);
}

SUITE(.name = "memory_advice")
