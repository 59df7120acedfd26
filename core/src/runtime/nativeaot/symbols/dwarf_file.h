/* SPDX-License-Identifier: MIT */
#pragma once

#include <elfutils/libdw.h>

#include "targets/debug_bytes.h"

struct target;

/*
 * The DWARF of a program, which libdw reads (doc/nativeaot.md 9.1).  What could make libdw slow, or let it open other
 * files, is refused before it sees it.
 */

/** Longer names are none. */
#define DWARF_NAME_MAX 4096u

/** A file with DWARF, and the unit of what the .NET compiler has made. */
struct dwarf_file {
	struct debug_bytes debug;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die unit;
};

/**
 * Open what symbol_files_debug() has found.
 *
 * @param target Its memory limit counts.
 * @param[in,out] debug Taken on success.
 * @param[out] ret To be given to dwarf_file_close(); untouched on failure.
 * @param[out] ret_why On failure, why it is not read; a static string
 * @return false: it is damaged, too large, or the compiler's unit is not in it
 */
bool dwarf_file_open(struct target *target, struct debug_bytes *debug, struct dwarf_file *ret,
		     const char **ret_why);
void dwarf_file_close(struct dwarf_file *file);

/** The section with that name, unpacked; NULL: there is none, or it cannot be read. */
const Elf_Data *dwarf_file_section(const struct dwarf_file *file, const char *name);

/** The string of an attribute, which belongs to the file; NULL: there is none, or it is too long. */
const char *dwarf_string_of(Dwarf_Die *die, unsigned int attribute);
/** The number of an attribute; false: there is none. */
bool dwarf_number_of(Dwarf_Die *die, unsigned int attribute, uint64_t *ret);
/** The offset in .debug_info of the entry that an attribute refers to, in the same unit; 0: there is none. */
uint32_t dwarf_reference_of(Dwarf_Die *die, unsigned int attribute);
