/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

/** How many folders there can be. */
#define OWN_FOLDERS_MAX 2

/**
 * The folders that this program is in, and the library that this code is of: in a debugger they are not the same.
 * Found at the first call, which must not be made in a sandbox.
 *
 * @param[out] ret Absolute paths, for good.
 * @return how many
 */
int own_folders(const char *ret[OWN_FOLDERS_MAX]);
