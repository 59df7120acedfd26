/* SPDX-License-Identifier: MIT */
#pragma once

#include <unistd.h>

#include "arch/arch.h"

/** Bytes of a page of this machine, which are those of its processes. */
static inline uint64_t host_page(void)
{
	return (uint64_t)getpagesize();
}
