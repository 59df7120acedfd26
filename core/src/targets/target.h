/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>
#include <time.h>

#include "arch/arch.h"
#include "mem/memory.h"
#include "targets/core/core_about.h"
#include "targets/target_map.h"
#include "targets/target_options.h"
#include "targets/target_threads.h"
#include "util/findings.h"
#include "util/job.h"

enum target_kind {
	TARGET_CORE,
	TARGET_PROCESS,  /**< on this machine; system calls read its memory */
	TARGET_DEBUGGER, /**< read through a debugger's callback */
};

/** An ELF image in the dynamic linker's list; the executable comes first. */
struct target_module {
	uint64_t base;    /**< load bias: link_map.l_addr */
	uint64_t dynamic; /**< address of its .dynamic: link_map.l_ld */
	char *path;       /**< "" for the executable when its name is unknown */
};

struct module_files;
struct process_copy;
struct process_residency;
struct relocation_cache;
struct symbol_files;

/** From the auxiliary vector; 0 = unknown. */
struct target_auxv {
	uint64_t phdr, phnum, entry, base;
};

/** How a process was read. */
struct process_reading {
	double stopped_seconds; /**< how long it was stopped while it was copied */
	struct process_copy
		*copy; /**< a copy without some native memory; owned by the target's memory; or
		       * NULL */
	struct process_residency
		*residency; /**< what of it was in memory when it was stopped, or NULL; owned */
	struct process_server *server; /**< reads it, as long as it can be read; or NULL */
	bool is_busy;                  /**< options.busy_at was set: the process was let go, and
				        * there is no memory */
	unsigned int
		suspending; /**< of these, the last ones at which threads had been asked to stop and one had not */
	unsigned int stops; /**< how often it was stopped, until no GC was running; 0 = not by us */
};

/** How a debugger gives access to it. */
struct debugger_reading {
	const char *route;  /**< how its memory is read, static; NULL: there is no debugger */
	bool is_shown_core; /**< it shows a core, not a process */
};

/** Where missing bytes come from. */
struct target_files {
	char *sysroot;              /**< the string that options.sysroot points to */
	char *symbols;              /**< the string that options.symbols points to */
	char *runtime;              /**< the string that options.runtime points to */
	struct module_files *files; /**< owned by the target's memory; NULL: none are used */
	struct relocation_cache *relocations;
	struct symbol_files *symbol_files;
};

/** A process or a core: its memory, modules, threads. */
struct target {
	enum target_kind kind;
	const struct arch *arch; /**< the processor of its program */
	struct memory *memory;   /**< everything that can be read, file pages included */
	struct memory *own;      /**< only what the core or process itself holds; owned by memory */
	int pid;                 /**< 0 = unknown */
	char name[32];           /**< name of the process, at most 15 bytes of its file's name; "" =
			        * unknown */
	bool is_64;
	struct timespec time; /**< a core: when its file was last written; a process: when it was
				 opened; 0 = unknown */
	struct target_map map;
	struct target_module *modules;
	size_t module_count;
	struct target_threads threads;
	struct target_auxv auxv;
	struct core_about core;
	struct process_reading process;
	struct debugger_reading debugger;
	uint64_t reserved;             /**< bytes of memory: see target_reserve() */
	struct findings findings;      /**< also what runtime and heap find */
	struct target_options options; /**< as opened; backend is NULL */
	struct target_files files;
};

/**
 * Do the first bytes of @p path show that it is for target_open_core(): an ELF file of any kind
 * (which that function may refuse with a good message), or an ELF core packed with zstd?
 *
 * @param[out] ret false also if it is not a regular file
 * @retval HD_ERR_OS it cannot be opened or read
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status target_is_core(const char *path, bool *ret, struct hd_error *err);

/**
 * Open an ELF core file.
 *
 * @param job For unpacking .zst; may be NULL.
 * @param[out] ret To be given to target_destroy(); untouched on failure.
 * @retval HD_OK also for truncated cores: a finding
 * @retval HD_ERR_OS it cannot be read
 * @retval HD_ERR_FORMAT its headers or notes are wrong
 * @retval HD_ERR_UNSUPPORTED not a core, or with 32 bits, of another architecture, or big-endian
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status target_open_core(const char *path, const struct target_options *options,
					     struct job *job, struct target **ret,
					     struct hd_error *err);

/**
 * Stop a process of this machine, copy what a heap walk needs (all writable private memory, up to
 * options->max_mem) and let it go; a process with more memory stays stopped until target_destroy(),
 * with a finding that says so. options->busy_at, no_stop and kept change that.  What is not copied after
 * options->stop_seconds is given up: the process is let go then, whatever we do.
 *
 * @retval HD_OK
 * @retval HD_ERR_OS no such process, no permission, or traced by another one; the message says what
 * to do
 * @retval HD_ERR_UNSUPPORTED a 32-bit process
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status target_open_process(int pid, const struct target_options *options,
						struct job *job, struct target **ret,
						struct hd_error *err);

struct hd_debugger;

/**
 * Make a target from what a debugger has: its core file, a process that it has stopped on this
 * machine, or else its callback with a cache in front.  See <heapdump/debugger.h>.
 */
HD_NODISCARD enum hd_status target_open_debugger(const struct hd_debugger *debugger,
						 const struct target_options *options,
						 struct job *job, struct target **ret,
						 struct hd_error *err);

/**
 * Make an empty target: without memory, nothing is known.  All functions that open targets begin
 * with it.
 *
 * @return NULL when memory is exhausted.
 */
struct target *target_create(enum target_kind kind, const struct target_options *options);

/** NULL is allowed. */
void target_destroy(struct target *target);

/** Hand over a target that was made, or destroy it if making it has failed; @return @p status. */
enum hd_status target_hand_over(struct target *target, enum hd_status status, struct target **ret);

/**
 * The failure of a read that a process did not answer in time: since then, memory wrongly says that
 * bytes are missing.  HD_OK for every other target.
 */
HD_NODISCARD enum hd_status target_check(const struct target *target, struct hd_error *err);

/** The job that can cancel a read that a process does not answer; NULL: none. */
void target_set_job(struct target *target, struct job *job);

/**
 * Count the memory for @p count elements of @p size bytes in a list about the target.  The count
 * never goes down: it is the most that may be needed.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM the count exceeds options.max_mem (only for cores: for a process, the kernel
 * limits these lists)
 */
HD_NODISCARD enum hd_status target_reserve(struct target *target, uint64_t count, uint64_t size,
					   struct hd_error *err);

/** Fill @p auxv from the bytes of an auxiliary vector; entries that it lacks stay unchanged. */
void target_auxv_read(struct target_auxv *auxv, const uint8_t *bytes, size_t size);

/**
 * Fill modules from the link map (auxv), or from the mappings' names.  Called by the functions that
 * open targets.
 *
 * @param job May be NULL.
 */
HD_NODISCARD enum hd_status target_load_modules(struct target *target, struct job *job,
						struct hd_error *err);
