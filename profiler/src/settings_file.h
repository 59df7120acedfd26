/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings.h"

/**
 * Read a file with settings.  It counts only if it is a regular file, not a link, that belongs to the process's user
 * or to root and that nobody else may write.
 *
 * @return false when something is wrong with it, which is said in one line on standard error, and @p ret then has what
 * was read before; true also when it does not exist
 */
bool settings_file_read(const char *path, struct setting_texts *ret);
