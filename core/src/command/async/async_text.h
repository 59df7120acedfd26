/* SPDX-License-Identifier: MIT */
/* How commands write async methods, and what these wait for. */
#pragma once

#include "analysis/async/async_graph.h"
#include "util/text.h"

/** The words of text for a name that async_wait_name() gives: "a free thread" for "thread", and others. */
const char *async_wait_words(const char *name);

/** Append what a method waits for: "SemaphoreSlim 7f2069809188 (0 free)". */
void append_async_wait(struct text *text, struct async_graph *graph, const struct async_node *node);
