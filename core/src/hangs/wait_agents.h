/* SPDX-License-Identifier: MIT */
/* Agents (MailboxProcessor of F#) whose loops have ended. */
#pragma once

#include "hangs/wait_things.h"

/**
 * Add a thing for each agent that has messages in its queue, of which some wait for a reply, while its loop neither waits for
 * a message nor is alive: around the loop of each agent is a handler for exceptions, an object that refers to it, until it
 * ends.  One that waits with a limit of time, or can be cancelled, is not judged.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in agents, and in the messages of those that do not wait for one; and in the heap, where there is a reply
 * that is waited for.
 */
HD_NODISCARD enum hd_status wait_agents_find(const struct waits *waits, struct job *job,
					     struct wait_things *things, struct hd_error *err);
