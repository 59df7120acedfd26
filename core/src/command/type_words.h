/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/**
 * Find the types that words and options of @p call name in place of an id: of each such value, number is the
 * type's id then.  What the command needs must be there.
 *
 * Cost: each type's name once for each such word.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND no type is called so; the message has similar names
 * @retval HD_ERR_ARGUMENT several types are called so: the message has their ids
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status call_find_types(struct call *call);

/**
 * Where nothing was found by a part of a type's name: is there a type with it?  Cost: each type's name.
 *
 * @retval HD_OK there is: it has no objects
 * @retval HD_ERR_NOTFOUND there is not; the message has similar names
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status call_check_pattern(const struct call *call, const char *part);

/** The same for the whole name of a type, or a pattern: name_is(). */
HD_NODISCARD enum hd_status call_check_name(const struct call *call, const char *name);

/** The same as call_check_pattern() for the options of a command that has found nothing. */
HD_NODISCARD enum hd_status call_check_patterns(const struct call *call);

/** Is @p word the name of a type rather than an expression of a debugger: with a point or type arguments? */
bool word_is_type_name(const char *word);
