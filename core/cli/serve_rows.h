/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/session.h>

/**
 * hd_command_run() with an answer of lines, each a JSON array that begins with a letter (doc/python.md 8); errors, warnings
 * and progress are lines, too, and @p err then says that it is told.
 *
 * @param[in] sink Takes the lines by its write, with its arg; it may be told size 0: pass on what you hold back.
 */
int serve_rows(struct hd_session *session, int argc, const char *const *argv,
	       const struct hd_sink *sink, struct hd_error *err);
