/* SPDX-License-Identifier: MIT */
/* Which word of the command line is the target? */
#pragma once

#include "cli.h"

/**
 * "heapdump report core": who begins with the command gives its target next, or last.  Then move the target to the
 * front.  It is the path of a file, or the id of a process; else the word that looks as one, so that what is not there is
 * told by its name.
 */
void target_words_order(int argc, char **argv);

/**
 * The word in the target's place may be none: a command without a target, or a command that is not spelled right.
 *
 * @return the status to end with, or -1: it may be one
 */
int target_word_refuse(struct cli *cli, int argc, char **argv);
