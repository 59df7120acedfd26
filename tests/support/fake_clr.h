/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "support/fake_memory.h"
#include "targets/target.h"

/*
 * A small runtime with its GC heap, of the layout of one release, for tests:
 *
 *	struct fake_clr *fake = fake_clr_create(NULL);
 *	uint64_t node = fake_type(fake, &(struct fake_type){ .base_size = 32, ...});
 *	fake_segment(fake, 0, GENERATION_0, 0x1000);
 *	uint64_t a = fake_object(fake, node, 0);
 *	fake_poke_u64(&fake->memory, a + 8, a);
 *	struct heap *heap = fake_heap(fake);
 *	...
 *	fake_clr_destroy(fake);
 */
struct fake_options {
	bool has_segments;           /**< in place of regions */
	uint32_t servers;            /**< heaps of a server GC; 0: workstation */
	unsigned int release;        /**< 8 to 11, or one of the future with a layout; 0: 10 */
	const struct layout *layout; /**< in place of that of the release; NULL: this one */
	const struct arch *arch;     /**< NULL: x86-64 */
};

/** Bytes of a generation, and of a segment before its first object. */
#define FAKE_GENERATION_SIZE 256u
#define FAKE_SEGMENT_HEAD    0x28u
/** So much is free after the last object of a segment's memory. */
#define FAKE_SEGMENT_GAP ((uint64_t)1 << 20)

struct fake_clr {
	struct fake_memory memory;
	struct fake_options options;
	struct layout layout;   /**< where the structures have their fields */
	struct fake_hidden own; /**< target.own, when the core lacks a page: see fake_export() */
	struct target target;
	struct runtime *runtime; /**< NULL until fake_runtime() */
	struct heap *heap;       /**< of the last fake_heap() */
	/* method tables */
	uint64_t free_type, object_type, string_type, object_array_type;
	uint64_t module; /**< address of the one Module; all of it is zero */
	/* the GC's own structures */
	struct gc_vars gc;
	uint64_t sync_table;
	uint32_t sync_count; /**< entries that are used */
	struct runtime_thread *threads;
	size_t thread_count;
	/* the segment that objects are made in */
	uint64_t segment;      /**< heap_segment */
	uint64_t end_slot;     /**< word that holds the end of its objects */
	uint64_t next_segment; /**< address of the next segment's memory */
};

/** NULL: a workstation GC with regions, of .NET 10. */
struct fake_clr *fake_clr_create(const struct fake_options *options);
void fake_clr_destroy(struct fake_clr *fake);

/** Where the structure at @p base has that field; the release must have it. */
uint64_t fake_at(const struct fake_clr *fake, uint64_t base, enum layout_field field);
/** Is it of that release, or of a later one? */
static inline bool fake_is_from(const struct fake_clr *fake, unsigned int release)
{
	return fake->options.release >= release;
}

struct fake_type {
	uint32_t base_size;
	uint16_t component_size;        /**< 0 without; sets the flag */
	uint32_t flags;                 /**< more MTFlags: category, finalizer, collectible, ... */
	uint64_t parent;                /**< MethodTable; 0: Object */
	uint64_t per_inst;              /**< arrays: element type */
	uint32_t token;                 /**< TypeDef RID */
	const struct gc_series *series; /**< sets the flag of pointers */
	size_t series_count;
	const struct gc_run *runs; /**< of an array of structs, from runs_offset on */
	size_t run_count;
	uint64_t runs_offset;
};

/** Make a MethodTable with its GCDesc and EEClass; returns its address. */
uint64_t fake_type(struct fake_clr *fake, const struct fake_type *type);
/**
 * Make a type for what suspended methods keep (11), of @p size bytes, child of @p parent, with the
 * EEClass of @p first; 0: it is the first one. Its data have references at [0, 16) and [24, 32).
 */
uint64_t fake_continuation_type(struct fake_clr *fake, uint64_t parent, uint64_t first,
				uint32_t size);
/** Make an SZ array of references to @p element. */
uint64_t fake_array_type(struct fake_clr *fake, uint64_t element);

/**
 * Make a segment or region of @p size bytes at the end of its list, for the next objects; returns
 * the address of its heap_segment.  GENERATION_NONGC goes to the list of generation 2;
 * GENERATION_EPHEMERAL (segments only) too, and is the heap's ephemeral one.
 */
uint64_t fake_segment(struct fake_clr *fake, uint32_t heap, enum generation generation,
		      uint64_t size);
/** Where the next object will be. */
uint64_t fake_end(struct fake_clr *fake);
/** Generation 0 or 1 of @p heap begins here, in the ephemeral segment. */
void fake_begin_generation(struct fake_clr *fake, uint32_t heap, enum generation generation);

/**
 * Let @p handle lead to @p object as the exposed object of @p loader, a runtime's LoaderAllocator:
 * object -> scout -> loader.
 */
void fake_expose(struct fake_clr *fake, uint64_t handle, uint64_t object, uint64_t loader);

/** Make an object in the last segment; returns its address. */
uint64_t fake_object(struct fake_clr *fake, uint64_t method_table, uint32_t length);
/** A Free block of @p size bytes (at least 24). */
uint64_t fake_free(struct fake_clr *fake, uint64_t size);
/** A string of ASCII characters. */
uint64_t fake_string(struct fake_clr *fake, const char *text);
/** The next @p size bytes are not objects: @p size - 24 free bytes of a new thread's context. */
uint64_t fake_context(struct fake_clr *fake, uint64_t size);
/** Leave out @p size bytes, which stay zero and belong to nobody. */
uint64_t fake_hole(struct fake_clr *fake, uint64_t size);

/** Set the header word of an object; give it a sync block (at most 63). */
void fake_header(struct fake_clr *fake, uint64_t object, uint32_t word);
uint32_t fake_sync_block(struct fake_clr *fake, uint64_t object);
/** Add a thread to the runtime; its managed id counts from 1. */
struct runtime_thread *fake_thread(struct fake_clr *fake);

/** The runtime as it is now; made once.  Later threads reach it by fake_heap(). */
struct runtime *fake_runtime(struct fake_clr *fake);

/**
 * Give its runtime a RangeSectionMap with all levels for the address @p code.
 *
 * @return where the address of the first fragment goes
 */
uint64_t fake_range_map(struct fake_clr *fake, uint64_t code);
/** Let its runtime forget the code that was looked up. */
void fake_forget_code(struct fake_clr *fake);
/** heap_open() of it as it is now; lives until the next call or fake_clr_destroy(). */
struct heap *fake_heap(struct fake_clr *fake);
