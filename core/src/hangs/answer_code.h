/* SPDX-License-Identifier: MIT */
/* Which methods of the program set results of sources (TaskCompletionSource), as their code says. */
#pragma once

#include "hangs/waits.h"

struct async_node;
struct job;

/** Most methods of a kind that are kept, and bytes of their names: "Take", without their classes. */
#define ANSWER_METHODS_MAX 128u
#define ANSWER_NAME_SIZE   96u

struct answer_names {
	char rows[ANSWER_METHODS_MAX][ANSWER_NAME_SIZE];
	size_t count;
};

/** Begins with all zeros, but for waits. */
struct answer_code {
	const struct waits *waits;
	struct answer_names setters; /**< methods that set results */
	struct answer_names direct;  /**< those of them that name a member of a source themselves */
	struct answer_names
		beginners; /**< methods that call the one with the loop, which may begin another one */
	char loop[ANSWER_NAME_SIZE]; /**< that one; "": none */
	bool is_direct, is_read;     /**< private */
	bool is_unknown;             /**< not all code is there, or more than is kept */
};

/** The task of the source for which the thread waits in the end; 0: it waits for something else, or not for ever. */
uint64_t answer_source_of(const struct waits *waits, const struct thread_wait *wait);

/** Is the member one that brings an answer, "...TaskCompletionSource.TrySetResult"?  Who gives up sets an exception. */
bool answer_is_set(const char *member);

/**
 * Find the methods of the program that set results themselves: setters.
 *
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the code of the program, the first time.
 */
HD_NODISCARD enum hd_status answer_code_read(struct answer_code *code, struct job *job,
					     struct hd_error *err);
/**
 * Add those that do it by others; but who only calls the method @p loop begins the loop that is in it, and is one of the beginners.
 * answer_code_read() was called before.
 *
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the code of the program.
 */
HD_NODISCARD enum hd_status answer_code_follow(struct answer_code *code, uint64_t loop,
					       struct job *job, struct hd_error *err);

/** Does the code of a method set results, itself or by setters?  It counts where it is not known. */
bool answer_code_sets(const struct answer_code *code, uint64_t method_desc);
/** The same, or is it a beginner? */
bool answer_code_may_set(const struct answer_code *code, uint64_t method_desc);
/** The same of an async method. */
bool answer_code_method_may_set(const struct answer_code *code, const struct async_node *method);
