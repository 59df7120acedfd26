/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/**
 * Let descriptor @p fd lead to nothing: /dev/null, or, where there is none (a container may have no /dev), a pipe that
 * nobody has the other end of.  What it led to is closed.
 *
 * @param[in] access O_RDONLY: there is nothing to read, and writing fails; O_WRONLY: reading fails.
 * @return false: there is no descriptor left; @p fd is as it was
 */
bool lead_to_nothing(int fd, int access);
