/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"

/* The module files that a target names: which may be read, and the result of checking them. */

/** The state of a module file whose bytes a core lacks. */
enum target_file_state {
	TARGET_FILE_NONE,       /**< no file with that name is mapped, or files must not be used */
	TARGET_FILE_MATCHED,    /**< proven to be the right file: used */
	TARGET_FILE_UNVERIFIED, /**< nothing proves it yet: used only with options.trust_files */
	TARGET_FILE_MISMATCH,   /**< another file: not used */
	TARGET_FILE_MISSING,    /**< it cannot be opened */
	TARGET_FILE_NOT_REGULAR,
	TARGET_FILE_NO_IMAGE, /**< neither ELF nor PE: not used; does not occur with
			       * options.trust_files */
	TARGET_FILE_REJECTED, /**< refuted by target_reject_file() or a proof: not used any more */
};

/**
 * The state of the module file @p path (as in mappings), which is opened and compared the first
 * time.
 */
enum target_file_state target_file_state(const struct target *target, const char *path);

/** Was a module file opened that is neither proven nor refuted until now? */
bool target_has_unverified(const struct target *target);

/**
 * Stop using the file @p path: the caller found, for @p reason (one line), that the target had
 * another file.  Pointers into it stay valid.  Adds a finding.
 */
void target_reject_file(struct target *target, const char *path, const char *reason);

/**
 * The caller has compared the file in another way: if it was unverified, it counts as matched from
 * now on.
 */
void target_confirm_file(struct target *target, const char *path);

/** The result when a caller compares a file with the target's own bytes. */
enum target_proof {
	TARGET_PROOF_NONE,  /**< the target has nothing to compare it with */
	TARGET_PROOF_SAME,  /**< it is the file that the target had */
	TARGET_PROOF_OTHER, /**< it is another file */
};

/**
 * Compare a file, whose bytes are in @p file at their offsets, with target->own, not
 * target->memory, which may contain bytes of files.  Both may be hostile.
 */
typedef enum target_proof target_prove(void *arg, struct memory *file);

/**
 * Call @p prove for the file @p path if it is not proven yet.  After TARGET_PROOF_SAME,
 * target->memory can read its bytes; after TARGET_PROOF_OTHER it never can, not even under another
 * name: so a hostile target can guess at each file only once.
 */
void target_prove_file(struct target *target, const char *path, target_prove *prove, void *arg);

/**
 * Add findings about the module files that were needed until now: missing, another build, not
 * verified.  Call it on the target's own thread before the findings are shown; those that exist
 * already are not repeated.
 */
void target_add_file_findings(struct target *target);

/**
 * Make a memory of the files in target->mappings.  Before the first byte of a file can be read, it
 * is compared with the bytes in target->own.  Both members must not change afterwards.
 *
 * @return NULL when memory is exhausted.  Sets target->files.
 */
struct memory *target_module_files(struct target *target);
