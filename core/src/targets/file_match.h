/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/mapped_file.h"
#include "targets/target_files.h"

/** The mappings of one file: indices into target->mappings. */
struct file_parts {
	const uint32_t *mappings;
	size_t count;
};

/**
 * Is @p file the one that was mapped?  The author of a hostile core must not be able to read files
 * that only the user may read.  So only something that cannot be known without having the file is a
 * proof: the build-id (ELF) or all PE headers, compared with those in target->own.  With
 * options.trust_files, it is also a proof if most words are equal in captured pages that the
 * process cannot have written.
 *
 * @param file Its descriptor must be open.
 * @param[out] reason The reason for a mismatch, one line, which contains nothing from the file: ""
 * unless TARGET_FILE_MISMATCH is returned.
 * @return TARGET_FILE_MATCHED, TARGET_FILE_UNVERIFIED or TARGET_FILE_MISMATCH
 */
enum target_file_state file_match(const struct target *target, const struct file_parts *parts,
				  const struct mapped_file *file, char *reason, size_t reason_size);
