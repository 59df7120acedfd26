/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/type_map.h"

struct nativeaot;
struct text;

/** The names of a method, as records of the metadata (doc/nativeaot.md 4.5). */
struct method_row {
	uint64_t code;              /**< address of its first instruction */
	uint64_t table;             /**< MethodTable of its type; 0: see owner */
	struct native_handle owner; /**< its type */
	uint32_t name;              /**< offset of a string */
	uint32_t signature;         /**< offset of a MethodSignature; 0: not known */
	uint32_t arguments;         /**< offset of the list of its type arguments; 0: none */
};

/** The methods of a program that have names. */
struct method_map {
	struct method_row *rows; /**< ascending by code */
	size_t rows_count, rows_capacity;
	bool is_cut; /**< a table is not whole in the target, or damaged */
};

/**
 * Read the methods of the program with these tables; @p types is of the same program.
 *
 * @param[out] ret To be given to method_map_deinit(); untouched on failure.
 * @retval HD_OK also when the program has no such tables: then there are no rows
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status method_map_read(struct memory *memory, const struct ready_to_run *image,
					    const struct type_map *types, struct method_map *ret,
					    struct hd_error *err);
void method_map_deinit(struct method_map *map);

/** The method whose code begins at @p code; NULL: it has no name. */
const struct method_row *method_map_find(const struct method_map *map, uint64_t code);

/** Append "Ns.Type.Method<A>". */
void aot_method_name(struct nativeaot *aot, const struct method_row *row, struct text *text);
/** Append the same with its parameters, "(Int32, T)", as far as they are known. */
void aot_method_signature(struct nativeaot *aot, const struct method_row *row, struct text *text);
