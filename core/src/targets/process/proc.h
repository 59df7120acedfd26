/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/target.h"
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

/** The values of /proc/PID/status. */
struct proc_status {
	char name[64];  /**< the command, as the kernel cuts it */
	char state;     /**< of a living thread, if there is one: R S D T t Z X; 0 = unknown */
	int group;      /**< Tgid */
	int tracer;     /**< TracerPid; 0 = none */
	uint32_t uid;   /**< the real one */
	int parent;     /**< PPid; 0 = none that is visible here */
	bool is_kernel; /**< it is a kernel thread */
};

/** Goes through the threads of a process.  It allocates nothing: it may be used after a fork. */
struct proc_tasks {
	int fd;
	size_t at, end; /**< in bytes */
	_Alignas(8) char bytes[4096];
};

/** False and errno when there is no such process; else to be given to proc_tasks_close(). */
bool proc_tasks_open(int pid, struct proc_tasks *ret);
/** The next thread's id, in the kernel's order; 0 after the last. */
int proc_tasks_next(struct proc_tasks *tasks);
void proc_tasks_close(struct proc_tasks *tasks);

/** State of a process's first thread, or of any thread, as a letter: R S D T t Z X; 0 = none. */
char proc_task_state(int tid);

/** Is it a thread that has not ended? */
bool proc_task_lives(int tid);

/**
 * A thread of @p pid that has not ended; for one that has ended (even the first one, while others
 * run on) the kernel shows no memory.  It is @p pid itself if that lives; 0 if no thread lives.  It
 * allocates nothing.
 */
int proc_live_task(int pid);

/** The last number of line NSpid of a status file: the id in the innermost pid namespace; 0: none. */
int32_t proc_inner_id(const char *status);
/**
 * If a process lives in another pid namespace than ours, set inner_tid of its threads, except those
 * that have ended; else do nothing.
 */
void proc_set_inner_ids(int pid, struct target_thread *threads, size_t count);

/** Append the file at /proc/PID/NAME to @p ret; false and errno when it cannot be read. */
bool proc_read_file(int pid, const char *name, struct text *ret);
/** The same for any file whose size the kernel does not tell. */
bool proc_read_path(const char *path, struct text *ret);

/**
 * Parse one line of a maps file, which ends with NUL and is changed; ret->path is a part of it.
 * It allocates nothing.  False if it is not such a line.
 */
bool proc_map_parse(char *line, struct proc_map *ret);

/**
 * Parse the text of a maps file; false when memory is exhausted.  Lines that cannot be parsed are
 * left out.
 */
bool proc_maps_parse(const char *text, size_t size, struct proc_maps *ret);
void proc_maps_deinit(struct proc_maps *maps);

/**
 * Does another program or another machine provide the file system mounted as device @p major :
 * @p minor (FUSE, NFS, SMB, ...), so that reading its files may block for ever?
 *
 * @param mounts a mountinfo file, or NULL: none does
 */
bool proc_mount_may_hang(const char *mounts, uint32_t major, uint32_t minor);

/** Can its bytes be read?  False for mappings that the kernel uses for its own calls. */
bool proc_map_is_readable(const struct proc_map *map);

/** Value of a line "NAME: N kB" in bytes; 0 when there is none. */
uint64_t kilobytes_parse(const char *text, const char *name);

/** Parse the text of a status file. */
void proc_status_parse(const char *text, struct proc_status *ret);

/** Read the status of a process or a thread; false and errno when there is none. */
bool proc_status_read(int pid, struct proc_status *ret);

/** Fill mappings and ranges of @p target; false when memory is exhausted. */
bool proc_maps_to_target(const struct proc_maps *maps, struct target *target);

/**
 * Can process @p pid be read: does it exist, is it not a zombie, not traced, and not this process?
 *
 * @param[out] ret its status, also on failure if there is such a process
 * @retval HD_OK as far as that is known before trying
 * @retval HD_ERR_OS
 * @retval HD_ERR_UNSUPPORTED a kernel thread @retval HD_ERR_ARGUMENT this process, or a number that
 * no process can have
 */
HD_NODISCARD enum hd_status proc_check(int pid, struct proc_status *ret, struct hd_error *err);

/** The failure for errno @p code after reading @p pid; the message says what to do. */
enum hd_status proc_refused(int pid, int code, struct hd_error *err);
