/* SPDX-License-Identifier: MIT */
/* Reads the targets of a delegate, in the releases before 11 and since: doc/coreclr.md 20. */
#pragma once

#include "framework/member.h"

/** The words of a delegate object. */
struct delegate_words {
	uint64_t target, code, code_aux;
	uint64_t handlers, count; /**< see delegate_handlers_check() */
};

/**
 * Read them by a list of the delegate's fields.
 *
 * @return false when the names of the fields are not known, or a delegate of this framework has no
 * target or no code; the heap's ledger has what else it lacks, which is 0 then
 */
bool delegate_words_read(struct heap *heap, const struct object *object,
			 const struct field_list *fields, struct delegate_words *ret);

/** Only the handlers and their count; false when no field has them. */
bool delegate_handlers_read(struct members *members, const struct object *object,
			    struct delegate_words *ret);

/** The object whose method it calls; itself for a static method. */
struct member delegate_target(struct members *members, const struct object *object);

/**
 * Is @p array a list of at least @p count handlers: an array of references, or of structs of one
 * reference each?  Other delegates have other things in these words.
 */
bool delegate_handlers_check(const struct object *array, uint64_t count);
