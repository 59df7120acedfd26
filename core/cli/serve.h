/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct cli;

/**
 * Let commands find nothing at standard input, for the other program's commands come from there, and write the first line,
 * ["v", VERSION].  To be called before the target is read; false: it has said why not.
 */
bool cli_serve_begin(struct cli *cli);

/**
 * Run the commands that another program sends: for each, the number of its words, and these, all followed by a NUL.
 *
 * After each answer (serve_rows.h) comes a line ["s", STATUS]; the first of them is about the target.
 *
 * @param opened The status of opening the target; from 2 on nothing is read.
 * @return The exit status
 */
int cli_serve(struct cli *cli, int opened);
