/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * Say what to use in place of @p name, a command of SOS, dotnet-dump or a debugger that is not a command here:
 * "use clrstack -roots", or that there is nothing.  Case does not matter, nor does a ! in front.
 *
 * @return a part of a sentence; NULL: none of them has a command of that name
 */
const char *foreign_name_advice(const char *name);

/** The name at @p index of those that there is advice for; NULL after the last. */
const char *foreign_name_at(unsigned int index);
