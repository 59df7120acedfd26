/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

/** Bytes of a FieldDesc (field.h), the same in 8, 9 and 10. */
#define FIELD_DESC_SIZE 16u
#define FIELD_RID_MASK  0x00ffffffu

/** Most fields of one class that are read: counts have 16 bits. */
#define CLASS_FIELDS_MAX 65536u

/** A FieldDesc. */
struct field_desc {
	uint32_t token;       /**< 0x04xxxxxx */
	uint32_t offset;      /**< instance field: relative to the first field; static field:
			       * relative to its base */
	uint8_t element_type; /**< enum element_type of the storage */
	bool is_static, is_thread_static, is_rva;
};

/** Decode FIELD_DESC_SIZE bytes; false when the field has no place (yet). */
bool field_desc_decode(const uint8_t *bytes, struct field_desc *ret);

/** How many fields a class has; its instance fields include those of its base classes. */
struct field_counts {
	uint32_t instance, statics;
};

bool field_counts_read(struct runtime *runtime, uint64_t ee_class, struct field_counts *ret);
