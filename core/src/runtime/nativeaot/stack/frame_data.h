/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct memory;
struct cfi_function;

/** The parts that a method's code has. */
enum aot_part {
	AOT_PART_METHOD,
	AOT_PART_HANDLER, /**< a catch, finally or fault handler */
	AOT_PART_FILTER,
};

/** The data that a function keeps in its LSDA (doc/nativeaot.md 5.1). */
struct aot_frame_data {
	enum aot_part part;
	uint64_t start;           /**< address of the method's code */
	uint64_t gc_info;         /**< address of its GCInfo */
	bool is_called_by_native; /**< native code calls the method */
};

/** Read the data of @p function; false: it has none, or it cannot be read. */
bool aot_frame_data_read(struct memory *memory, const struct cfi_function *function,
			 struct aot_frame_data *ret);
/** The same of the function that begins at @p begin and has its data at @p lsda. */
bool aot_frame_data_at(struct memory *memory, uint64_t begin, uint64_t lsda,
		       struct aot_frame_data *ret);
