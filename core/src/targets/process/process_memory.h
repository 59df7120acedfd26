/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/process/page_list.h"
#include "targets/process/proc.h"
#include "targets/process/process_server.h"

/**
 * Make the memory of a stopped process, or of the parts of a running one that do not change: what
 * was not read recently is requested through @p server.
 *
 * @param server The memory is one more owner of it until it is destroyed.
 * @param mapped Only its ranges have memory; borrowed.  NULL: that is not known.
 * @param seen Gets the pages that are read, until the memory is destroyed; may be NULL.
 * @param holds Let the process go when the memory is destroyed.
 * @return NULL when memory is exhausted.
 */
struct memory *process_memory(struct process_server *server, const struct target *mapped,
			      struct page_list *seen, bool holds);

/** HD_ERR_UNSUPPORTED if the program of the process is known not to be for x86-64. */
HD_NODISCARD enum hd_status process_check_program(struct process_server *server, const char *name,
						  struct hd_error *err);

/** Fill mappings, ranges, auxv and name of @p target. */
HD_NODISCARD enum hd_status process_describe(struct process_server *server,
					     const struct proc_maps *maps, struct target *target,
					     struct hd_error *err);

/** A planned copy of a process's memory. */

/**
 * Open the files that the process with @p maps has mapped.  This may take long, so the process
 * still runs.
 *
 * @param no_files Do not open any: what is in files will be copied, too.
 * @param[out] ret To be given to process_copy_plan() and then to process_copy_run(), or to
 * process_copy_destroy().
 */
HD_NODISCARD enum hd_status process_copy_create(struct process_server *server,
						const struct proc_maps *maps, bool no_files,
						struct process_copy **ret, struct hd_error *err);

/**
 * Find out which bytes of the process with @p maps have to be copied, and which are in files or are
 * zero; the process is stopped.
 */
HD_NODISCARD enum hd_status process_copy_plan(struct process_copy *copy,
					      const struct proc_maps *maps, struct job *job,
					      struct hd_error *err);

/** How many bytes process_copy_run() will copy. */
uint64_t process_copy_size(const struct process_copy *copy);

/**
 * Remove native memory that is not in @p kept from a plan.  Native memory is private, anonymous and
 * not executable: what malloc() uses, but also the GC heap and stacks.  If it is less than 16 MiB,
 * nothing is removed.
 *
 * @param kept sorted
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status process_copy_leave_out(struct process_copy *copy,
						   const struct page_list *kept,
						   struct hd_error *err);

/**
 * Add the stacks of the threads of a stopped process to @p ret, beginning at their stack pointers,
 * and the thread control blocks.
 */
void process_copy_stacks(const struct proc_maps *maps, const struct target *target,
			 struct page_list *ret);

/**
 * Add the mappings around @p address, up to a large gap, that seem to be of the same kind: there
 * the runtime keeps types if it does not map them twice (DOTNET_EnableWriteXorExecute=0).
 */
void process_copy_around(const struct proc_maps *maps, uint64_t address, struct page_list *ret);

/** How many bytes were left out. */
uint64_t process_copy_left(const struct process_copy *copy);

/** If pages of @p target were left out and then needed, add a finding about them. */
void process_copy_find_missed(struct target *target);

/**
 * Pages that were left out, but were needed later; valid until the next read.  Whatever needed them
 * may have got a wrong result.
 */
const struct page_list *process_copy_missed(struct process_copy *copy);

/** NULL is allowed. */
void process_copy_destroy(struct process_copy *copy);

/**
 * Copy, and turn @p copy, which is taken over in any case, into the memory of the process as it
 * was.
 *
 * @param[out] ret_lost how many bytes could not be read although they should exist
 */
HD_NODISCARD enum hd_status process_copy_run(struct process_copy *copy, struct job *job,
					     struct memory **ret, uint64_t *ret_lost,
					     struct hd_error *err);
