/* SPDX-License-Identifier: MIT */
/* The first trace session of a process leaves objects that are not the program's own. */
#pragma once

#include "command/call.h"

/** Say as data whether the process was traced between two heaps for the first time; if so also in text, after @p lead. */
void tracing_began_write(struct call *call, bool began, const char *lead);
