/* SPDX-License-Identifier: MIT */
#pragma once

#include "native/memory_account.h"

/** Memory that a setting, or a change of the program, would give back. */
enum memory_advice {
	MEMORY_ADVICE_ARENAS,   /**< free memory in many arenas of malloc */
	MEMORY_ADVICE_UNUSED,   /**< the GC keeps more than its objects need */
	MEMORY_ADVICE_DEAD,     /**< dead objects that nothing makes the GC collect */
	MEMORY_ADVICE_LOH,      /**< gaps between large objects */
	MEMORY_ADVICE_STACKS,   /**< stacks that were deeper once */
	MEMORY_ADVICE_CONTEXTS, /**< contexts that were unloaded and are still there */
	MEMORY_ADVICES
};

/** The advice is made of this.  In a core, "in memory" are bytes that are not in pages of zeros. */
struct memory_evidence {
	uint64_t all;           /**< bytes in memory */
	uint64_t arenas;        /**< how many arenas there are */
	uint64_t arenas_free;   /**< at least so many free bytes of others than the main one */
	uint64_t objects;       /**< bytes of generations in memory */
	uint64_t unused;        /**< committed bytes in memory, without objects */
	uint64_t stacks;        /**< how many threads have a megabyte or more below */
	uint64_t stacks_below;  /**< bytes in memory below stack pointers */
	uint64_t context_bytes; /**< in memory, of loader and code heaps of collectible contexts */
	bool is_walked;         /**< what follows is known: it costs a walk over the heap */
	uint64_t live, dead;
	uint64_t loh,
		loh_free;   /**< bytes up to the end of the last large object; free ones of them */
	uint64_t unloading; /**< contexts whose Unload() was called */
	bool is_pressed;    /**< memory is short where the process runs: cgroup_memory.is_tight */
};

/** Fill in what an account tells; is_walked and the members after it stay as they are. */
void memory_evidence_read(const struct memory_account *account, struct memory_evidence *ret);

/** How many bytes the advice is about; 0: there is not enough evidence to give it. */
uint64_t memory_advice_bytes(enum memory_advice advice, const struct memory_evidence *evidence);
