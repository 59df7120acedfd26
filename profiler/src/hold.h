/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * The program's threads stand still.  A thread of its own asks the runtime for that: it must be one that the runtime
 * does not know, and on .NET 8 it knows each thread that has begun a session of events; and the one that has stopped
 * the others must let them go.
 */

/** @return false: they do not stand still, and hold_end() must not be called */
bool hold_begin(void);
void hold_end(void);
