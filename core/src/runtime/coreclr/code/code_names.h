/* SPDX-License-Identifier: MIT */
/* Finds the classes that the code of a method names: it may use their static variables. */
#pragma once

#include "runtime/type.h"

/** Whether a name is one of those that are looked for: bits of its own for each. */
struct code_search {
	uint64_t (*match)(const void *arg, const char *name);
	const void *arg;
};

/**
 * All bits of the members that the IL of a method names ("Shop.Mailer.Outbox"), of its MethodDesc;
 * UINT64_MAX: its code is not there, so it may name any.  Cost: linear in the code.
 */
uint64_t code_names_of_method(struct runtime *runtime, uint64_t method_desc,
			      const struct code_search *search);
/** The same for the code of an async method, by the type of its state machine. */
uint64_t code_names_of_machine(struct runtime *runtime, const struct type *machine,
			       const struct code_search *search);
