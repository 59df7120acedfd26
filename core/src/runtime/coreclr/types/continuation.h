/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"
#include "util/text.h"

/*
 * The types of objects in which suspended methods keep what they need (11; doc/coreclr.md 7.3): the JIT
 * makes one for each shape of them. They have no metadata, and share one EEClass.
 */

/**
 * Is it such a type, whose EEClass @p ee_class names the MethodTable @p first?
 *
 * @param type Its MethodTable and flags are read.
 */
bool continuation_is(const struct runtime *runtime, const struct type *type, uint64_t ee_class,
		     uint64_t first);

/** Is @p type one that continuation_is() found? */
bool type_is_continuation(const struct runtime *runtime, const struct type *type);

/** The words that every continuation has (doc/coreclr.md 7.3). */
struct continuation_words {
	uint64_t next;        /**< the one that goes on after it, 0 = none */
	uint64_t resume_info; /**< address of its ResumeInfo, 0 = none */
	uint64_t data;        /**< address of its data */
	uint32_t state;
};
/** Read those of the object at @p address; false when the runtime has none, or they cannot be read. */
bool continuation_read(const struct runtime *runtime, uint64_t address,
		       struct continuation_words *ret);
/** How a method that waits hands its Continuation to its caller (doc/coreclr.md 21.6). */
struct continuation_return {
	bool is_known;        /**< the runtime has such methods */
	uint8_t number;       /**< of the register that has it; 0 there: the method does not wait */
	uint32_t resume_info; /**< offset of the address of its ResumeInfo */
	uint32_t place;       /**< offset in that of the address of the await */
};
void continuation_return_read(const struct runtime *runtime, struct continuation_return *ret);
/** Where a ResumeInfo has the address of the await; 0: not known. */
uint64_t resume_info_place(const struct runtime *runtime, uint64_t resume_info);

/**
 * Append the name that the runtime has for it: "Continuation_SIZE", the bytes of data, then
 * "_OFFSET_COUNT" for each row of references in the data.
 */
void continuation_name(const struct runtime *runtime, const struct type *type, struct text *text);
