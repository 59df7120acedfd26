/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_PROC_H
#define HEAPDUMP_SRC_TARGET_PROC_H

#include "target/target.h"
#include "util/text.h"

/** One line of /proc/PID/maps. */
struct proc_map {
	uint64_t start, end;
	uint64_t offset; /**< of start in the file, bytes */
	uint64_t inode;  /**< 0 = no file */
	uint32_t dev_major, dev_minor;
	uint32_t flags; /**< PF_R, PF_W, PF_X */
	bool is_shared;
	char *path; /**< "" = none; "[heap]"; a file's without " (deleted)" */
};

/** Zero-initialised is empty. */
struct proc_maps {
	struct proc_map *rows; /**< ascending */
	size_t rows_count, rows_capacity;
};

/** What /proc/PID/status says. */
struct proc_status {
	char name[64];  /**< the command, as the kernel cuts it */
	char state;     /**< R S D T t Z X; 0 = unknown */
	int group;      /**< Tgid */
	int tracer;     /**< TracerPid; 0 = none */
	uint32_t uid;   /**< the real one */
	bool is_kernel; /**< a thread of the kernel */
};

/** Append the file at /proc/PID/NAME to @p ret; false and errno when it cannot be read. */
bool proc_read_file(int pid, const char *name, struct text *ret);
/** The same of any file whose size the kernel does not tell. */
bool proc_read_path(const char *path, struct text *ret);

/** Parse the text of a maps file; false when memory is exhausted.  Odd lines are left out. */
bool proc_maps_parse(const char *text, size_t size, struct proc_maps *ret);
void proc_maps_deinit(struct proc_maps *maps);

/** Can its bytes be read?  Not what the kernel keeps there for its own calls. */
bool proc_map_is_readable(const struct proc_map *map);

/** Parse the text of a status file. */
void proc_status_parse(const char *text, struct proc_status *ret);

/** Read a process's or a thread's; false and errno when there is none. */
bool proc_status_read(int pid, struct proc_status *ret);

/** Fill mappings and ranges of @p target; false when memory is exhausted. */
bool proc_maps_to_target(const struct proc_maps *maps, struct target *target);

/**
 * Is @p pid a process that can be looked at: there, no zombie, not traced, not this one, 64 bits?
 *
 * @retval HD_OK as far as one can tell before it is tried
 * @retval HD_ERR_OS
 * @retval HD_ERR_UNSUPPORTED 32 bits
 * @retval HD_ERR_ARGUMENT this process, or a number that is none of a process
 */
HD_NODISCARD enum hd_status proc_check(int pid, struct hd_error *err);

/** HD_ERR_UNSUPPORTED if the program of @p pid is known to be another than one of x86-64. */
HD_NODISCARD enum hd_status proc_check_program(int pid, const char *name, struct hd_error *err);

/** The failure of a look at @p pid that ended in errno @p code, with what to do about it. */
enum hd_status proc_refused(int pid, int code, struct hd_error *err);

#endif
