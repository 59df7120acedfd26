/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/** Words of a line in argv, parted by one blank each; they lie in @p buf. A word may be in 'quotes'. */
int command_words(const char *line, char *buf, size_t size, const char **argv, int capacity);
