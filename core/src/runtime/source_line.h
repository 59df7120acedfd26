/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/** A line of source code. */
struct source_line {
	const char *
		file; /**< its path as the compiler saw it; borrowed, as long as the runtime lives and
			   * runtime_symbols_set() is not called; may hold any bytes except NUL */
	uint32_t line, column; /**< from 1; column 0: not known */
};
