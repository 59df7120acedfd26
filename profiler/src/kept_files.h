/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings.h"

/**
 * Remove the oldest of the files whose names the pattern settings->out could have made in the folder of @p path, until
 * settings->keep are left, with @p path, which is one of them; their pages go with them.  Files of others, links, and
 * what is not a regular file stay and do not count.  What cannot be removed is said on standard error.
 */
void kept_files_trim(const struct settings *settings, const char *path);
