/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/** A test of an exported function. */
struct attempt {
	const char *name;
	void (*attempt)(void);
};

/** Is there a test of each function that core/include/heapdump/@p header declares?  How many it declares. */
size_t exported_check_header(const char *header, const struct attempt *attempts, size_t count);

/** Is each function that the library exports declared in one of @p headers, which NULL ends?  How many. */
size_t exported_check_map(const char *const *headers);
