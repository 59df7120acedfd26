/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/field.h"

struct runtime_thread;

/** runtime_ops.fields of CoreCLR: by FieldDescs and metadata. */
HD_NODISCARD enum hd_status coreclr_fields(struct runtime *runtime, const struct type *type,
					   struct field_list *ret, struct hd_error *err);
/** Address of a static field's slot; 0 when its base is not allocated, or not known. */
uint64_t field_static_address(struct runtime *runtime, const struct field *field,
			      bool *ret_initialised);

/** Address of thread-static @p field for a thread; 0 when it is not allocated there, or not known. */
uint64_t field_thread_static_address(struct runtime *runtime, const struct field *field,
				     const struct runtime_thread *thread);

/** Has @p type a static constructor?  false also without metadata. */
bool type_has_static_constructor(struct runtime *runtime, const struct type *type);

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
