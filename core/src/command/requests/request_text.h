/* SPDX-License-Identifier: MIT */
#pragma once

#include "answer/schema.h"
#include "output/out.h"

/** Write the text of a cell, escaped, and blanks up to @p width bytes; only blanks if it is absent. */
void padded_text_put(struct out *out, const struct cell *cell, size_t width);
