/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder: the file while it is made. */
#pragma once

#include "managed_elf/sections.h"
#include "runtime/function_list.h"
#include "util/job.h"

/** A stretch of code: a section without bytes, at its true address. */
struct code_stretch {
	uint64_t begin, end;
	bool is_stubs;
	/** Native code of a NativeAOT program: apart, for LLDB asks the section that begins nearest in front of an address. */
	bool is_native;
};

/** Where the source of a method begins, behind that of others: a file of the table of lines; 0: not known. */
struct method_source {
	uint32_t file, line;
};

struct making {
	struct runtime *runtime;
	struct job *job;
	struct code_functions *functions;
	struct code_stretch *stretches; /**< ascending; the first is section 1 */
	size_t stretches_count, stretches_capacity;
	uint32_t strings;              /**< the section .strtab */
	uint32_t *names;               /**< of each function its name in .strtab, or 0 */
	struct method_source *sources; /**< of each function */
	struct elf_sections sections;
	struct managed_elf_counts counts;
	bool has_ranges; /**< .debug_aranges is wanted */
	struct hd_error *err;
};

/**
 * Append the name of a function as clrstack has it, and for a funclet which it is: not longer than ELF_NAME_MAX, and
 * what nobody sees as escapes.
 */
void function_name_append(struct runtime *runtime, const struct code_function *function,
			  struct text *ret);

/** Fail when the sections that are made, and @p more bytes that are still growing, are more than the job may take. */
HD_NODISCARD enum hd_status making_check_memory(const struct making *making, uint64_t more);

/** Make a section of each stretch of code; functions that have no room in one are left out. */
HD_NODISCARD enum hd_status making_stretches(struct making *making);
/** The number of the section that @p address is in. */
uint16_t making_section_of(const struct making *making, uint64_t address);

/** Append the section .eh_frame: how the frame of each function is undone. */
HD_NODISCARD enum hd_status making_frames(struct making *making);

/**
 * Append the sections .symtab and .strtab: the name of each function whose method is known, as clrstack shows it, and
 * for a funclet which it is; set making->names.
 */
HD_NODISCARD enum hd_status making_symbols(struct making *making);
/** Append the section .debug_line: the source lines of methods whose module has a PDB; set making->sources. */
HD_NODISCARD enum hd_status making_lines(struct making *making);
/**
 * After the symbols: append .debug_info, .debug_abbrev, .debug_ranges, .debug_loc and, if it is wanted, .debug_aranges: a unit with a subprogram for each
 * function that has a name, its arguments and locals, and their types.
 */
HD_NODISCARD enum hd_status making_units(struct making *making);
