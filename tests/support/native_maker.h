/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/nativeaot/native_metadata.h"
#include "support/fake_memory.h"

/** A table in NativeFormat that a test makes; no more than it has room for. */
struct native_maker {
	uint8_t bytes[8192];
	size_t size;
	unsigned int kind_bits; /**< of handles in metadata: 7 or 8 */
};

/** Append a number; with a sign. */
void native_put(struct native_maker *maker, uint32_t value);
void native_put_signed(struct native_maker *maker, int32_t value);
void native_put_u8(struct native_maker *maker, uint8_t value);
void native_put_u32(struct native_maker *maker, uint32_t value);

/** Begin metadata, whose handles have so many bits for the kind. */
void native_begin(struct native_maker *maker, unsigned int kind_bits);
/** As records have a handle; as tables outside have it. */
uint32_t native_value(const struct native_maker *maker, struct native_handle handle);
uint32_t native_token(const struct native_maker *maker, struct native_handle handle);
/** Append records; each returns its offset. */
uint32_t native_string(struct native_maker *maker, const char *text);
uint32_t native_namespace(struct native_maker *maker, struct native_handle parent,
			  const char *name);
uint32_t native_type(struct native_maker *maker, uint32_t space, uint32_t enclosing,
		     const char *name);
uint32_t native_type_reference(struct native_maker *maker, struct native_handle parent,
			       const char *name);
/** A signature {type}: SZArraySignature, TypeSpecification, ... */
uint32_t native_inner(struct native_maker *maker, struct native_handle inner);
/** A TypeInstantiationSignature. */
uint32_t native_instance(struct native_maker *maker, struct native_handle type,
			 const struct native_handle *arguments, size_t count);

/** A hash table with one bucket, whose entries are added one by one. */
struct native_hash_maker {
	struct native_maker entries; /**< the records of the entries */
	size_t offsets[64];
	size_t count;
};

/** The next entry is what is appended to hash->entries from now on. */
void native_hash_entry(struct native_hash_maker *hash);
/** Make the table of them. */
void native_hash_make(const struct native_hash_maker *hash, struct native_maker *ret);

/** Put the bytes at @p address. */
void native_map(const struct native_maker *maker, struct fake_memory *memory, uint64_t address);
/** Make it a blob; to be given to native_blob_deinit(). */
struct native_blob native_blob_of(const struct native_maker *maker);
