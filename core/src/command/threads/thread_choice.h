/* SPDX-License-Identifier: MIT */
/* The threads that a command about stacks is about. */
#pragma once

#include "command/call.h"

struct runtime_thread;
struct stack_options;
struct thread_stack;

/** One thread, or all of them. */
struct thread_choice {
	bool is_one;
	bool is_managed_id; /**< @c id is that of .NET; else the system's */
	bool is_selected;   /**< nothing names it: it is the session's selected thread */
	uint64_t id;
};

/**
 * Find the threads that the user has chosen; where nothing was given, the thread that is selected
 * in the debugger or by setthread, and all threads if there is none.
 *
 * @param word The OS id of a thread; NULL: the command takes none.
 * @param thread,all The options -thread and -all.
 */
struct thread_choice thread_choice(const struct call *call, const struct value *word,
				   const struct value *thread, const struct value *all);

/**
 * Fail if the managed threads cannot be read.  If only some of them are known, the exit status becomes
 * that of findings, one of which says why.
 */
HD_NODISCARD enum hd_status threads_check(struct call *call);

/** Is @p thread the one, or one of all? */
bool thread_is_chosen(const struct thread_choice *choice, const struct runtime_thread *thread);

/** Fail with HD_ERR_NOTFOUND: there is no such managed thread. */
enum hd_status thread_not_found(const struct call *call, const struct thread_choice *choice);

/** Write what a command says of a stack. */
typedef enum hd_status (*stack_writer)(void *arg, const struct thread_stack *stack);

/**
 * Walk the stacks of the chosen threads and give each to @p write; text has an empty line between
 * two of them.
 *
 * @retval HD_ERR_NOTFOUND as thread_not_found()
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * @retval others those of @p write
 */
HD_NODISCARD enum hd_status chosen_stacks_write(struct call *call,
						const struct thread_choice *choice,
						const struct stack_options *options,
						stack_writer write, void *arg);
