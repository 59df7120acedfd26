/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/statics/static.h"

/* Where the static fields of a type lie: shared by static*.c and thread_static*.c. */

/**
 * Can @p type own slots of static fields?  An array, shared code and a generic definition cannot.
 */
bool type_has_slots(const struct type *type);

/**
 * Does a field with that storage lie at the GC base, because it is a reference or a boxed struct?
 */
bool element_is_gc_static(uint8_t element_type);

/** The addresses that a type's static fields are relative to; 0 = not allocated, or not known. */
struct static_bases {
	uint64_t gc, non_gc;
	bool gc_initialised, non_gc_initialised; /**< the class constructor has run to its end */
	bool is_broken; /**< the structure that says this cannot be read, or belongs to another
			 * type */
};
void static_bases_read(struct runtime *runtime, const struct type *type, struct static_bases *ret);

/**
 * The numbers by which a type's thread statics are found in every thread. 9 and later: TLSIndex
 * (threadstatics.h); 8: the number of the module, and that of the type in the module's table of
 * dynamic classes.
 */
struct thread_static_key {
	uint32_t gc, non_gc;      /**< TLSIndex; UINT32_MAX = none */
	uint32_t module, dynamic; /**< 8; UINT32_MAX = none */
	const struct type *type;
	bool is_dynamic; /**< 8: the member dynamic is needed, even if it is not known */
};
bool thread_static_key_read(struct runtime *runtime, const struct type *type,
			    struct thread_static_key *ret);

/** A thread's storage of thread statics. */
struct thread_storage {
	uint64_t address; /**< address of the ThreadLocalData; 8: of the table of
			   * ThreadLocalModules */
	uint64_t array, array_length;
	uint64_t collectible_array, collectible_count;
	uint64_t in_flight;
	bool is_broken; /**< all of it or a part cannot be right, and is left out */
};
/**
 * False when the thread has none, or when its place is not known; @p ret then says whether it is
 * broken.
 */
bool thread_storage_read(struct runtime *runtime, const struct runtime_thread *thread,
			 struct thread_storage *ret);

/**
 * The address that the offsets of thread statics are relative to in that thread; 0: not allocated
 * there.
 */
uint64_t thread_static_base(struct runtime *runtime, const struct thread_storage *storage,
			    const struct thread_static_key *key, bool is_gc);

/** Bytes of an array in front of its elements (object.h: ArrayBase). */
#define ARRAY_HEAD 16u

/**
 * .NET 8: the number of a type whose statics are in the module's tables of dynamic classes
 * (generics, Reflection.Emit, collectible types); false when it has none.
 */
bool dynamic_class_8(struct runtime *runtime, const struct type *type, uint64_t *ret);

/**
 * A row of such a table, which belongs to a DomainLocalModule or a ThreadLocalModule (appdomain.hpp
 * of 8).
 */
struct dynamic_entry {
	uint64_t address; /**< its first word leads to the slots of the GC statics */
	uint64_t gc;      /**< collectible: the first slot of the GC statics; 0 = none */
	uint64_t non_gc;  /**< the address that the offsets of other statics are relative to; 0 =
			   * none */
	uint32_t flags;   /**< ClassInitFlags */
	bool is_collectible;
};
bool dynamic_entry_8(struct runtime *runtime, const struct type *type, uint64_t table,
		     uint64_t index, struct dynamic_entry *ret);
