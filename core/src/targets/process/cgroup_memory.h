/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The numbers that the kernel counts for a cgroup and those below it. */
enum cgroup_number {
	CGROUP_CURRENT,   /**< bytes, those of the page cache too */
	CGROUP_PEAK,      /**< the most that it had */
	CGROUP_SWAP,      /**< bytes in the swap space */
	CGROUP_ANON,      /**< of current: memory of no file */
	CGROUP_FILE,      /**< of current: pages of files, those of memory files too */
	CGROUP_SHMEM,     /**< of these: memory files, such as the runtime's for code */
	CGROUP_KERNEL,    /**< of current: the kernel's own */
	CGROUP_DROPPABLE, /**< of current: pages of files that were not used for long */
	CGROUP_HIGH,      /**< how often it was slowed down, above memory.high */
	CGROUP_MAX,       /**< how often it was at its limit */
	CGROUP_OOM,       /**< how often that did not help */
	CGROUP_KILLED,    /**< processes that the kernel has killed for it */
	CGROUP_NUMBERS
};

/** For which part of a time tasks waited for memory (PSI). */
struct cgroup_pressure {
	bool is_known;
	uint32_t average[3]; /**< of the last 10, 60, 300 s, in hundredths of a per cent */
	uint64_t total;      /**< microseconds */
};

/** The room below a limit. */
struct cgroup_bound {
	char *path; /**< the cgroup that has the limit; owned */
	uint64_t limit;
	uint64_t left; /**< bytes; what the kernel can drop counts as free */
};

/** The memory of a process's cgroup. */
struct cgroup_memory {
	uint32_t version; /**< 1 or 2 */
	char *path;       /**< as /proc has it; owned */
	uint64_t limit;   /**< the least of its own and of those above it; UINT64_MAX: none */
	char *limit_path; /**< the cgroup that has it, or NULL; owned */
	/** The limit, of its own and of those above it, that leaves the fewest bytes; tight.path is NULL: none is known. */
	struct cgroup_bound tight;
	bool is_tight;  /**< memory is short, see cgroup_memory_read() */
	uint32_t known; /**< bits of those numbers that could be read */
	uint64_t numbers[CGROUP_NUMBERS];
	struct cgroup_pressure some; /**< one task at least waited */
	struct cgroup_pressure full; /**< all that could run did */
	bool is_machine;             /**< the pressure is that of the whole machine */
};

/**
 * Read what the kernel tells of the memory cgroup of a process: only files of /proc and below
 * /sys/fs/cgroup.  Memory is short if a limit, of the cgroup or of one above it, leaves at most a tenth, or if
 * tasks waited for memory for a hundredth of the last minute.
 *
 * @param[in] root Where /proc and /sys are: "" except in tests.
 * @param[out] ret To be given to cgroup_memory_deinit(); untouched on failure.
 * @return false: nothing is known
 */
bool cgroup_memory_read(const char *root, int pid, struct cgroup_memory *ret);
void cgroup_memory_deinit(struct cgroup_memory *group);

/** Is a number known, and which is it? */
bool cgroup_number(const struct cgroup_memory *group, enum cgroup_number number, uint64_t *ret);

/** Parse the text of a pressure file; false: it is not one. */
bool cgroup_pressure_parse(const char *text, const char *word, struct cgroup_pressure *ret);
