/* SPDX-License-Identifier: MIT */
#pragma once

struct cell;
struct out;

/** " [/src/Program.cs @ 65]", in which the path may be shortened; nothing for empty cells. */
void source_line_put(struct out *out, const struct cell *file, const struct cell *line);
