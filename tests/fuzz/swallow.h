/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** A format_write_fn that takes everything and keeps nothing. */
static inline bool swallow(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	(void)bytes;
	(void)size;
	return true;
}
