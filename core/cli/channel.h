/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The kinds of messages.  The first group goes to the worker, the second to the broker. */
enum message_kind {
	MESSAGE_RUN =
		1, /**< strings: values of all settings, then argv; fd: standard output; id: RUN_* */
	MESSAGE_DEFER,    /**< strings: the target that the next command opens */
	MESSAGE_COMPLETE, /**< strings: the words of a line; the last one is to be completed */
	MESSAGE_ANSWER, /**< number: 0 or errno, or a status; fd of what was opened; strings: a text */

	MESSAGE_STARTED,   /**< SIGINT is heard from now on */
	MESSAGE_CANDIDATE, /**< strings: one candidate */
	MESSAGE_DONE, /**< number: the exit status, or 1 if the word is a file's name; strings: what
		       * is open */
	MESSAGE_OPEN, /**< number: an enum hd_open_as; strings: path, folder to stay below or "" */
	MESSAGE_CREATE,    /**< strings: path; if ANSWER's id is not 0, it names the file in later
			    * messages */
	MESSAGE_CHECK,     /**< strings: path; ANSWER's id: is the file written directly? */
	MESSAGE_COMMIT,    /**< id: of a created file */
	MESSAGE_ABANDON,   /**< id: likewise */
	MESSAGE_USER_NAME, /**< id: of a user; ANSWER's strings: the name, if there is one */
	MESSAGE_ATTACH,    /**< number: id of a process; ANSWER's fd leads to the helper that stops
			    * and reads it */
};

#define RUN_IS_QUIET        1u /**< the command is "open", and only a failure is an answer */
#define RUN_IGNORES_SIGPIPE 2u
#define RUN_ON_TERMINAL     4u  /**< the answer goes to a terminal, through a pager or straight */
#define RUN_IN_COLOR        8u  /**< which takes colours */
#define RUN_COLUMNS_SHIFT   16u /**< bits from here on: its columns, 0 where they are not known */

/** Most candidates of one completion, and their bytes: a longer list helps nobody. */
#define CANDIDATES_MAX      4096u
#define CANDIDATES_SIZE_MAX ((uint32_t)4 << 20)

/** Most descriptors that one message carries. */
#define MESSAGE_FDS_MAX 12u

/** One message between the two processes of the shell program. */
struct message {
	uint32_t kind; /**< an enum message_kind; the peer may send any number */
	int32_t number;
	uint64_t id;
	uint32_t count;           /**< strings */
	uint32_t size;            /**< bytes of all strings, with their NULs */
	char *bytes;              /**< the strings, one after the other; each ends within @c size */
	int fds[MESSAGE_FDS_MAX]; /**< descriptors; only the first @c fd_count are set */
	uint32_t fd_count;
};

/** Most bytes of the strings of one message: more than a command line may have. */
#define MESSAGE_SIZE_MAX ((uint32_t)8 << 20)

/** An empty message of @p kind. */
struct message message_of(enum message_kind kind);

/** Append a string; false when memory is exhausted or the message would be too large. */
bool message_add(struct message *message, const char *string);

/** String @p index, or NULL after the last.  Borrowed.  Cost: linear in the strings before it. */
const char *message_string(const struct message *message, uint32_t index);

/** All strings as a list that ends with NULL, to be freed; NULL when memory is exhausted. */
const char **message_list(const struct message *message);

/** The first descriptor, which belongs to the caller from then on; -1: there is none. */
int message_take_fd(struct message *message);

/** Free the strings, and close the descriptors. */
void message_deinit(struct message *message);

/**
 * Send @p message over the socket @p channel, with its descriptors, which the caller keeps.
 *
 * @return false and errno when the peer has gone.
 */
bool channel_send(int channel, const struct message *message);

/**
 * Wait for a message.  A wait that a signal interrupts goes on.
 *
 * @param[out] ret To be given to message_deinit(); untouched on failure.
 * @return false when the peer has gone, or sent what is not a message.
 */
bool channel_receive(int channel, struct message *ret);
