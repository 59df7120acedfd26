/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

struct memory;
struct target;

/** Where GcDacVars names the variable with the address of the GC's tables. */
#define GC_VARS_TABLES 256u

/** Most heaps of a server GC (MAX_SUPPORTED_CPUS, gcpriv.h). */
#define GC_HEAPS_MAX 1024u

/**
 * The content of GcDacVars, dereferenced once where it names a variable (coreclr:
 * gcinterface.dac.h).
 */
struct gc_vars {
	uint64_t address;
	uint8_t major, minor;
	uint64_t generation_size;  /**< bytes of one generation structure */
	uint32_t generation_count; /**< 5 */
	bool is_server, has_regions;
	uint32_t heap_count;           /**< 1 for workstation */
	uint64_t generation_table;     /**< workstation: address of the inline array */
	uint64_t heaps;                /**< server: address of the array of heap pointers */
	int32_t heap_offsets[19];      /**< server: gc_heap_field_offsets; -1 = none */
	int32_t generation_offsets[3]; /**< allocation_context, start_segment, allocation_start */
	uint64_t ephemeral_segment, alloc_allocated, finalize_queue; /**< workstation: variables */
	uint64_t handle_table_map;
	int32_t structures_invalid;     /**< non-zero: a GC is between plan and sweep */
	uint64_t structures_invalid_at; /**< address of that variable */
	int32_t gc_state;               /**< enum gc_state */
	uint32_t heap_type;             /**< 0: the GC is not initialised */
};

/** Indexes of gc_vars.heap_offsets (gcinterface.dac.h, gc_heap_field_offsets). */
enum gc_heap_field {
	GC_HEAP_ALLOC_ALLOCATED = 0,
	GC_HEAP_EPHEMERAL_SEGMENT = 1,
	GC_HEAP_FINALIZE_QUEUE = 2,
	GC_HEAP_FAILURE = 3, /**< oom_info, the structure itself */
	GC_HEAP_GENERATION_TABLE = 18,
};

/** gc_vars.gc_state (c_gc_state, gc/gcinterface.dac.h). */
enum gc_state {
	GC_STATE_MARKING,
	GC_STATE_PLANNING,
	GC_STATE_FREE,
};

/** Indexes of gc_vars.generation_offsets. */
enum gc_generation_field {
	GC_GENERATION_CONTEXT = 0,
	GC_GENERATION_START_SEGMENT = 1,
	GC_GENERATION_ALLOCATION_START = 2, /**< -1 with regions */
};

/** Bytes of GcDacVars that all of the major version that is read have. */
#define GC_VARS_SIZE  264u
#define GC_VARS_MAJOR 2u

/** Do @p bytes look like GcDacVars?  In a target exactly one place does. */
bool gc_vars_have_shape(struct memory *memory, const uint8_t bytes[GC_VARS_SIZE]);

/** Take from @p bytes what needs no reading, but where it lies: gc->address. */
void gc_vars_take(const uint8_t bytes[GC_VARS_SIZE], struct gc_vars *gc);

/**
 * Read what they point to, after gc_vars_take().
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED a layout that is not known
 * @retval HD_ERR_FAULT
 */
HD_NODISCARD enum hd_status gc_vars_read(const struct target *target,
					 const uint8_t bytes[GC_VARS_SIZE], struct gc_vars *gc,
					 struct hd_error *err);
