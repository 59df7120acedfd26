/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "gc/layouts/handle_table.h"

/** A handle that is not null. */
struct handle {
	uint64_t address, object;
	/**
	 * Dependent: the object that @c object keeps alive; weak interior: the address of the
	 * pointer into it; variable: its kind; sized: bytes; cross reference: the client's context;
	 * else 0.
	 */
	uint64_t secondary;
	uint8_t type; /**< enum handle_type */
};

/** All handles, in the order of their tables. */
struct handle_list {
	struct handle *rows;
	size_t rows_count, rows_capacity;
	uint64_t *segments; /**< addresses of the tables' segments */
	size_t segments_count, segments_capacity;
	uint64_t broken; /**< segments and tables that were left out; each kind is also a
			    * finding */
};

/**
 * Read the handle tables (doc/coreclr.md 11.1; handletablepriv.h).  Damaged tables are left out,
 * with a finding "handle-table" of the target.
 *
 * @param[out] ret To be given to handle_list_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status handle_list_read(struct heap *heap, struct job *job,
					     struct handle_list *ret, struct hd_error *err);
void handle_list_deinit(struct handle_list *list);

/**
 * Does a handle of that type keep its object alive?  For a variable handle, handle_keeps_alive()
 * knows more.
 */
bool handle_is_strong(enum handle_type type);
/** Does this handle keep its object alive? */
bool handle_keeps_alive(const struct handle *handle);

/** The values of N that a table may have; that of the runtime's release comes first. */
struct handle_type_counts {
	unsigned int usual, other;
};
struct handle_type_counts handle_type_counts(const struct runtime *runtime);
