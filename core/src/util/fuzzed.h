/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_FUZZED_H
#define HEAPDUMP_SRC_UTIL_FUZZED_H

/**
 * The size of a buffer or a table: @p size, or in the build of the fuzz targets @p small, where an
 * input then costs less and reaches the end of the buffer.
 */
#ifdef HD_FUZZ
#define FUZZED(size, small) (small)
#else
#define FUZZED(size, small) (size)
#endif

#endif
