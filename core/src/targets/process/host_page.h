/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGETS_HOST_PAGE_H
#define HEAPDUMP_SRC_TARGETS_HOST_PAGE_H

#include <unistd.h>

#include "arch/arch.h"

/** Bytes of a page of this machine, which are those of its processes. */
static inline uint64_t host_page(void)
{
	return (uint64_t)getpagesize();
}

#endif
