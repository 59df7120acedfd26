/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_PROCESS_MEMORY_H
#define HEAPDUMP_SRC_TARGET_PROCESS_MEMORY_H

#include "target/proc.h"

struct stopper;

/** Reads a process of this machine; zero-initialised but for mem_fd, -1, it is closed. */
struct process_reader {
	int pid;
	int mem_fd; /**< /proc/PID/mem, for where process_vm_readv() is not allowed; -1 = none */
};

void process_reader_open(struct process_reader *reader, int pid);
void process_reader_close(struct process_reader *reader);

/** Copy the longest readable prefix; @return its bytes.  errno is ESRCH once there is no process. */
size_t process_read(const struct process_reader *reader, uint64_t address, void *buf, size_t size);

/**
 * Make the memory of a process that stands still: every read asks the kernel.
 *
 * @param stopper Released when the memory is destroyed, also when this fails; or NULL: somebody
 * else holds the process.
 * @return NULL when memory is exhausted.
 */
struct memory *process_memory(int pid, struct stopper *stopper);

/** What a process's memory is going to be copied from. */
struct process_copy;

/**
 * Find out which bytes of the process @p maps describe have to be copied and which stand in files
 * or are zero; the process stands still.
 *
 * @param no_files Copy what stands in files too.
 * @param[out] ret To be given to process_copy_run() or process_copy_destroy().
 */
HD_NODISCARD enum hd_status process_copy_plan(int pid, const struct proc_maps *maps, bool no_files,
					      struct job *job, struct process_copy **ret,
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
