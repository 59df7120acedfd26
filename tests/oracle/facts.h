/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "gc/walk.h"

/** One run of the program. */
struct facts {
	uint64_t asked; /* the object whose values are written */
	FILE *out;
	struct runtime *runtime;
	struct heap *heap;
	struct window window;
	bool *seen; /**< types that have an object, by index */
	size_t seen_count;
	bool no_live;
};

/** Write the roots, and what is alive. */
enum hd_status write_roots(struct facts *facts, struct job *job, struct hd_error *err);
