/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_PROCESS_MEMORY_H
#define HEAPDUMP_SRC_TARGET_PROCESS_MEMORY_H

#include "targets/process/page_list.h"
#include "targets/process/proc.h"
#include "targets/process/process_server.h"

/**
 * Make the memory of a process that stands still, or of what does not change in one that runs: what
 * was not read lately is asked for through @p server.
 *
 * @param server It gets one more owner, until the memory is destroyed.
 * @param mapped Nothing is there but in its ranges; borrowed.  NULL: that is not known.
 * @param seen Gets the pages that are read, until the memory is destroyed; may be NULL.
 * @param holds Let the process go when the memory is destroyed.
 * @return NULL when memory is exhausted.
 */
struct memory *process_memory(struct process_server *server, const struct target *mapped,
			      struct page_list *seen, bool holds);

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

/**
 * Leave out of a plan what is native memory and not in @p kept: private and anonymous, not executable, so
 * what malloc() has, but also the GC heap and stacks.  Less than 16 MiB of it are not left out.
 *
 * @param kept sorted
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status process_copy_leave_out(struct process_copy *copy,
						   const struct page_list *kept,
						   struct hd_error *err);

/**
 * Add the stacks of the threads of a process that stands still to @p ret, from their stack pointers on, and
 * the thread control blocks.
 */
void process_copy_stacks(const struct proc_maps *maps, const struct target_thread *threads,
			 size_t count, struct page_list *ret);

/**
 * Add the mappings around that of @p address, without a large gap, that seem to be of one kind with it: where the
 * runtime keeps types unless it maps them twice (DOTNET_EnableWriteXorExecute=0).
 */
void process_copy_around(const struct proc_maps *maps, uint64_t address, struct page_list *ret);

/** Bytes that were left out. */
uint64_t process_copy_left(const struct process_copy *copy);

/** Add the finding that pages of @p target were to be read that were left out, if there are any. */
void process_copy_find_missed(struct target *target);

/**
 * Pages that were left out and have been asked for since: good until the next read.  They were not there,
 * so what asked for them may have a wrong answer.
 */
const struct page_list *process_copy_missed(struct process_copy *copy);

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
