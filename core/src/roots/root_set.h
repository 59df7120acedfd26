/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/finalizer.h"
#include "gc/handles.h"
#include "runtime/statics.h"
#include "stack/stack.h"

/** Where a root comes from. */
enum root_source {
	ROOT_STACK,     /**< index: in the roots of stacks[stack] */
	ROOT_HANDLE,    /**< index: in handles */
	ROOT_STATIC,    /**< index: in statics; also thread statics */
	ROOT_FINALIZER, /**< index: in finalizers */
	ROOT_RUNTIME,   /**< held by a Thread or an exception record of the runtime: index in
			 * handles */
	ROOT_EXCEPTION, /**< in flight: index in the roots of stacks[stack] */
	/** The array with a thread's statics, which its ThreadLocalData holds (since .NET 9). */
	ROOT_THREAD_LOCALS,
};

/** Kinds of records of the runtime that hold a handle; later ones say more. */
enum handle_record {
	RECORD_THREAD,      /**< a word of its Thread */
	RECORD_EXCEPTION,   /**< an ExInfo: an exception in flight */
	RECORD_LAST_THROWN, /**< Thread.m_LastThrownObjectHandle */
};

/**
 * A root; its value lies in a segment of the heap.  Frozen objects, which are also roots, and
 * dependent handles, which are edges, are not listed.
 */
struct root {
	uint64_t value; /**< the value of the slot: may point inside an object if is_interior */
	uint32_t index, stack;
	uint8_t source; /**< enum root_source */
	bool is_weak, is_pinned, is_interior, is_conservative;
	uint8_t record;  /**< enum handle_record, for ROOT_RUNTIME */
	uint32_t thread; /**< index of runtime_thread_at(), or UINT32_MAX */
};

/** An edge that is not in an object: from a dependent handle. */
struct root_edge {
	uint64_t from, to;
};

/** All roots of a heap, and the edges that are not in objects. */
struct root_set {
	struct heap *heap; /**< borrowed */
	struct handle_list handles;
	struct finalizer_list finalizers;
	struct static_slots statics;
	struct thread_stack *stacks; /**< one per managed thread that has a stack */
	size_t stack_count, stack_capacity;
	bool is_conservative; /**< roots were taken conservatively, as asked for */
	/**
	 * In this order: stacks by thread, handles, statics by address, arrays of thread statics,
	 * finalizers.
	 */
	struct root *rows;
	size_t rows_count, rows_capacity;
	struct root_edge *edges; /**< ascending by from, then to */
	size_t edges_count, edges_capacity;
	/**
	 * Slots of object[]s that are roots themselves and not edges of their arrays: those of
	 * statics and thread statics that are not collectible (doc/coreclr.md 10.6).  Ascending.
	 */
	uint64_t *claimed;
	size_t claimed_count, claimed_capacity;
};

/**
 * Collect them.  Sources that are incomplete (a partial stack, a damaged handle table, ...) become
 * findings of the target: kinds "handle-table", "finalizer-queue", "statics", "partial-stack",
 * "missing-stack", "no-registers"; "bad-root": values that are not in the heap.
 *
 * @param[out] ret To be given to root_set_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status root_set_create(struct heap *heap, bool conservative, struct job *job,
					    struct root_set **ret, struct hd_error *err);
/** NULL is allowed. */
void root_set_destroy(struct root_set *roots);
