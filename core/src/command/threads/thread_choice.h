/* SPDX-License-Identifier: MIT */
/* The threads that a command about stacks is about. */
#ifndef HEAPDUMP_SRC_COMMAND_THREAD_CHOICE_H
#define HEAPDUMP_SRC_COMMAND_THREAD_CHOICE_H

#include "command/call.h"

struct clr_thread;

/** One thread, or all of them. */
struct thread_choice {
	bool is_one;
	bool is_managed_id; /**< @c id is that of .NET; else the system's */
	bool is_selected;   /**< nothing names it: it is the session's selected thread */
	uint64_t id;
};

/**
 * What the user has chosen; where nothing was given, the thread that is selected in the debugger or
 * by setthread, and all threads if there is none.
 *
 * @param word The OS id of a thread; NULL: the command takes none.
 * @param thread,all The options -thread and -all.
 */
struct thread_choice thread_choice(const struct call *call, const struct value *word,
				   const struct value *thread, const struct value *all);

/** Is @p thread the one, or one of all? */
bool thread_is_chosen(const struct thread_choice *choice, const struct clr_thread *thread);

/** Fail with HD_ERR_NOTFOUND: there is no such managed thread. */
enum hd_status thread_not_found(const struct call *call, const struct thread_choice *choice);

#endif
