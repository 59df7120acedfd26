/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_PROCESS_MEMORY_H
#define HEAPDUMP_SRC_TARGET_PROCESS_MEMORY_H

#include "target/proc.h"
#include "target/process_server.h"

/**
 * Make the memory of a process that stands still, or of what does not change in one that runs: what
 * was not read lately is asked for through @p server.
 *
 * @param server It gets one more owner, until the memory is destroyed.
 * @return NULL when memory is exhausted.
 */
struct memory *process_memory(struct process_server *server);

/** HD_ERR_UNSUPPORTED if the program of the process is known to be another than one of x86-64. */
HD_NODISCARD enum hd_status process_check_program(struct process_server *server, const char *name,
						  struct hd_error *err);

/** Fill mappings, ranges, auxv and name of @p target. */
HD_NODISCARD enum hd_status process_describe(struct process_server *server,
					     const struct proc_maps *maps, struct target *target,
					     struct hd_error *err);

/** What a process's memory is going to be copied from. */
struct process_copy;

/**
 * Open the files that the process @p maps describe has mapped.  That may take long, so it still
 * runs.
 *
 * @param no_files Open none: what stands in files is going to be copied too.
 * @param[out] ret To be given to process_copy_plan() and then to process_copy_run(), or to
 * process_copy_destroy().
 */
HD_NODISCARD enum hd_status process_copy_create(struct process_server *server,
						const struct proc_maps *maps, bool no_files,
						struct process_copy **ret, struct hd_error *err);

/**
 * Find out which bytes of the process @p maps describe have to be copied and which stand in files
 * or are zero; the process stands still.
 */
HD_NODISCARD enum hd_status process_copy_plan(struct process_copy *copy,
					      const struct proc_maps *maps, struct job *job,
					      struct hd_error *err);

/** Bytes that process_copy_run() is going to copy. */
uint64_t process_copy_size(const struct process_copy *copy);

/** NULL is allowed. */
void process_copy_destroy(struct process_copy *copy);

/**
 * Copy, and make of @p copy, which is taken over in any case, the memory of the process as it was.
 *
 * @param[out] ret_lost bytes that could not be read although they were to be there
 */
HD_NODISCARD enum hd_status process_copy_run(struct process_copy *copy, struct job *job,
					     struct memory **ret, uint64_t *ret_lost,
					     struct hd_error *err);

#endif
