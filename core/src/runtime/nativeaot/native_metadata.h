/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/native_format.h"

/** The kinds of records that names need (HandleType, src/coreclr/tools/Common/Internal/Metadata/NativeFormat). */
enum native_kind {
	NATIVE_ARRAY = 0x01,
	NATIVE_BY_REFERENCE = 0x02,
	NATIVE_FUNCTION_POINTER = 0x25,
	NATIVE_METHOD_VARIABLE = 0x2c,
	NATIVE_MODIFIED = 0x2d,
	NATIVE_NAMESPACE = 0x2f,
	NATIVE_NAMESPACE_REFERENCE = 0x30,
	NATIVE_POINTER = 0x32,
	NATIVE_SZ_ARRAY = 0x37,
	NATIVE_TYPE = 0x3a,
	NATIVE_INSTANCE = 0x3c,
	NATIVE_TYPE_REFERENCE = 0x3d,
	NATIVE_TYPE_SPECIFICATION = 0x3e,
	NATIVE_TYPE_VARIABLE = 0x3f,
};

/** A record: its kind, and its offset in the metadata. */
struct native_handle {
	uint32_t kind, offset;
};

/** The metadata of a program (doc/nativeaot.md 4.3). */
struct native_metadata {
	struct native_blob blob;
	unsigned int kind_bits; /**< of a handle: 8 in .NET 8 and 9, 7 since 10 */
};

/** Does the blob begin as metadata does? */
bool native_metadata_is_sound(const struct native_metadata *metadata);

/** The handle that a record has as the number @p value. */
struct native_handle native_handle_of(const struct native_metadata *metadata, uint32_t value);
/** The handle that tables outside of the metadata have as @p token. */
struct native_handle native_token_of(const struct native_metadata *metadata, uint32_t token);

/** Characters of UTF-8, not ended; borrowed from the metadata. */
struct native_string {
	const char *bytes;
	size_t size;
};

/** Longer names are cut. */
#define NATIVE_STRING_MAX 1024u

/** The string at @p offset; size is 0: it has none there. */
struct native_string native_string_at(const struct native_metadata *metadata, uint32_t offset);

/** Most types around a type, and most parts of a namespace. */
#define NATIVE_NESTING_MAX    32u
#define NATIVE_NAMESPACES_MAX 32u

/** A type with the types around it, and its namespace: outermost first. */
struct native_chain {
	struct native_string namespaces[NATIVE_NAMESPACES_MAX];
	size_t namespaces_count;
	struct native_string types[NATIVE_NESTING_MAX];
	size_t types_count;
};

/** The names of a TypeDefinition or TypeReference; false: it is none, or damaged. */
bool native_chain_read(const struct native_metadata *metadata, struct native_handle type,
		       struct native_chain *ret);

/** The signature of a method: a cursor to the handle of its return type, then its parameters. */
struct native_signature {
	uint32_t generics;           /**< how many type parameters it has */
	uint32_t parameters;         /**< how many */
	struct native_cursor cursor; /**< at the first parameter's handle */
};

/** Read the MethodSignature at @p offset; false: it is damaged. */
bool native_signature_read(const struct native_metadata *metadata, uint32_t offset,
			   struct native_signature *ret);
