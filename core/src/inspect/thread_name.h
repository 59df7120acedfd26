/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"

struct text;

/** The System.Threading.Thread object of @p thread, or 0 if it has none, or none is found. */
uint64_t thread_object(struct heap *heap, const struct runtime_thread *thread);

/** Append the managed name of a thread (Thread.Name); false if it has none. */
bool thread_name(struct heap *heap, const struct runtime_thread *thread, struct text *text);
