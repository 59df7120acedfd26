/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct arch;
struct findings;
struct gc_vars;
struct job;
struct memory;
struct target;

/** A managed thread (ThreadStore). */
struct runtime_thread {
	uint64_t address;
	uint32_t id;
	uint64_t os_id; /**< 0 = not started or gone */
	uint32_t state;
	bool is_cooperative;
	uint64_t alloc_pointer, alloc_limit; /**< 0, 0: empty */
	uint64_t alloc_context;              /**< address of {pointer, limit}, 0 = not known */
	uint64_t exception; /**< object that it threw last, 0 = none or not known */
};

/** The runtime in a target.  Its members are in runtime/runtime_base.h, which only runtime may include. */
struct runtime;

/**
 * Find the runtime in @p target and read what does not depend on the heap.
 *
 * @param target Borrowed until runtime_destroy(); what is missing or odd goes to its findings.
 * @param[out] ret To be given to runtime_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED "no CoreCLR here: ...", no managed heap yet
 * @retval HD_ERR_FAULT bytes that everything depends on are missing; the message says which, and
 * what to do
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status runtime_open(struct target *target, struct job *job,
					 struct runtime **ret, struct hd_error *err);
/** NULL is allowed. */
void runtime_destroy(struct runtime *runtime);

/** Add a finding for each other module with a .NET runtime. */
void runtime_report_others(const struct runtime *runtime);

/** The target in which the runtime was found, and which collects findings. */
struct target *runtime_target(const struct runtime *runtime);
/** The processor of the target. */
const struct arch *runtime_arch(const struct runtime *runtime);
struct findings *runtime_findings(const struct runtime *runtime);
/** The target's bytes. */
struct memory *runtime_memory(const struct runtime *runtime);
/** Read through @p memory from now on; @return the memory used until now. */
struct memory *runtime_set_memory(struct runtime *runtime, struct memory *memory);

/** "10.0.12" when it can be found out, else "10.0"; "" = unknown. */
const char *runtime_version(const struct runtime *runtime);
/** "NativeAOT", ...; NULL: it is CoreCLR.  Static. */
const char *runtime_flavor(const struct runtime *runtime);
/**
 * The version that the runtime's file has in its data, "10.0.1226.42308 @Commit: 95017c7...".
 *
 * @return false: it is not in the target, or longer than @p size - 1
 */
bool runtime_file_version(struct runtime *runtime, char *buf, size_t size);
/** Build-id of the runtime's file, in hex; "" = unknown. */
const char *runtime_build_id(const struct runtime *runtime);
/** The file of libcoreclr, or the single-file executable; "": not known. */
const char *runtime_path(const struct runtime *runtime);
/** Most bytes of the text at runtime_crash_record(). */
#define RUNTIME_CRASH_RECORD_MAX 8192u
/**
 * Address of the text, JSON that ends at a NUL, in which the runtime has noted why it ended the process (doc/nativeaot.md
 * 5.6); 0: it does not do that, it has not ended it, or the text is not found.
 */
uint64_t runtime_crash_record(const struct runtime *runtime);
bool runtime_is_single_file(const struct runtime *runtime);
/** Was its contract descriptor read? */
bool coreclr_has_descriptor(const struct runtime *runtime);

/** The GC's own variables (gc/layouts/gc_vars.h). */
const struct gc_vars *runtime_gc(const struct runtime *runtime);
/** Read them again: the process has run on, and the server GC can change the number of its heaps. */
HD_NODISCARD enum hd_status runtime_read_gc(struct runtime *runtime, struct hd_error *err);
/**
 * Does the GC have a heap for each processor?  Does it use regions instead of segments?  Is it
 * between plan and sweep?
 */
bool runtime_has_server_gc(const struct runtime *runtime);
bool runtime_has_regions(const struct runtime *runtime);
bool runtime_gc_is_moving(const struct runtime *runtime);
/** Has the GC handles of cross references (doc/coreclr.md 11.1)? */
bool runtime_has_cross_references(const struct runtime *runtime);

/** Addresses of the runtime's objects; 0 = not known. */
uint64_t coreclr_app_domain(const struct runtime *runtime);
uint64_t coreclr_system_domain(const struct runtime *runtime);
uint64_t runtime_free_method_table(const struct runtime *runtime);
uint64_t runtime_object_method_table(const struct runtime *runtime);
uint64_t runtime_object_array_method_table(const struct runtime *runtime);
uint64_t runtime_exception_method_table(const struct runtime *runtime);
/** Address of the allocation context {pointer, limit} that all threads share; 0 = there is none. */
uint64_t runtime_global_alloc_context(const struct runtime *runtime);
/** Where an allocation context has its two words, in bytes. */
struct alloc_layout {
	uint32_t pointer, limit;
};
struct alloc_layout runtime_alloc_layout(const struct runtime *runtime);
/** Read the allocation context at @p address; false when it cannot be read. */
bool runtime_alloc_context(const struct runtime *runtime, uint64_t address, uint64_t *ret_pointer,
			   uint64_t *ret_limit);
/** Is the table of sync blocks known? */
bool runtime_has_sync_table(const struct runtime *runtime);

/** All threads of the ThreadStore's list. */
size_t runtime_thread_count(const struct runtime *runtime);
/**
 * Are these all threads?  If not, the list could not be read, or does not check out: a thread that is
 * not on it may still be one.
 */
bool runtime_knows_all_threads(const struct runtime *runtime);
const struct runtime_thread *runtime_thread_at(const struct runtime *runtime, size_t index);
/** The index of a thread that runtime_thread_at() returned. */
size_t runtime_thread_index(const struct runtime *runtime, const struct runtime_thread *thread);
/** Is it known of each thread whether it is cooperative, and what it threw last? */
bool runtime_knows_thread_modes(const struct runtime *runtime);
bool runtime_knows_exceptions(const struct runtime *runtime);
/** How many threads are being started; -1 = not known. */
int64_t runtime_pending_threads(const struct runtime *runtime);
/** Is it known which thread runs finalizers?  Is it @p thread? */
bool runtime_knows_finalizer_thread(const struct runtime *runtime);
bool runtime_is_finalizer_thread(const struct runtime *runtime,
				 const struct runtime_thread *thread);
/** Is it the thread that has suspended all others for a GC? */
bool runtime_is_gc_thread(const struct runtime *runtime, const struct runtime_thread *thread);

/**
 * Has a thread asked all others to stop, for a GC or something else, and one of them has not stopped yet?
 * Mostly this lasts for less than a millisecond.
 */
bool runtime_is_suspending(const struct runtime *runtime);

/** Thread whose thin-lock id is @p id, or NULL. */
const struct runtime_thread *runtime_thread_by_id(const struct runtime *runtime, uint32_t id);
/**
 * Thread whose id in the system is @p os_id, or NULL; of several, the first that has a stack, for the
 * system gives the id of one that has ended to another.  Cost: logarithmic.
 */
const struct runtime_thread *runtime_thread_by_os_id(const struct runtime *runtime, uint64_t os_id);

/** The contents of the header word in front of an object (syncblk.h). */
struct sync_info {
	uint32_t word;
	bool has_sync_block, has_hash, has_thin_lock;
	uint32_t index; /**< of the sync block */
	uint64_t owner; /**< object that the table's entry names, 0 = none */
	uint64_t block; /**< address of the SyncBlock */
	uint32_t hash;
	uint32_t lock_thread, lock_recursion; /**< thin lock */
};

/** Decode the header of the object at @p address; false when it cannot be read. */
bool runtime_sync_info(const struct runtime *runtime, uint64_t address, struct sync_info *ret);

/** Name and token of the method of MethodDesc @p address, "Type.Method"; false if unknown. */
bool runtime_method_name(struct runtime *runtime, uint64_t method_desc, char *buf, size_t size,
			 uint32_t *ret_token);
