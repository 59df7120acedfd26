/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct cli;

/** Is the word the command python, and not a file of that name?  A folder is no target. */
bool is_python(const char *word);

/**
 * Become Python, with the target of argv[1] as "h": a prompt, or the script that argv[2] names, with its arguments.
 * Without --no-sandbox the target is read by a second program as this one is, in its sandbox.
 *
 * @return only when that fails: the exit status
 */
int cli_python(struct cli *cli, int argc, char **argv);
