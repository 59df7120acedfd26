/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli.h"

/**
 * "heapdump --complete WORD...": print what the last word may become, a line each, for the completion of bash and zsh
 * (heapdump.bash, _heapdump).  @p words are those after the program's name, without quotes; nothing that they name is
 * opened.
 *
 * @return HD_EXIT_OK; HD_EXIT_FINDINGS: names of files fit there, too, which the shell knows better
 */
int shell_words_complete(struct cli *cli, int count, const char *const *words);
