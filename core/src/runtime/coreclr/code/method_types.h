/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/types/type_name.h"

/* The types in the signature of a method, for method_signature.c and method_variables.c. */

/** Kinds of signatures: the low four bits of the first byte (II.23.2, corhdr.h). */
#define SIGNATURE_VARARG   0x05u
#define SIGNATURE_FIELD    0x06u
#define SIGNATURE_LOCALS   0x07u
#define SIGNATURE_PROPERTY 0x08u
#define SIGNATURE_INSTANCE 0x0au
#define SIGNATURE_KIND     0x0fu
/** Its flags; of a generic method, a number of generic parameters follows. */
#define CALL_GENERIC       0x10u
#define CALL_HAS_THIS      0x20u
#define CALL_EXPLICIT_THIS 0x40u

/** A part of a signature that is read. */
struct signature {
	const uint8_t *at, *end;
};

bool signature_next_byte(struct signature *signature, uint8_t *ret);
bool signature_next_number(struct signature *signature, uint32_t *ret);
/** The same of a number with a sign, which is rotated by one bit (II.23.2). */
bool signature_next_signed(struct signature *signature, int32_t *ret);
/** Move past one type; false when it is cut, or nests too deep. */
bool signature_skip_type(struct signature *signature);

/** A signature that is not in metadata. */
#define STORED_SIZE_MAX 4096u
struct stored_signature {
	uint8_t bytes[STORED_SIZE_MAX];
};

/**
 * The signature of @p method: in its metadata, or of a dynamic method, which is copied to
 * @p stored.
 *
 * @param[out] ret Borrowed from one of them; untouched on failure.
 */
bool method_signature_find(struct runtime *runtime, const struct method *method,
			   struct stored_signature *stored, struct signature *ret);

/** Where the signature of @p method begins in the target; 0: not known. */
uint64_t method_signature_address(struct runtime *runtime, const struct method *method);

/** Arguments of a generic method that was instantiated; count 0: it is not one. */
struct type_arguments method_arguments(struct runtime *runtime, const struct method *method);

/**
 * Append the full name of the type at @p begin in the signature of @p method: generic parameters of
 * the type and the method are replaced by what they are there.
 */
void method_type_name(struct runtime *runtime, const struct method *method, const uint8_t *begin,
		      uint32_t size, struct text *text);
