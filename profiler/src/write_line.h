/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/error.h>

/**
 * Write one line to standard error, "heapdump: ...", cut at 500 bytes and without control characters.  It neither
 * waits for a reader nor lets a closed pipe end the process: then nothing is written.
 */
void write_line(const char *format, ...) HD_PRINTF(1, 2);
