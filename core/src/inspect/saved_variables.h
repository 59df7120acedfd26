/* SPDX-License-Identifier: MIT */
/* The arguments and locals that a suspended async method has in its Continuation (doc/coreclr.md 21.4). */
#pragma once

#include "runtime/coreclr/code/method_variables.h"

/** Empty when zero-initialised. */
struct saved_variables {
	struct method_variables method; /**< all of the method */
	uint32_t *
		offsets; /**< by variable: from the Continuation's address, or SAVED_NOWHERE; owned */
};

/**
 * Read which variables are saved at an await.
 *
 * @param place Of struct suspended; 0: nothing is known.
 * @param[out] ret To be given to saved_variables_deinit(); untouched on failure.
 * @retval HD_OK also when the runtime does not tell: no row is saved then
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status saved_variables_read(struct runtime *runtime, uint64_t place,
						 struct saved_variables *ret, struct hd_error *err);
void saved_variables_deinit(struct saved_variables *saved);

/** Is variable @p number saved, and in scope at the await? */
bool saved_variable_is_there(const struct saved_variables *saved, size_t number);

/** Append its name, or "local 3", "argument 0" where it has none. */
void saved_variable_name(const struct saved_variables *saved, size_t number, struct text *text);

/** How it is stored: an enum element_type; a word when its type is not known. */
uint8_t saved_variable_element(struct runtime *runtime, const struct saved_variables *saved,
			       size_t number);

/** Bytes that it takes in the Continuation. */
uint64_t saved_variable_size(struct runtime *runtime, const struct saved_variables *saved,
			     size_t number);
