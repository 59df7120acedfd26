/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/field.h"

struct text;

/** A list of fields that grows. */
struct field_rows {
	struct field_list list; /**< to be given to field_list_deinit() */
	size_t capacity;
};

/** Add a field; takes @p name and @p type_name.  @return false: memory is exhausted */
bool field_rows_add(struct field_rows *rows, const struct field *field, struct text *name,
		    struct text *type_name);

/** The name of the type of numbers that have that element type; "": it is none. */
const char *field_element_name(uint8_t element);
