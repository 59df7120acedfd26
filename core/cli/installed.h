/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/** Handle --print-gdbinit, --print-lldbinit and --print-profiler; -1 when @p option is another word. */
int print_installed(const char *option);

/**
 * Find the first of two places, which are relative to the folder of this program.
 *
 * @param[out] ret PATH_MAX bytes: its path without links
 */
bool installed_find(const char *const places[2], char *ret);
