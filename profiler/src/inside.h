/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "com.h"

/*
 * The command "collect -inside" of a heapdump: it lets the runtime load this library (AttachProfiler), which takes
 * one snapshot, tells the heapdump about it, and lets the runtime detach it again.  What it says is in doc/formats.md
 * 8.3.
 */

/**
 * InitializeForAttach.
 *
 * @param[in] data What the heapdump has sent with the library: hostile.
 */
hresult inside_prepare(void *unknown, const void *data, size_t size);

/** ProfilerAttachComplete: begin. */
void inside_begin(void);

/** ProfilerDetachSucceeded: the runtime does not know this library any more, and may be given it again. */
void inside_forget(void);

/** The program ends: give the snapshot up, and wait for the thread. */
void inside_finish(void);
