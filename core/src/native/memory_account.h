/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "native/malloc_arenas.h"
#include "native/memory_kind.h"

struct arena;

/** Somebody's claim on addresses [start, end). */
struct memory_claim {
	uint64_t start, end;
	uint32_t priority; /**< the smallest has the address */
	uint32_t row;      /**< who claims it */
};

/** Addresses [start, end) that one row has. */
struct memory_stretch {
	uint64_t start, end;
	uint32_t row;
};

/** Bytes of one owner, or of all. */
struct memory_bytes {
	uint64_t addresses; /**< of its addresses, in mappings */
	/* a process: */
	int64_t resident; /**< in memory; negative only for MEMORY_CHANGED */
	int64_t pss;      /**< the same, shared pages divided by the number of sharers */
	int64_t swap;
	/* a core: */
	uint64_t captured; /**< in the core's file */
	uint64_t zeros;    /**< of these, in pages of zeros that are in no file and not objects */
};

struct memory_row {
	enum memory_kind kind;
	const char *owner; /**< a path, a thread, a context, a table; NULL: the kind says it all */
	struct memory_bytes bytes;
};

/** A mapping of a process, or a range of a core. */
struct memory_mapping {
	uint64_t start, end;
	uint64_t offset;   /**< of start in its file */
	uint64_t captured; /**< a core: bytes from start that the file has */
	uint32_t flags;    /**< PF_R, PF_W, PF_X */
	bool is_shared;    /**< a process: only then is it known */
	bool is_named;     /**< a core: its path may be that of a part of it */
	const char *path;  /**< borrowed; "": anonymous */
	uint64_t rss, pss, swap, dirty;
};

/** The allocators of native code, as far as they were found. */
struct memory_malloc {
	bool is_found;               /**< the C library's */
	bool is_musl;                /**< and that is musl */
	struct malloc_arena *arenas; /**< of it, the main one first */
	size_t arenas_count, arenas_capacity;
	uint64_t mapped_count, mapped_bytes; /**< large pieces that it mapped on their own */
	struct malloc_class classes[MALLOC_CLASSES]; /**< all pieces, those too */
	const char *other; /**< an allocator that cannot be walked, or NULL; static */
};

/** Where all memory of a process or a core is: rows that add up (doc/memory.md 7). */
struct memory_account {
	bool is_live;                    /**< resident, pss and swap are known, captured is not */
	bool is_partial;                 /**< not all of the runtime's own records could be read */
	struct memory_mapping *mappings; /**< ascending, not overlapping */
	size_t mappings_count, mappings_capacity;
	struct memory_row *rows;
	size_t rows_count, rows_capacity;
	struct memory_claim *claims;
	size_t claims_count, claims_capacity;
	struct memory_stretch *stretches; /**< who has what; after memory_account_sum() */
	size_t stretches_count;
	struct memory_bytes total; /**< what the rows add up to */
	struct memory_malloc malloc;
	uint32_t kind_rows[MEMORY_KINDS]; /**< 1 + the row of a kind without owner; 0: none yet */
	struct arena *texts;
};

/**
 * Find out who has the memory of the heap's target, or of @p target if it has no runtime that can be
 * read (@p heap is NULL then).
 *
 * @param[out] ret To be given to memory_account_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED the mappings of the target are not known
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status memory_account_create(struct target *target, struct heap *heap,
						  struct job *job, struct memory_account **ret,
						  struct hd_error *err);
/**
 * The same in groups only, from what the kernel or the core's headers tell and what is known of the
 * heap already: memory is hardly read, and that of a process is what it has now.  What native code has
 * is MEMORY_NATIVE_HEAP or MEMORY_UNKNOWN.
 *
 * @param[out] ret Only its rows and sums are kept.
 * @retval HD_ERR_OS the process has ended
 * @retval others as memory_account_create()
 */
HD_NODISCARD enum hd_status memory_outline_create(struct target *target, struct heap *heap,
						  struct job *job, struct memory_account **ret,
						  struct hd_error *err);
/** Give up all but the rows and sums: nothing of the target is borrowed from then on. */
void memory_account_keep_rows(struct memory_account *account);
/** NULL is allowed. */
void memory_account_destroy(struct memory_account *account);

/** For HD_CLEANUP(memory_account), in front of a pointer that is NULL or a whole account. */
static inline void memory_account_deinit(struct memory_account **account)
{
	memory_account_destroy(*account);
}

/**
 * Bytes in memory, as far as that is known: for a core, those that are not in pages of zeros.
 * Negative only for MEMORY_CHANGED.
 */
int64_t memory_bytes_used(const struct memory_account *account, const struct memory_bytes *bytes);

/** Add @p bytes to @p sum. */
void memory_bytes_add(struct memory_bytes *sum, const struct memory_bytes *bytes);

/** The sums of the rows of one kind, or of one group. */
struct memory_bytes memory_account_of_kind(const struct memory_account *account,
					   enum memory_kind kind);
struct memory_bytes memory_account_of_group(const struct memory_account *account,
					    enum memory_group group);
/** memory_bytes_used() of the rows of one kind. */
uint64_t memory_used_of_kind(const struct memory_account *account, enum memory_kind kind);

/** The mapping that holds @p address, or NULL. */
const struct memory_mapping *memory_mapping_at(const struct memory_account *account,
					       uint64_t address);

/**
 * Give each address that is claimed to the claim with the smallest priority, then the smallest row.
 * Claims may be in any order, overlap and be empty; they are sorted.
 *
 * @param[out] ret ascending, not overlapping; neighbours of one row are one stretch.  To be given to
 * mem_free(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status memory_sweep(struct memory_claim *claims, size_t count,
					 struct memory_stretch **ret, size_t *ret_count,
					 struct hd_error *err);
