/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/** How much of something works here. */
enum check_state {
	CHECK_OK,
	CHECK_LIMITED, /**< with a restriction, which the row tells */
	CHECK_NO,
};

/**
 * Write a row of doctor's answer; with CHECK_NO the exit status is 1.
 *
 * @param[in] what What was looked at, one word.
 * @param[in] advice What to do, one line without a full stop; NULL: nothing has to be done.
 * @param[in] found What was found, as of printf(): at most 511 bytes are kept.
 */
void doctor_row(struct call *call, const char *what, enum check_state state, const char *advice,
		const char *found, ...) HD_PRINTF(5, 6);

/** The rows about GDB and LLDB: they are looked for in PATH, and never run. */
void doctor_debuggers(struct call *call);
