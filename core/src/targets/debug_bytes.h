/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** All bytes of an ELF file with DWARF. */
struct debug_bytes {
	uint8_t *bytes; /**< owned; nobody else changes them */
	size_t size;
};

void debug_bytes_deinit(struct debug_bytes *debug);
