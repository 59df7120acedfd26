/* SPDX-License-Identifier: MIT */
#include "clr/layouts/handle_table.h"

#include "clr/features.h"

/* The number of types without cross references. */
#define TYPES_OLD 12u

struct handle_type_counts handle_type_counts(const struct clr *clr)
{
	return clr_has(clr, CLR_CROSS_REFERENCES)
		       ? (struct handle_type_counts){ HANDLE_TABLE_TYPES_MAX, TYPES_OLD }
		       : (struct handle_type_counts){ TYPES_OLD, HANDLE_TABLE_TYPES_MAX };
}
