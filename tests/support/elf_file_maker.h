/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ELF files with sections, written by libelf: of any class and byte order. */

struct file_symbol {
	const char *name;
	uint64_t value, size;
	bool is_object; /**< else a function */
};

struct file_spec {
	const char *build_id; /**< text, a multiple of 4 bytes; NULL: none */
	bool is_32, is_big;
	bool has_segment; /**< the build-id has a PT_NOTE, too */
	const struct file_symbol *symbols;
	size_t symbol_count;
	bool are_dynamic;      /**< the symbols are in .dynsym, as in a stripped file */
	const char *debuglink; /**< name in .gnu_debuglink; NULL: there is none */
	uint32_t crc;          /**< in .gnu_debuglink */
	bool has_debug;        /**< there is a section .debug_info, in which is no DWARF */
};

/** Write the file @p path; a failure fails the test. */
void elf_file_make(const char *path, const struct file_spec *spec);
