/* SPDX-License-Identifier: MIT */
/* Which facts of the framework were looked for in a heap, and were not there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** At least as many bits as there are facts: framework/member.c checks it. */
#define FACT_LEDGER_WORDS 8u

/**
 * By number of a fact (framework/facts.h).  An alternative that is found makes up for the others;
 * framework/absent.h says what remains.  Several threads may add to it.
 */
struct fact_ledger {
	uint64_t found[FACT_LEDGER_WORDS];
	uint64_t absent[FACT_LEDGER_WORDS]; /**< an object of the type has no such field */
	uint64_t types[FACT_LEDGER_WORDS];  /**< by number of a type: it was looked for */
};

static inline void fact_ledger_add(uint64_t *words, unsigned int fact)
{
	uint64_t *word = words + fact / 64;
	(void)__atomic_fetch_or(word, (uint64_t)1 << fact % 64, __ATOMIC_RELAXED);
}

static inline bool fact_ledger_has(const uint64_t *words, unsigned int fact)
{
	return __atomic_load_n(&words[fact / 64], __ATOMIC_RELAXED) >> fact % 64 & 1;
}
