/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/method.h"

/**
 * Goes through the MethodDescs that a type declares, in the order of its chunks (doc/coreclr.md
 * 12.12).  Instantiations of generic methods are not among them.
 */
struct method_list {
	struct runtime *runtime;
	const struct type *type; /**< the canonical one */
	uint64_t chunk;          /**< 0: the end */
	uint32_t left;           /**< methods of the chunk that are still to come */
	uint32_t unit, units;    /**< place in the chunk and its end, in units of 8 bytes */
	uint32_t chunks;         /**< how many were begun: limited */
	bool is_broken;          /**< a part could not be read: methods are missing */
};

/** Begin with the methods of @p type; an array or a type whose EEClass is not known has none. */
void method_list_begin(struct method_list *list, struct runtime *runtime, const struct type *type);
/**
 * The next method; false at the end, and where the list cannot be read further (is_broken).
 *
 * @param[out] ret Untouched on failure.
 */
bool method_list_next(struct method_list *list, struct method *ret);

/**
 * An async method that the runtime suspends has two MethodDescs of one token (11): is it the one that makes a Task, and has
 * none of the method's own code?
 */
bool method_is_async_thunk(const struct runtime *runtime, const struct method *method);

/**
 * The MethodDesc of the MethodDef @p token of the type, by its chunks, of two the one with the method's own code; 0: none.
 * Cost: linear in the type's methods.
 */
uint64_t method_of_token(struct runtime *runtime, const struct type *type, uint32_t token);

/**
 * The content of slot @p slot of the type's vtable: code or a stub; 0: there is no such slot, or it
 * cannot be read.
 */
uint64_t vtable_entry(struct runtime *runtime, const struct type *type, uint32_t slot);
/**
 * Where a call of the method goes: what its slot holds, code or a stub (MethodDesc::GetMethodEntryPoint).
 *
 * @return 0: it has no such slot yet, or the slot cannot be read
 */
uint64_t method_entry(struct runtime *runtime, const struct method *method);
/** Where the precode at @p entry jumps to; @p entry itself if it is not a precode. */
uint64_t method_entry_target(struct runtime *runtime, uint64_t entry);

/** Where a method was compiled to. */
struct method_body {
	uint64_t method_desc;
	uint64_t start;
	bool is_precompiled; /**< ReadyToRun; else the JIT made it */
};

/**
 * All code of methods that the runtime knows: all that the JIT made, and what of the ReadyToRun
 * images was called at least once.  Sorted by method, then by address.
 */
struct method_bodies {
	struct method_body *rows;
	size_t rows_count, rows_capacity;
	bool is_partial; /**< a part of the tables of code could not be read */
};

/**
 * Read them out of the tables of code (doc/coreclr.md 12.3, 12.12).  Cost: linear in the tables.
 *
 * @param[out] ret To be given to method_bodies_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED another runtime, which does not keep them
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status method_bodies_read(struct runtime *runtime, struct job *job,
					       struct method_bodies *ret, struct hd_error *err);
void method_bodies_deinit(struct method_bodies *bodies);
/** The bodies of @p method_desc: index of the first, and how many. */
size_t method_bodies_of(const struct method_bodies *bodies, uint64_t method_desc,
			size_t *ret_count);
/**
 * Which of the bodies of @p method runs when it is called: the only one, or the one that its entry
 * leads to, or else its slot for native code; NULL: none, or it is not known.
 */
const struct method_body *method_body_current(struct runtime *runtime,
					      const struct method_bodies *bodies,
					      const struct method *method);
