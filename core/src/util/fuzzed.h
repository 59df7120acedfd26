/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * The size of a buffer or a table: @p size, or @p small in the build of the fuzz targets, so that
 * an input costs less there and reaches the end of the buffer.
 */
#ifdef HD_FUZZ
#define FUZZED(size, small) (small)
#else
#define FUZZED(size, small) (size)
#endif
