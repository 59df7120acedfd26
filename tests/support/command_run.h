/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/command.h>

#include "support/command_words.h"
#include "util/text.h"

/** The outcome of a command. */
struct answer {
	int status; /**< enum hd_exit */
	struct hd_error err;
	struct text text;     /**< what the sink got; to be given to text_deinit() */
	struct text warnings; /**< a line each; likewise */
};

/** Run a command line, words parted by one blank each; a word may be in 'quotes'. */
struct answer command_run(struct hd_session *session, const char *line);
/** Same, for a sink that shows colours when @p color. */
struct answer command_run_on(struct hd_session *session, const char *line, bool color);
void answer_deinit(struct answer *answer);

/** The text of an answer, "" when there is none. */
const char *answer_text(const struct answer *answer);

/** A session about a dump that is made of @p text. */
struct hd_session *session_with(const char *text);
