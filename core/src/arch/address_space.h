/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ARCH_ADDRESS_SPACE_H
#define HEAPDUMP_SRC_ARCH_ADDRESS_SPACE_H

#include <stdint.h>

/** Bytes of a page of x86-64: what the kernel maps, and a core may lack. */
#define ARCH_PAGE ((uint64_t)4096)

/** Nothing of a process lies below (vm.mmap_min_addr), and nothing from here on: x86-64 has 47 bits. */
#define ARCH_USER_BEGIN ((uint64_t)0x10000)
#define ARCH_USER_END   ((uint64_t)1 << 47)

/** Bytes below the stack pointer that a function may use (System V ABI for AMD64, 3.2.2). */
#define ARCH_RED_ZONE 128u

/** The first byte of the page that holds @p address. */
static inline uint64_t arch_page_of(uint64_t address)
{
	return address & ~(ARCH_PAGE - 1);
}

/** Where the page after the one that holds @p address begins; 0 after the last one. */
static inline uint64_t arch_page_after(uint64_t address)
{
	return (address | (ARCH_PAGE - 1)) + 1;
}

/** @p size, rounded up to whole pages; wraps to 0 in the last page. */
static inline uint64_t arch_page_align(uint64_t size)
{
	return (size + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
}

#endif
