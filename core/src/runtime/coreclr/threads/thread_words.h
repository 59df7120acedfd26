/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** Words of a Thread among which its handles are. */
#define THREAD_WORDS_MAX 128u

/** Which of them has the handle of the exception that it threw last; SIZE_MAX: it is not known. */
size_t runtime_thrown_word(const struct runtime *runtime);

/** The first words of a Thread, as many as can be read; @return their number */
size_t runtime_thread_words(const struct runtime *runtime, const struct runtime_thread *thread,
			    uint64_t words[THREAD_WORDS_MAX]);
