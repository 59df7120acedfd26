/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/native_metadata.h"
#include "runtime/nativeaot/ready_to_run.h"

/** The record of a type, by its MethodTable. */
struct type_map_row {
	uint64_t method_table;
	struct native_handle
		type; /**< its TypeDefinition; TypeReference for one that only has a name */
};

/** The types of a program that have metadata (doc/nativeaot.md 4.2). */
struct type_map {
	struct native_metadata metadata;
	struct native_blob fixups; /**< section 308: addresses, which other tables name by index */
	struct type_map_row *rows; /**< ascending by method_table */
	size_t rows_count, rows_capacity;
	bool is_cut; /**< a table is not whole in the target, or damaged */
};

/**
 * Read the types of the program with these tables; none are left out because of a damaged one.
 *
 * @param[out] ret To be given to type_map_deinit(); untouched on failure.
 * @retval HD_OK also when the program has no such tables: then there are no rows
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status type_map_read(struct memory *memory, const struct ready_to_run *image,
					  struct type_map *ret, struct hd_error *err);
void type_map_deinit(struct type_map *map);

/** The record of the type at @p method_table; its offset is 0: it has none. */
struct native_handle type_map_type(const struct type_map *map, uint64_t method_table);
/** MethodTable of the type "Ns.Name", which no other type is around; 0: there is none. */
uint64_t type_map_find(const struct type_map *map, const char *name);
/** The address that other tables call @p index; 0: there is none. */
uint64_t type_map_address(const struct type_map *map, uint32_t index);
/** Read the table with that number; its size is 0 when the program does not have it.  @retval HD_ERR_NOMEM */
HD_NODISCARD enum hd_status native_table_read(struct memory *memory,
					      const struct ready_to_run *image,
					      enum ready_to_run_id id, struct native_blob *ret,
					      struct hd_error *err);
