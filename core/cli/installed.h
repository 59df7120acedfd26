/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_INSTALLED_H
#define HEAPDUMP_CLI_INSTALLED_H

/** Handle --print-gdbinit, --print-lldbinit and --print-profiler; -1 when @p option is another word. */
int print_installed(const char *option);

#endif
