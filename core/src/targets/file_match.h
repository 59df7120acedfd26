/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_FILE_MATCH_H
#define HEAPDUMP_SRC_TARGET_FILE_MATCH_H

#include "mem/mapped_file.h"
#include "targets/target_files.h"

/** The mappings of one file: indices into target->mappings. */
struct file_parts {
	const uint32_t *mappings;
	size_t count;
};

/**
 * Is @p file the one that was mapped?  Whoever wrote the core must not read a file by it that only the user
 * may read.  So a proof is what nobody can name without having the file: the build-id (ELF) or all PE
 * headers, compared with what target->own holds of them.  With options.trust_files, also most words of
 * captured pages that the process cannot have written.
 *
 * @param[out] reason Why not, one line, with nothing that only the file has: "" unless
 *                    TARGET_FILE_MISMATCH is returned.
 * @return TARGET_FILE_MATCHED, TARGET_FILE_UNVERIFIED or TARGET_FILE_MISMATCH
 */
enum target_file_state file_match(const struct target *target, const struct file_parts *parts,
				  const struct mapped_file *file, char *reason, size_t reason_size);

#endif
