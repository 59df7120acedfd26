/* SPDX-License-Identifier: MIT */
/* The types of a heap by what their objects retain. */
#pragma once

#include "findings/facts.h"

/** A type with live objects. */
struct type_row {
	uint32_t type;
	uint64_t objects, bytes; /**< live */
	uint64_t retained;       /**< see retained_types() */
	uint64_t dead;           /**< bytes of objects that nothing keeps alive */
};

/** The types that retain most, and the sums of the others. */
struct type_rows {
	struct type_row *rows; /**< most retained first */
	size_t count, capacity;
	uint64_t left_types, left_objects, left_bytes;
};

/**
 * @param most At most that many rows.
 * @param[out] ret To be given to type_rows_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status type_rows_init(struct type_rows *ret, const struct report_facts *facts,
					   size_t most, struct hd_error *err);
void type_rows_deinit(struct type_rows *rows);
