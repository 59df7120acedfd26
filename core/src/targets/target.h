/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_TARGET_H
#define HEAPDUMP_SRC_TARGET_TARGET_H

#include <sys/types.h>
#include <time.h>

#include "arch/register_table.h"
#include "mem/memory.h"
#include "util/findings.h"
#include "util/job.h"

enum target_kind {
	TARGET_CORE,
	TARGET_PROCESS,  /**< on this machine, its memory read by the kernel's calls */
	TARGET_DEBUGGER, /**< read through a debugger's callback */
};

/** Who wrote a core, as far as its notes tell. */
enum core_producer {
	PRODUCER_UNKNOWN,
	PRODUCER_CREATEDUMP,
	PRODUCER_GCORE,
	PRODUCER_KERNEL,
};

/** What a core holds, as far as its segments tell: core_notes.h says how that is told. */
enum core_content {
	CONTENT_UNKNOWN,
	CONTENT_FULL, /**< the pages of its files too: needs no module files */
	CONTENT_HEAP, /**< the writable memory, but not the unchanged pages of its files */
	CONTENT_MINI, /**< little more than stacks: no managed heap can be expected */
};

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

/** A file mapped into the target (NT_FILE; /proc/PID/maps). */
struct target_mapping {
	uint64_t start, end;
	uint64_t offset; /**< of start in the file, bytes */
	char *path;
	bool is_cut; /**< a core that is cut has lost bytes of that file */
};

/** An ELF image of the dynamic linker's list; the executable first. */
struct target_module {
	uint64_t base;    /**< load bias: link_map.l_addr */
	uint64_t dynamic; /**< address of its .dynamic: link_map.l_ld */
	char *path;       /**< "" for the executable when its name is unknown */
};

struct target_thread {
	int32_t tid;
	uint32_t number; /**< in the debugger; 0 = unknown, or there is none */
	int signal;      /**< a core: that it had got (pr_cursig), 0 = none */
	/** A process: what its own pid namespace calls the thread, as in a container; 0 = tid. */
	int32_t inner_tid;
	uint64_t registers[REGISTER_COUNT]; /**< by enum kernel_register */
};

/** A stretch of memory that is in the core (PT_LOAD), or a mapping of a process. */
struct target_range {
	uint64_t start, end; /**< of the address space */
	uint64_t captured;   /**< bytes from start on that the core holds */
	uint32_t flags;      /**< PF_R, PF_W, PF_X */
	bool is_cut;         /**< more is not captured as the core's file ends too early */
};

struct process_server;
struct process_copy;
struct page_list;

/**
 * Find the GC's heap in a process that stands still.
 *
 * @param memory of the process
 * @param[out] ret Gets the pages that hold it.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND without a message: it is not known where the heap is
 */
typedef enum hd_status target_find_heap(void *arg, struct memory *memory, struct page_list *ret,
					struct hd_error *err);

/** What to open, and where missing bytes may come from. */
struct target_options {
	const char *sysroot; /**< folder below which module files are looked up, or NULL */
	bool no_files;       /**< take no byte from module files */
	bool trust_files;    /**< use module files too that nothing proves to be the ones */
	uint64_t max_mem;    /**< bytes that an unpacked or copied target may take, and the lists
				that are made of a core's headers and notes; 0 = no limit */
	/** A process: the address of a 32-bit word, 0 = none; while it is not 0 it is let go
	 * uncopied (see is_busy). */
	uint64_t busy_at;
	bool no_stop; /**< a process: read it as it runs, which is good for what does not change */
	/**
	 * A process: copy of its native memory only these pages, what find_heap finds, and stacks.  Borrowed
	 * until it is open, with no_stop as long as it is: then it gets the pages that are read.  NULL: copy all.
	 */
	struct page_list *kept;
	uint64_t type_at; /**< with kept: where one of the types that stay lies; 0: not known */
	target_find_heap *find_heap;
	void *find_heap_arg;
	bool copy_all; /**< a process, for who fills kept: leave it NULL */
	struct process_server
		*server; /**< by which to look at a process, borrowed; NULL: its own */
	const char *
		backend; /**< "file", "process", "debugger": a debugger's memory that way only; or NULL */
};

struct module_files;
struct relocation_cache;

/** A process or a core: its memory, modules, threads. */
struct target {
	enum target_kind kind;
	struct memory *memory; /**< everything that can be read, file pages included */
	struct memory *own;    /**< only what the core or process itself holds; owned by memory */
	const char *route;     /**< how a debugger's memory is read, static; NULL: no debugger */
	bool is_shown_core;    /**< of kind TARGET_DEBUGGER: it shows a core, not a process */
	int pid;               /**< 0 = unknown */
	char name[32];         /**< of the process, up to 15 bytes of its file's; "" = unknown */
	bool is_64;
	struct timespec time; /**< a core: when its file was last written; a process: when it was
				 opened; 0 = unknown */
	struct target_mapping *mappings; /**< ascending */
	size_t mapping_count;
	struct target_module *modules;
	size_t module_count;
	struct target_thread *threads;
	size_t thread_count;
	uint32_t *thread_order;      /**< threads by tid, then index; NULL: not sorted */
	struct target_range *ranges; /**< ascending, not overlapping */
	size_t range_count;
	uint64_t auxv_phdr, auxv_phnum, auxv_entry, auxv_base; /**< 0 = unknown */
	/* cores */
	enum core_producer producer;
	enum core_content content;
	bool is_truncated;      /**< the file ends before its last segment does */
	bool is_compressed;     /**< it was unpacked (.zst) */
	uint64_t file_size;     /**< bytes on disk */
	uint64_t unpacked_size; /**< bytes of the core itself; is file_size unless is_compressed */
	uint64_t missing_bytes; /**< of segments, beyond the end of the file */
	uint64_t reserved;      /**< bytes of memory: see target_reserve() */
	int signal;             /**< that ended the process, of the first NT_PRSTATUS; 0 = none */
	/* processes */
	double stopped_seconds; /**< how long the process stood still while it was copied */
	struct process_copy
		*copy; /**< of which native memory was left out; owned by memory; or NULL */
	struct process_server *server; /**< by which it is read, as long as it is; or NULL */
	bool is_busy;                  /**< options.busy_at: it was let go, there is no memory */
	unsigned int stops;       /**< how often it was stopped, to meet no GC; 0 = not by us */
	struct findings findings; /**< also what clr and heap find */
	struct target_options options; /**< as opened; backend is NULL */
	char *sysroot;                 /**< what options.sysroot points to */
	struct module_files *files;    /**< owned by memory; NULL: none are used */
	struct relocation_cache *relocations;
};

/**
 * Is @p path, by its first bytes, for target_open_core(): an ELF file of any kind (it names those
 * that it refuses), or an ELF core packed with zstd?
 *
 * @param[out] ret false also for what is no regular file
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
 * @retval HD_ERR_FORMAT its headers or notes lie
 * @retval HD_ERR_UNSUPPORTED no core, 32 bits, another architecture, big-endian
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status target_open_core(const char *path, const struct target_options *options,
					     struct job *job, struct target **ret,
					     struct hd_error *err);

/**
 * Stop a process of this machine, copy what a heap walk needs (all writable private memory, up to
 * options->max_mem) and let it go; a larger one stays stopped until target_destroy(), with a
 * finding that says so.  options->busy_at, no_stop and kept change that.
 *
 * @retval HD_OK
 * @retval HD_ERR_OS with what to do: no such process, no permission, traced by another
 * @retval HD_ERR_UNSUPPORTED a 32-bit process
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status target_open_process(int pid, const struct target_options *options,
						struct job *job, struct target **ret,
						struct hd_error *err);

struct hd_debugger;

/**
 * Make a target of what a debugger has: its core file, a process that it holds stopped on this
 * machine, or else its callback behind a cache.  See <heapdump/debugger.h>.
 */
HD_NODISCARD enum hd_status target_open_debugger(const struct hd_debugger *debugger,
						 const struct target_options *options,
						 struct job *job, struct target **ret,
						 struct hd_error *err);

/**
 * An empty target: no memory yet, nothing known.  What the openers of all kinds begin with.
 *
 * @return NULL when memory is exhausted.
 */
struct target *target_create(enum target_kind kind, const struct target_options *options);

/** NULL is allowed. */
void target_destroy(struct target *target);

/**
 * The failure of a read that a process did not answer in time: what memory gave since then is not
 * there is wrong.  HD_OK for every other target.
 */
HD_NODISCARD enum hd_status target_check(const struct target *target, struct hd_error *err);

/** What can cancel a read that a process does not answer; NULL: nothing can. */
void target_set_job(struct target *target, struct job *job);

/**
 * Count @p count elements of @p size bytes that a list about the target is going to take.  Nothing
 * is ever taken off: what counts is the most that may be needed.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM all that was counted is more than options.max_mem (of cores alone: what there
 *         is of a process, its kernel limits)
 */
HD_NODISCARD enum hd_status target_reserve(struct target *target, uint64_t count, uint64_t size,
					   struct hd_error *err);

/** Sort target->threads for target_thread(), once they are known.  Called by the openers. */
HD_NODISCARD enum hd_status target_sort_threads(struct target *target, struct hd_error *err);

/** Fill the auxv fields from the bytes of an auxiliary vector; what it lacks stays. */
void target_set_auxv(struct target *target, const uint8_t *bytes, size_t size);

/**
 * Fill modules from the link map (auxv), or from the mappings' names.  Called by the openers.
 *
 * @param job May be NULL.
 */
HD_NODISCARD enum hd_status target_load_modules(struct target *target, struct job *job,
						struct hd_error *err);

/**
 * Look up an exported symbol by the GNU hash table of @p module.
 *
 * @param[out] ret_address absolute; @param[out] ret_size st_size (may be NULL)
 * @return false when there is none or the tables cannot be read
 */
bool target_symbol(const struct target *target, const struct target_module *module,
		   const char *name, uint64_t *ret_address, uint64_t *ret_size);

/**
 * The pointer at @p address in @p module's data; when its page is not in the core, the file's
 * bytes with the module's RELATIVE relocations (RELA, RELR) applied.
 */
bool target_module_pointer(const struct target *target, const struct target_module *module,
			   uint64_t address, uint64_t *ret);

/** Build-id of an ELF image (PT_NOTE) as lower-case hex; false when it cannot be read. */
bool target_build_id(const struct target *target, const struct target_module *module, char *buf,
		     size_t size);

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

/**
 * What the user can do about bytes that the target lacks: @p usual (to give the files that they
 * are from, mostly), but for a core that is cut where they are, or one opened without files.
 *
 * @param address Where they are, or the image that they are of; 0: not known.
 */
const char *target_advice(const struct target *target, uint64_t address, const char *usual);
/** Set is_cut of the mappings, once they and the ranges are known.  Called for cores. */
HD_NODISCARD enum hd_status target_mark_cut(struct target *target, struct hd_error *err);
/** Has the core lost bytes of the file mapped at @p address, or of the range there, to a cut? */
bool target_is_cut(const struct target *target, uint64_t address);

/** The mapping that holds @p address, or NULL. */
const struct target_mapping *target_mapping_at(const struct target *target, uint64_t address);

/** "SIGSEGV", "SIGABRT" and the others that end a process in which something went wrong; NULL: no such one. */
const char *target_crash_name(int signal);
/** The thread of a core that got such a signal, or NULL. */
const struct target_thread *target_crashed_thread(const struct target *target);

/**
 * Where the stack of a thread that is at @p sp ends, in writable memory that goes on up to @p end: behind the
 * control block that its C library has put there, where FS points; @p end where it is not there.
 */
uint64_t target_stack_end(const struct target_thread *thread, uint64_t sp, uint64_t end);

/** Registers of a thread, the first of that id, or NULL. */
const struct target_thread *target_thread(const struct target *target, int32_t tid);

/**
 * The number of the thread with the OS id @p id in the debugger; without one its place among the
 * threads, as SOS has it then.  -1: it has none.
 */
int64_t target_thread_number(const struct target *target, uint64_t id);

#endif
