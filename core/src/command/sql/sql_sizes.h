/* SPDX-License-Identifier: MIT */
/* Objects by type and size, for queries that ask for no more: GROUP BY type needs no sorter then. */
#pragma once

#include <stdbool.h>

#include <heapdump/error.h>

struct sql_object;
struct sql_sizes;
struct sql_source;

/**
 * Count all objects by type and size, with all workers.  Memory: 16 bytes for each pair of them, which
 * are few compared with the objects.
 *
 * @param is_weighted Those of one type and size are one row, and source->weight says how many they are.
 * @param[out] ret To be given to sql_sizes_close().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status sql_sizes_open(struct sql_source *source, bool is_weighted,
					   struct sql_sizes **ret);

/**
 * Each object once more, ascending by the name of its type: of those of one type and size the address
 * is not told.  NULL at the end.
 */
const struct sql_object *sql_sizes_next(struct sql_sizes *sizes);

/** NULL is allowed. */
void sql_sizes_close(struct sql_sizes *sizes);
