/* SPDX-License-Identifier: MIT */
/* Objects in which the runtime keeps suspended async methods (doc/coreclr.md 21). */
#pragma once

#include "gc/walk.h"

struct text;

/** The content of a Continuation object. */
struct suspended {
	struct object object;
	uint64_t next;        /**< the Continuation of the method that awaits this one; 0: none */
	uint64_t resume_info; /**< address of what the compiler says of its await; 0: none */
	uint64_t place; /**< an address in the code of the method, at the await; 0: not known */
	uint64_t method_desc; /**< of that method; 0: not known */
	uint64_t data;        /**< address of the first saved variable */
	uint64_t context;     /**< saved SynchronizationContext that it goes on in; 0: none */
	uint32_t state;       /**< number of the await, from 0 */
	/** The framework wrote it by hand: it is not a method's, but says what the next one awaits. */
	bool is_head;
};

/**
 * Read a suspended method.
 *
 * @param object Of a type that derives from System.Runtime.CompilerServices.Continuation.
 * @return false when the runtime does not tell where its fields are, or the target lacks its bytes; @p ret is
 * untouched
 */
bool suspended_read(struct heap *heap, const struct object *object, struct suspended *ret);

/**
 * Several instantiations of a generic type may share the code of a method: find the one whose
 * method is suspended, by the saved "this"; NULL: the method has a type of its own, or that is not
 * known.
 */
const struct type *suspended_owner(struct heap *heap, const struct suspended *continuation);

/**
 * Append what a suspended method has in the slot at @p slot: "payload (of Shop.Checkout.Place)", and for a struct
 * "pair.First (of ...)".
 *
 * @return false, and nothing is appended, when the method is not known
 */
bool suspended_slot_append(struct text *text, struct heap *heap, const struct object *object,
			   uint64_t slot);

/**
 * Append "Shop.Cart+<>c.<Place>b__0": the method with its type as both are in metadata.
 *
 * @param owner The type that suspended_owner() found; NULL: the one that the method has.
 * @return false, and nothing is appended, when it is not a method
 */
bool async_code_append(struct text *text, struct runtime *runtime, uint64_t method_desc,
		       const struct type *owner);

/** Is it a method of the type with that full name? */
bool async_code_is_of(struct runtime *runtime, uint64_t method_desc, const char *type_name);

/** Append the name that users know it by, as async_method_append() does for state machines. */
bool async_code_append_name(struct text *text, struct runtime *runtime, uint64_t method_desc,
			    const struct type *owner);
