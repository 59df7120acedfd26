/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

/** CorElementType (corhdr.h; ECMA-335 II.23.1.16). */
enum element_type {
	ELEMENT_VOID = 0x01,
	ELEMENT_BOOLEAN,
	ELEMENT_CHAR,
	ELEMENT_I1,
	ELEMENT_U1,
	ELEMENT_I2,
	ELEMENT_U2,
	ELEMENT_I4,
	ELEMENT_U4,
	ELEMENT_I8,
	ELEMENT_U8,
	ELEMENT_R4,
	ELEMENT_R8,
	ELEMENT_STRING,
	ELEMENT_POINTER,
	ELEMENT_BYREF,
	ELEMENT_VALUE,
	ELEMENT_CLASS,
	ELEMENT_VAR,
	ELEMENT_ARRAY,
	ELEMENT_GENERIC_INST,
	ELEMENT_TYPED_BYREF,
	ELEMENT_I = 0x18,
	ELEMENT_U,
	ELEMENT_FUNCTION_POINTER = 0x1b,
	ELEMENT_OBJECT,
	ELEMENT_SZ_ARRAY,
	ELEMENT_MVAR,
	/* Only in signatures: a type follows, but for ELEMENT_INTERNAL. */
	ELEMENT_MODREQ,
	ELEMENT_MODOPT,
	ELEMENT_INTERNAL,    /**< a TypeHandle of the runtime follows */
	ELEMENT_MODINTERNAL, /**< a byte and a TypeHandle follow */
	ELEMENT_SENTINEL = 0x41,
	ELEMENT_PINNED = 0x45
};

/** How the name of a field begins that has none, because nothing in the target names it. */
#define FIELD_UNNAMED "<field "

/** A field of a type; strings are owned by the list. */
struct field {
	char *name;                   /**< never NULL: <field 04000017> when nothing names it */
	char *type_name;              /**< generics substituted; "" when unknown */
	const struct type *type;      /**< NULL: not loaded, or not known */
	const struct type *declaring; /**< the type that declares it */
	uint32_t token;               /**< 0x04xxxxxx */
	uint32_t offset;      /**< instance field: relative to the first field (address + 8); static
			  * field: relative to its base */
	uint8_t element_type; /**< enum element_type of the storage */
	bool is_static, is_thread_static, is_rva;
};

/** Fields of a type, base classes first, instance fields before statics of each class. */
struct field_list {
	struct field *rows;
	size_t count;
};

/**
 * Read the fields of @p type.
 *
 * @param[out] ret To be given to field_list_deinit(); untouched on failure.
 * @retval HD_OK also for types without fields
 * @retval HD_ERR_FAULT what describes them cannot be read
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status field_list_read(struct runtime *runtime, const struct type *type,
					    struct field_list *ret, struct hd_error *err);
void field_list_deinit(struct field_list *list);

/** First instance field with that name, base classes first; NULL when there is none. */
const struct field *field_by_name(const struct field_list *list, const char *name);

/** Is the name of @p field known, from metadata? */
bool field_is_named(const struct field *field);

/** Bytes of a value of @p element_type (1 to 8), 0 for structs. */
unsigned int element_size(uint8_t element_type);

/** Is a value of @p element_type a reference to an object? */
bool element_is_reference(uint8_t element_type);
