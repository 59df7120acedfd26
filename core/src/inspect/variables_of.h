/* SPDX-License-Identifier: MIT */
/* Objects that the compiler made a class for, to keep the variables of a method. */
#pragma once

#include <stddef.h>

struct runtime;
struct text;
struct type;

enum variables_kind {
	VARIABLES_NONE,    /**< no such class */
	VARIABLES_CALL,    /**< a call of an async method: a box with its state machine */
	VARIABLES_STATE,   /**< the state machine of an iterator or async method */
	VARIABLES_CLOSURE, /**< what lambdas and local functions of a method have captured */
};

/**
 * Append the method whose variables the objects of a type have, by the name that its code has: "Shop.Cart.Place".
 *
 * @param name,size The full name of the type.
 * @param type The same in the runtime, for the names of its lambdas are in metadata; NULL: it is not known.  Then, and where
 * it has none, lambdas are those of the class: "Shop.Cart".
 * @return VARIABLES_NONE, and nothing is appended, if they have no variables of a method
 */
enum variables_kind variables_of_append(struct text *text, struct runtime *runtime,
					const struct type *type, const char *name, size_t size);
