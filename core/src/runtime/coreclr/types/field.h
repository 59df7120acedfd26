/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

struct runtime_thread;

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

/** A field of a type; strings are owned by the list. */
struct field {
	char *name;                   /**< never NULL: <field 04000017> without metadata */
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
 * @retval HD_ERR_FAULT the EEClass or its FieldDescs cannot be read
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status field_list_read(struct runtime *runtime, const struct type *type,
					    struct field_list *ret, struct hd_error *err);
/** runtime_ops.fields of CoreCLR: by FieldDescs and metadata. */
HD_NODISCARD enum hd_status coreclr_fields(struct runtime *runtime, const struct type *type,
					   struct field_list *ret, struct hd_error *err);
void field_list_deinit(struct field_list *list);

/** First instance field with that name, base classes first; NULL when there is none. */
const struct field *field_by_name(const struct field_list *list, const char *name);

/** Is the name of @p field known, from metadata? */
bool field_is_named(const struct field *field);

/** Address of a static field's slot; 0 when its base is not allocated, or not known. */
uint64_t field_static_address(struct runtime *runtime, const struct field *field,
			      bool *ret_initialised);

/** Address of thread-static @p field for a thread; 0 when it is not allocated there, or not known. */
uint64_t field_thread_static_address(struct runtime *runtime, const struct field *field,
				     const struct runtime_thread *thread);

/** Has @p type a static constructor?  false also without metadata. */
bool type_has_static_constructor(struct runtime *runtime, const struct type *type);

/** Bytes of a value of @p element_type (1 to 8), 0 for structs. */
unsigned int element_size(uint8_t element_type);

/** Is a value of @p element_type a reference to an object? */
bool element_is_reference(uint8_t element_type);

/**
 * Append the name of the constant of @p type (an enum) with @p value ("A", "A | B"); false if there
 * is none.
 */
bool enum_name(struct runtime *runtime, const struct type *type, uint64_t value, char *buf,
	       size_t size);

/**
 * Call @p visit for each constant of @p type (an enum) with its name, borrowed, and its value, without a sign.  Cost: the
 * constants, or nothing if these are too many.
 */
void enum_constants(struct runtime *runtime, const struct type *type,
		    void (*visit)(void *arg, const char *name, uint64_t value), void *arg);

/**
 * Bytes that the fields of @p type take, base classes included: of a struct, its size (doc/coreclr.md 10.1).
 *
 * @return false when it cannot be read; *@p ret is untouched
 */
bool type_fields_size(struct runtime *runtime, const struct type *type, uint32_t *ret);
