/* SPDX-License-Identifier: MIT */
#pragma once

/** Handle --print-gdbinit, --print-lldbinit and --print-profiler; -1 when @p option is another word. */
int print_installed(const char *option);
