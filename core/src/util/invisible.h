/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * Is there nothing to see of a character, or does it act on a terminal or on the text around it?  All
 * outputs write such a character as an escape: this is the one list.  Two names that look alike, or a
 * name that reads otherwise than it is, would be a trap.
 */
bool is_invisible(uint32_t c);
