/* SPDX-License-Identifier: MIT */
#pragma once

#include "managed_elf/managed_elf.h"
#include "runtime/coreclr/types/continuation.h"
#include "runtime/function_list.h"

struct memory;

/** A function that a debugger knows, and the number of the file that it has it from. */
struct known_function {
	uint64_t begin, end, method_desc, unwind_info;
	uint32_t mark, file;
};

/** The managed code of a process as far as a debugger knows it: by files, which come and go (doc/managed-elf.md 7). */
struct code_files {
	struct known_function *known; /**< ascending */
	size_t known_count, known_capacity;
	uint32_t last;  /**< the number of the file that was written last; the first is 1 */
	uint32_t *gone; /**< numbers of files that are of no use since the update, ascending */
	size_t gone_count, gone_capacity;
	struct code_places places; /**< of the tables of code, and a checksum of their bytes */
	uint64_t checksum;
	bool is_read; /**< the tables were read */
	/**
	 * The caller wants the names of methods that nobody has called, too: of a core, and not of a process, in which they are
	 * called one after the other, and each time the file of an image would be written anew with all of them.
	 */
	bool has_uncalled;
	struct continuation_return awaits; /**< how an async method tells that it waits */
	uint32_t file;      /**< number of the file that the update wrote; 0: none was needed */
	uint64_t functions; /**< in that file */
};

/** A zeroed struct is allowed, and is one that knows nothing. */
void code_files_deinit(struct code_files *files);

/** The functions that share a file are written again when one of them is gone, and all of the JIT when there are so many files. */
#define CODE_FILES_MAX 32u

/**
 * Compare the code of a target with what is known, and write a file with the functions that are new: of a method that
 * came since, of one at the place of another, and of a precompiled method that was called for the first time.  A file
 * with a function that is gone is out, and its other functions are in the new one.  Cost: as managed_elf_write(), but
 * the file has what is new alone.
 *
 * @param[out] ret What is known then, to be given to code_files_deinit(); @p files is as before, so that the caller can
 * still refuse it.  Untouched on failure.
 * @retval others as managed_elf_write()
 */
HD_NODISCARD enum hd_status code_files_update(const struct code_files *files,
					      struct runtime *runtime, struct job *job,
					      const struct managed_elf_output *output,
					      struct code_files *ret, struct hd_error *err);

/**
 * Is the code of the target still what the last update has seen?  Cost: the bytes of the tables that tell it, some
 * for each KB of code.
 *
 * @param memory The target now, without a cache.
 */
bool code_files_are_current(const struct code_files *files, struct memory *memory);

/** The MethodDesc of the function that is known at @p address; 0: none. */
uint64_t code_files_method(const struct code_files *files, uint64_t address);

/**
 * Where a method goes on that has just returned because it waits in an await (doc/coreclr.md 21.6).
 *
 * @param memory As in code_files_are_current().
 * @param registers Of its thread, by their numbers.
 * @return an address of code that is known; 0: no method waits
 */
uint64_t code_files_awaits(const struct code_files *files, struct memory *memory,
			   const uint64_t *registers, size_t count);
