/* SPDX-License-Identifier: MIT */
#include "clr/threads/thread_words.h"

#include "clr/layouts/thread_words.h"
#include "mem/memory.h"

_Static_assert(THREAD_WORDS_MAX * 8 == THREAD_HANDLES_END, "all that are searched");

size_t clr_thread_words(const struct clr *clr, const struct clr_thread *thread,
			uint64_t words[THREAD_WORDS_MAX])
{
	return memory_prefix(clr_memory(clr), thread->address, words, THREAD_HANDLES_END) / 8;
}
