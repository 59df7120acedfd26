/* SPDX-License-Identifier: MIT */
/* The methods of async nodes, whether the compiler made a state machine of them or the runtime suspends them. */
#pragma once

#include "analysis/graph/hash_index.h"
#include "framework/owns.h"
#include "runtime/type.h"

/** Two nodes with equal keys belong to the same method. */
struct async_method_key {
	const struct type *machine; /**< type of the state machine; NULL: the runtime suspends it */
	uint64_t method_desc;       /**< of a method that the runtime suspends; 0: not known */
	const struct type *owner;   /**< the instantiation that it is of: see suspended_owner() */
	uint64_t resume_info;       /**< where method_desc is not known: see inspect/suspended.h */
};

struct async_method {
	struct async_method_key key;
	char *name; /**< "Shop.Checkout.Place", owned; NULL: nobody has asked for it */
	char *code; /**< the name in metadata, "Shop.Checkout+<Place>d__5"; likewise */
	/** Whose it is, if has_owner: somebody has asked for it. */
	enum code_owner owner;
	bool has_owner;
};

/** Empty when zero-initialised. */
struct async_methods {
	struct async_method *rows;
	size_t rows_count, rows_capacity;
	struct hash_index index;
	struct async_method_key next; /**< that is looked for */
};

/** No method: memory is exhausted. */
#define ASYNC_NO_METHOD UINT32_MAX

/** The row of a method; a new one when there is none. */
uint32_t async_methods_add(struct async_methods *methods, struct async_method_key key);

/** The name that users know it by; of the type, or words in <>, where there is none.  NULL: no memory. */
const char *async_methods_name(struct async_methods *methods, struct runtime *runtime,
			       uint32_t row);

/** The name of its code in metadata, with the type that has it: "Shop.Cart+<Place>d__5", "Shop.Cart.Place". */
const char *async_methods_code(struct async_methods *methods, struct runtime *runtime,
			       uint32_t row);

/** Whose method it is. */
enum code_owner async_methods_owner(struct async_methods *methods, struct runtime *runtime,
				    uint32_t row);

void async_methods_deinit(struct async_methods *methods);
