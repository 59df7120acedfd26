/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct code_functions;
struct job;
struct runtime;

/** The contents of the file, counted. */
struct managed_elf_counts {
	uint64_t methods;   /**< bodies of methods that have a name, */
	uint64_t functions; /**< and all functions: also funclets, and code that nobody called */
	uint64_t frames;    /**< functions whose frames it describes */
	uint64_t lines;     /**< rows of its table of lines */
	uint64_t left_out;  /**< functions that overlap others, or whose codes make no sense */
	uint64_t
		without_variables; /**< functions whose variables were left out: there are too many */
	bool has_pdb;              /**< a PDB of a method's module was found */
	bool is_partial;           /**< a part of the runtime's tables of code could not be read */
};

/** Takes the pieces of the file; false ends the writing. */
typedef bool (*managed_elf_write_fn)(void *arg, const char *bytes, size_t size);

/**
 * Write the managed code of a target as an ELF file from which debuggers know its functions and their frames
 * (doc/managed-elf.md).  Cost: linear in the code.
 *
 * @param[out] ret Untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED a runtime or a processor whose code is not known
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED the job was stopped, or @p write returned false
 */
HD_NODISCARD enum hd_status managed_elf_write(struct runtime *runtime, struct job *job,
					      managed_elf_write_fn write, void *arg,
					      struct managed_elf_counts *ret, struct hd_error *err);

/**
 * The same as a text of a line for each function that has a name: its address, its size (both hexadecimal) and its name.
 * `perf report` reads such a file as /tmp/perf-PID.map.  Of the counts, frames and lines are 0.
 */
HD_NODISCARD enum hd_status perf_map_write(struct runtime *runtime, struct job *job,
					   managed_elf_write_fn write, void *arg,
					   struct managed_elf_counts *ret, struct hd_error *err);

/** Where the pieces of a file go. */
struct managed_elf_output {
	managed_elf_write_fn write;
	void *arg;
	/** For tools that find code by segments and units by .debug_aranges (elfutils); debuggers need neither. */
	bool has_segments;
};

/**
 * The same for some functions of the target.
 *
 * @param[in,out] functions Of code_functions_read(), or some of these in their order; those that had no room are left out.
 */
HD_NODISCARD enum hd_status managed_elf_write_functions(struct runtime *runtime, struct job *job,
							struct code_functions *functions,
							const struct managed_elf_output *output,
							struct managed_elf_counts *ret,
							struct hd_error *err);

/**
 * How much of a method's name, as clrstack has it, is without its arguments, which debuggers add: what users of breakpoints
 * write.  The arguments are between the last parentheses.
 */
size_t managed_elf_name_size(const char *name, size_t size);
