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

/**
 * Append the name that the runtime has for it: "Continuation_SIZE", the bytes of data, then
 * "_OFFSET_COUNT" for each row of references in the data.
 */
void continuation_name(const struct runtime *runtime, const struct type *type, struct text *text);
