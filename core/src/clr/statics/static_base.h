/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_STATIC_BASE_H
#define HEAPDUMP_SRC_CLR_STATIC_BASE_H

#include "clr/statics/static.h"

/* Where static fields lie, by type: what static*.c and thread_static*.c share. */

/** Does @p type own slots of static fields: neither an array, nor shared code, nor a definition? */
bool type_has_slots(const struct type *type);

/** Does a field of that storage lie at the GC base: a reference, or one to a boxed struct? */
bool element_is_gc_static(uint8_t element_type);

/** What a type's static fields are relative to; 0 = not allocated, or not known. */
struct static_bases {
	uint64_t gc, non_gc;
	bool gc_initialised, non_gc_initialised; /**< the class constructor has run to its end */
	bool is_broken; /**< what says so cannot be read, or is of another type */
};
void static_bases_read(struct clr *clr, const struct type *type, struct static_bases *ret);

/**
 * What a type's thread statics have in every thread: 9 and later TLSIndex (threadstatics.h); 8 the
 * number of the module, and of the type in the module's table of dynamic classes.
 */
struct thread_static_key {
	uint32_t gc, non_gc;      /**< TLSIndex; UINT32_MAX = none */
	uint32_t module, dynamic; /**< 8; UINT32_MAX = none */
	const struct type *type;
	bool is_dynamic; /**< 8: dynamic counts, whether it is known or not */
};
bool thread_static_key_read(struct clr *clr, const struct type *type,
			    struct thread_static_key *ret);

/** A thread's storage of thread statics. */
struct thread_storage {
	uint64_t address; /**< of the ThreadLocalData; 8: of the table of ThreadLocalModules */
	uint64_t array, array_length;
	uint64_t collectible_array, collectible_count;
	uint64_t in_flight;
	bool is_broken; /**< a part of it, or all, cannot be what it should be: that is left out */
};
/** False when the thread has none, or it is not known where: then @p ret says whether it is broken. */
bool thread_storage_read(struct clr *clr, const struct clr_thread *thread,
			 struct thread_storage *ret);

/** What the offsets of thread statics count from in that thread; 0: not allocated there. */
uint64_t thread_static_base(struct clr *clr, const struct thread_storage *storage,
			    const struct thread_static_key *key, bool is_gc);

/** Bytes of an array before its elements (object.h: ArrayBase). */
#define ARRAY_HEAD 16u

/**
 * .NET 8: the number of a type whose statics are in the module's tables of dynamic classes
 * (generics, Reflection.Emit, collectible types); false when it has none.
 */
bool dynamic_class_8(struct clr *clr, const struct type *type, uint64_t *ret);

/** A row of such a table, of a DomainLocalModule or a ThreadLocalModule (appdomain.hpp of 8). */
struct dynamic_entry {
	uint64_t address; /**< its first word leads to the slots of the GC statics */
	uint64_t gc;      /**< collectible: their first slot; 0 = none */
	uint64_t non_gc;  /**< what offsets of the others count from; 0 = none */
	uint32_t flags;   /**< ClassInitFlags */
	bool is_collectible;
};
bool dynamic_entry_8(struct clr *clr, const struct type *type, uint64_t table, uint64_t index,
		     struct dynamic_entry *ret);

#endif
