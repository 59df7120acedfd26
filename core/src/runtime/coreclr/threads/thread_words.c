/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/threads/thread_words.h"

#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/thread_words.h"

_Static_assert(THREAD_WORDS_MAX * 8 == THREAD_HANDLES_END, "all that are searched");

size_t runtime_thread_words(const struct runtime *runtime, const struct runtime_thread *thread,
			    uint64_t words[THREAD_WORDS_MAX])
{
	if (!coreclr_is(runtime))
		return 0;
	return memory_prefix(runtime_memory(runtime), thread->address, words, THREAD_HANDLES_END) /
	       8;
}

size_t runtime_thrown_word(const struct runtime *runtime)
{
	return coreclr_has_field(runtime, L_THREAD_EXCEPTION)
		       ? coreclr_offset(runtime, L_THREAD_EXCEPTION) / 8
		       : SIZE_MAX;
}
