/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"
#include "util/fail.h"

struct job;

/**
 * The size classes of glibc's malloc are its bins (malloc/malloc.c, bin_index(); doc/memory.md 5.2): up to 1008 bytes
 * each size has its own, then each has a range. Sizes are those of pieces: what was asked for and 8 bytes more,
 * rounded up to 16.
 */
#define MALLOC_CLASSES 127u

/** How many pieces there are in a size class, and their bytes. */
struct malloc_class {
	uint64_t used_pieces, used_bytes; /**< those in caches too */
	uint64_t free_pieces, free_bytes; /**< without the top of an arena */
};

/** The class of a piece of @p size bytes. */
unsigned int malloc_class_of(uint64_t size);

/** The smallest size of class @p index; that of MALLOC_CLASSES ends the last class: there is none larger. */
uint64_t malloc_class_start(unsigned int index);

/** Count a piece. @param classes MALLOC_CLASSES of them. */
void malloc_class_add(struct malloc_class *classes, uint64_t size, bool is_used);

/** Where an arena has the address of its last free piece. */
#define MALLOC_TOP_OFFSET 96u

/** Most arenas, and most heaps of one arena, that are read. */
#define MALLOC_ARENAS_MAX 4096u
#define MALLOC_HEAPS_MAX  65536u

/** The state of a piece of an arena. */
enum malloc_part {
	MALLOC_USED,
	MALLOC_FREE,
	MALLOC_TOP,     /**< free, at the end of the arena */
	MALLOC_RECORDS, /**< malloc's own: headers of heaps and arenas, ends of heaps */
	MALLOC_DAMAGED, /**< after a piece whose size is impossible */
	MALLOC_MAPPED,  /**< of musl: a piece that it mapped on its own */
	MALLOC_PARTS
};

/** An arena of glibc's malloc (struct malloc_state). */
struct malloc_arena {
	uint64_t address;
	uint64_t threads; /**< that use it */
	uint64_t system;  /**< bytes that it has got from the kernel, as it says */
	uint64_t top;     /**< its last free piece */
	uint64_t pieces;  /**< in use or free */
	uint64_t bytes[MALLOC_PARTS];
	uint64_t fast;       /**< of those in use: free for the arena, in its fast lists */
	uint64_t cached;     /**< of those in use: free, in the caches of threads */
	uint64_t damaged_at; /**< the first impossible piece, or 0 */
};

/** Gets every stretch of one part; neighbours of the same part are one stretch. */
typedef enum hd_status malloc_found(void *arg, enum malloc_part part, uint64_t start, uint64_t end,
				    struct hd_error *err);

/** A walk through the memory of glibc's malloc (doc/memory.md 5). */
struct malloc_walk {
	struct memory *memory;
	struct job *job;
	malloc_found *found;
	void *arg;
	uint64_t budget;     /**< bytes of arenas that may be walked; less what was */
	uint64_t main_start; /**< where the main arena begins, 0: what malloc itself says */
	struct malloc_class *classes; /**< MALLOC_CLASSES of them, to which the pieces are added */
	struct malloc_arena *arenas;  /**< the main one first; to be given to pages_free() */
	size_t arenas_count, arenas_capacity;
};

/**
 * The main arena in the data of the C library, [@p start, @p start + @p size), by its shape.
 *
 * @param[out] ret_base where the main arena's memory begins, 0: it does not tell
 * @return its address, or 0
 */
uint64_t malloc_find_main(struct memory *memory, uint64_t start, const uint8_t *bytes, size_t size,
			  uint64_t *ret_base);

/**
 * Walk all arenas, beginning with the one at @p main_arena; damage ends the walk of one heap.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status malloc_walk_arenas(struct malloc_walk *walk, uint64_t main_arena,
					       struct hd_error *err);

/**
 * If a piece that was mapped on its own is at @p address, in memory that ends at @p end: its size;
 * else 0.
 */
uint64_t malloc_mapped_size(struct memory *memory, uint64_t address, uint64_t end);
