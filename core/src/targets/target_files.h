/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGETS_TARGET_FILES_H
#define HEAPDUMP_SRC_TARGETS_TARGET_FILES_H

#include "targets/target.h"

/* The module files that a target names: which may be read, and what became of them. */

/** What became of a module file whose bytes a core lacks. */
enum target_file_state {
	TARGET_FILE_NONE,       /**< no file of that name is mapped, or files are not to be used */
	TARGET_FILE_MATCHED,    /**< proven to be the one: used */
	TARGET_FILE_UNVERIFIED, /**< nothing proves it yet: used only with options.trust_files */
	TARGET_FILE_MISMATCH,   /**< another file: not used */
	TARGET_FILE_MISSING,    /**< it cannot be opened */
	TARGET_FILE_NOT_REGULAR,
	TARGET_FILE_NO_IMAGE, /**< neither ELF nor PE: not used; never with options.trust_files */
	TARGET_FILE_REJECTED, /**< by target_reject_file() or a proof: not used any more */
};

/**
 * The state of the module file @p path (as in mappings), which is opened and compared if it was
 * not yet.
 */
enum target_file_state target_file_state(const struct target *target, const char *path);

/** Was a module file opened that nothing has proven, or refuted, until now? */
bool target_has_unverified(const struct target *target);

/**
 * Take no further byte from the file @p path: the caller found, for @p reason (one line), that it
 * is not the one the target had.  Pointers into it stay good.  A finding.
 */
void target_reject_file(struct target *target, const char *path, const char *reason);

/** The caller compared it by other means: an unverified file counts as matched from now on. */
void target_confirm_file(struct target *target, const char *path);

/** What a caller finds when it compares a file with what the target holds. */
enum target_proof {
	TARGET_PROOF_NONE,  /**< the target holds nothing to compare it with */
	TARGET_PROOF_SAME,  /**< it is the file that the target had */
	TARGET_PROOF_OTHER, /**< it is not */
};

/**
 * Look at a file, whose bytes @p file has at their offsets, by what target->own holds: target->memory
 * may have bytes of files.  Both are hostile.
 */
typedef enum target_proof target_prove(void *arg, struct memory *file);

/**
 * Ask @p prove about the file @p path if nothing has proven it yet.  Of TARGET_PROOF_SAME its bytes can be
 * read by target->memory from now on; of TARGET_PROOF_OTHER they never can, under no other name either: so
 * each file can be guessed at once per target.
 */
void target_prove_file(struct target *target, const char *path, target_prove *prove, void *arg);

/**
 * Add findings about the module files that were needed until now: missing, another build, not
 * verified.  Call it on the target's own thread before the findings are shown; those that stand
 * already are not repeated.
 */
void target_add_file_findings(struct target *target);

/**
 * Make the memory of the bytes of the files in target->mappings, each proven by what target->own
 * holds of it before its first byte can be read.  Both must not change afterwards.
 *
 * @return NULL when memory is exhausted.  Sets target->files.
 */
struct memory *target_module_files(struct target *target);

#endif
