/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

struct job;
struct text;

/** The part of a method that a function is. */
enum code_part {
	CODE_METHOD,
	CODE_CATCH, /**< this and the next: funclets */
	CODE_FINALLY,
	CODE_FILTER,
	CODE_FAULT,
	CODE_HANDLER, /**< a funclet of a kind that is not known */
	CODE_STUBS,   /**< no function: stubs of the runtime, one after the other, and their data */
};

/** A function of managed code: what has unwind codes of its own; or stubs, which have no frame. */
struct code_function {
	uint64_t begin, end;  /**< its code */
	uint64_t unwind_info; /**< address of its UNWIND_INFO, or of its LSDA; of stubs 0 */
	uint64_t image_base;  /**< what RVAs of unwind data are relative to */
	uint64_t
		method_desc; /**< 0: precompiled code whose method was never called, or that has no name */
	uint64_t
		module; /**< of such a method the Module and the row of MethodDef, if they are known; */
	uint32_t rid;   /**< else 0 */
	uint64_t start; /**< where the method's code begins; 0: not known */
	uint32_t
		mark; /**< a checksum that tells it from another one at its place: of dynamic methods, else 0 */
	uint8_t part;        /**< enum code_part */
	bool is_precompiled; /**< ReadyToRun, NativeAOT */
	bool is_native;      /**< of a NativeAOT program: native code, such as the runtime's own */
	bool is_apart;       /**< code that is not in the list lies between it and the one before */
};

/** Most functions that are listed. */
#define CODE_FUNCTIONS_MAX ((size_t)10 << 20)

/** Bytes of a target that tell which code it has: another function is there only if some of them are others. */
struct code_place {
	uint64_t address, size;
};

/** All such places. */
struct code_places {
	struct code_place *rows;
	size_t rows_count, rows_capacity;
	bool failed; /**< memory was exhausted: some are missing */
};

/** All functions of managed code, by address; none overlaps another. */
struct code_functions {
	struct code_function *rows;
	size_t rows_count, rows_capacity;
	uint64_t left_out; /**< functions that overlap others, or whose bounds are impossible */
	bool is_partial;   /**< a part of the tables of code could not be read */
	struct code_places places; /**< of the tables of code */
};

/**
 * List them: of CoreCLR (doc/coreclr.md 12.3, 12.12) what the JIT made, with IL stubs and dynamic methods, and everything
 * that the ReadyToRun images of the target have; of NativeAOT all functions of the program (doc/nativeaot.md 5.4).  Cost:
 * linear in the tables, and n log n for their order.
 *
 * @param[out] ret To be given to code_functions_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED another runtime, which does not keep them
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status code_functions_read(struct runtime *runtime, struct job *job,
						struct code_functions *ret, struct hd_error *err);
void code_functions_deinit(struct code_functions *functions);

/** Append a place, if @p places is not NULL; what was lost by lack of memory makes them fail. */
void code_places_add(struct code_places *places, uint64_t address, uint64_t size);

/**
 * Append, as call frame instructions of DWARF, how the frame of a function is undone at each of its instructions.
 *
 * @return false, and nothing is appended: that is not known, or cannot be said so
 */
bool code_function_rows(struct runtime *runtime, const struct code_function *function,
			struct text *ret);
