/* SPDX-License-Identifier: MIT */
/*
 * Numbers and hash tables in NativeFormat (doc/nativeaot.md 4.1; src/coreclr/tools/Common/Internal/NativeFormat/
 * NativeFormatReader.Primitives.cs, NativeFormatReader.cs).
 */
#include "runtime/nativeaot/native_format.h"

#include "mem/memory.h"
#include "util/alloc.h"

/* The first byte of a hash table: the low bits say how wide offsets are, the others how many buckets. */
#define WIDTH_BITS       2u
#define BUCKETS_LOG2_MAX 24u
/* A table with as many bytes is read in pieces, so that a wrong size costs nothing. */
#define PIECE ((size_t)64 << 10)

void native_blob_deinit(struct native_blob *blob)
{
	pages_free(blob->bytes, blob->capacity, 1);
	*blob = (struct native_blob){ 0 };
}

/* Room for one more piece; false: memory is exhausted. */
static bool grow(struct native_blob *blob, size_t size)
{
	size_t capacity = 2 * blob->capacity < PIECE ? PIECE : 2 * blob->capacity;
	if (capacity > size)
		capacity = size;
	uint8_t *bytes = pages_resize(blob->bytes, blob->capacity, capacity, 1);
	if (!bytes)
		return false;
	blob->bytes = bytes;
	blob->capacity = capacity;
	return true;
}

enum hd_status native_blob_read(struct memory *memory, uint64_t address, uint64_t size,
				struct native_blob *ret, struct hd_error *err)
{
	HD_CLEANUP(native_blob) struct native_blob blob = { .address = address };
	size_t most = (size_t)(size < NATIVE_BLOB_MAX ? size : NATIVE_BLOB_MAX);
	while (blob.size < most && !blob.is_cut) {
		if (blob.size == blob.capacity && !grow(&blob, most))
			return fail_nomem(err);
		size_t room = blob.capacity - blob.size;
		size_t got =
			memory_prefix(memory, address + blob.size, blob.bytes + blob.size, room);
		blob.size += got;
		blob.is_cut = got < room;
	}
	blob.is_cut = blob.size < size;
	*ret = blob;
	blob = (struct native_blob){ 0 };
	return HD_OK;
}

struct native_cursor native_cursor_at(const struct native_blob *blob, uint64_t offset)
{
	bool is_bad = offset > blob->size;
	return (struct native_cursor){ blob, is_bad ? 0 : (size_t)offset, is_bad };
}

const uint8_t *native_skip(struct native_cursor *cursor, size_t size)
{
	if (native_left(cursor) < size) {
		cursor->is_bad = true;
		return NULL;
	}
	/* An empty table has no bytes at all. */
	const uint8_t *bytes = cursor->blob->bytes;
	if (bytes)
		bytes += cursor->at;
	cursor->at += size;
	return bytes;
}

uint8_t native_u8(struct native_cursor *cursor)
{
	const uint8_t *bytes = native_skip(cursor, 1);
	return bytes ? *bytes : 0;
}

uint32_t native_u32(struct native_cursor *cursor)
{
	const uint8_t *bytes = native_skip(cursor, sizeof(uint32_t));
	return bytes ? load_u32(bytes) : 0;
}

/* How many bytes a number takes whose first byte is this; 0: it has more than 32 bits. */
static size_t number_size(uint8_t first)
{
	for (unsigned int ones = 0; ones < 5; ones++) {
		if (!(first >> ones & 1))
			return ones + 1;
	}
	return 0;
}

/* The bits of a number, and how many of them count. */
static uint32_t read_number(struct native_cursor *cursor, unsigned int *ret_bits)
{
	const uint8_t *bytes = native_left(cursor) ? cursor->blob->bytes + cursor->at : NULL;
	size_t size = bytes ? number_size(*bytes) : 0;
	*ret_bits = size == 5 ? 32 : 7 * (unsigned int)size;
	if (!size || !native_skip(cursor, size)) {
		cursor->is_bad = true;
		return 0;
	}
	if (size == 5)
		return load_u32(bytes + 1);
	uint32_t value = 0;
	for (size_t i = 0; i < size; i++)
		value |= (uint32_t)bytes[i] << 8 * i;
	return value >> size;
}

uint32_t native_unsigned(struct native_cursor *cursor)
{
	unsigned int bits;
	return read_number(cursor, &bits);
}

int32_t native_signed(struct native_cursor *cursor)
{
	unsigned int bits;
	uint32_t value = read_number(cursor, &bits);
	if (bits && bits < 32 && value >> (bits - 1) & 1)
		value |= UINT32_MAX << bits;
	return (int32_t)value;
}

uint64_t native_relative(struct native_cursor *cursor)
{
	uint64_t address = cursor->blob->address + cursor->at;
	return address + (uint64_t)(int64_t)(int32_t)native_u32(cursor);
}

/* The offset of bucket @p index in the blob; the last one is the end of all. */
static bool bucket_offset(const struct native_hash *hash, uint32_t index, size_t *ret)
{
	struct native_cursor cursor =
		native_cursor_at(hash->bucket.blob, hash->base + (uint64_t)index * hash->width);
	const uint8_t *bytes = native_skip(&cursor, hash->width);
	if (!bytes)
		return false;
	uint32_t offset = 0;
	memcpy(&offset, bytes, hash->width);
	*ret = hash->base + offset;
	return *ret <= hash->bucket.blob->size;
}

bool native_hash_begin(const struct native_blob *blob, struct native_hash *ret)
{
	struct native_cursor cursor = native_cursor_at(blob, 0);
	uint8_t head = native_u8(&cursor);
	unsigned int width = head & ((1u << WIDTH_BITS) - 1), log2 = head >> WIDTH_BITS;
	if (cursor.is_bad || width > 2 || log2 > BUCKETS_LOG2_MAX)
		return false;
	struct native_hash hash = {
		.bucket = cursor,
		.base = cursor.at,
		.buckets = (uint32_t)1 << log2,
		.width = 1u << width,
	};
	/* The first bucket begins after the list of offsets; each other where the one before ends. */
	if (!bucket_offset(&hash, 0, &hash.end))
		return false;
	hash.bucket.at = hash.end;
	*ret = hash;
	return true;
}

bool native_hash_next(struct native_hash *hash, struct native_cursor *ret)
{
	while (hash->bucket.at >= hash->end) {
		size_t end;
		if (hash->next == hash->buckets || !bucket_offset(hash, hash->next + 1, &end) ||
		    end < hash->end)
			return false;
		hash->bucket.at = hash->end;
		hash->end = end;
		hash->next++;
	}
	(void)native_u8(&hash->bucket); /* bits of the hash */
	struct native_cursor target = hash->bucket;
	int64_t distance = native_signed(&hash->bucket);
	if (hash->bucket.is_bad)
		return false;
	int64_t offset = (int64_t)target.at + distance;
	*ret = native_cursor_at(target.blob, offset < 0 ? UINT64_MAX : (uint64_t)offset);
	return true;
}
