/* SPDX-License-Identifier: MIT */
/* Event blobs of versions 4 and 6, with compressed headers and without (NetTraceFormat.md). */
#include "format/nettrace/nettrace_stream.h"

/* Bits of the first byte of a compressed header: which fields differ from the blob before. */
enum {
	HAS_METADATA = 1,
	HAS_SEQUENCE = 2,
	HAS_THREAD = 4,
	HAS_STACK = 8,
	HAS_ACTIVITY = 16, /* version 6: a list of labels */
	HAS_RELATED = 32,
	HAS_SIZE = 128
};

#define GUID_SIZE 16u
#define ID_BITS   0x7fffffffu /* bit 31: events up to here are sorted */

static bool read_compressed(struct nt_bytes *block, uint32_t version, struct nt_blob *blob)
{
	uint8_t flags = nt_u8(block);
	if (flags & HAS_METADATA)
		blob->metadata = nt_var(block);
	if (flags & HAS_SEQUENCE) {
		blob->sequence += (uint32_t)nt_var(block);
		blob->capture_thread = nt_var(block);
		(void)nt_var(block); /* processor */
	}
	/* Metadata blobs of version 4 have id 0 and no number. */
	if (blob->metadata || version >= 6)
		blob->sequence++;
	if (flags & HAS_THREAD)
		blob->thread = nt_var(block);
	if (flags & HAS_STACK)
		(void)nt_var(block);
	blob->time += nt_var(block);
	if (version >= 6) {
		if (flags & HAS_ACTIVITY)
			(void)nt_var(block);
	} else {
		if (flags & HAS_ACTIVITY)
			(void)nt_take(block, GUID_SIZE);
		if (flags & HAS_RELATED)
			(void)nt_take(block, GUID_SIZE);
	}
	if (flags & HAS_SIZE) {
		uint64_t size = nt_var(block);
		if (size > UINT32_MAX)
			return false;
		blob->size = (uint32_t)size;
	}
	blob->payload = nt_take(block, blob->size);
	return !block->is_short;
}

/*
 * The head of blobs that are not compressed; *@p at is moved past it, within their @p size bytes.
 */
static bool read_blob_head(struct nt_bytes *block, uint32_t size, struct nt_bytes *at,
			   struct nt_blob *blob)
{
	const uint8_t *begin = nt_take(block, size);
	if (!begin)
		return false;
	*at = nt_bytes(begin, size);
	blob->metadata = nt_u32(at) & ID_BITS;
	blob->sequence = nt_u32(at);
	blob->thread = nt_u64(at);
	blob->capture_thread = nt_u64(at);
	(void)nt_u64(at); /* processor, stack */
	blob->time = nt_u64(at);
	return true;
}

static bool read_blob_v4(struct nt_bytes *block, struct nt_blob *blob)
{
	uint32_t size = nt_u32(block);
	struct nt_bytes at;
	if (!read_blob_head(block, size, &at, blob))
		return false;
	(void)nt_take(&at, 2 * (uint64_t)GUID_SIZE);
	blob->size = nt_u32(&at);
	blob->payload = nt_take(&at, blob->size);
	if (at.is_short)
		return false;
	/* Padding up to a multiple of 4 in the block; the sizes before were also multiples. */
	uint64_t padding = (0 - (uint64_t)size) % 4;
	(void)nt_take(block, padding < nt_left(block) ? padding : nt_left(block));
	return true;
}

static bool read_blob_v6(struct nt_bytes *block, struct nt_blob *blob)
{
	struct nt_bytes at;
	if (!read_blob_head(block, nt_u32(block), &at, blob))
		return false;
	(void)nt_u32(&at); /* labels */
	blob->size = nt_u32(&at);
	blob->payload = nt_take(&at, blob->size);
	return !at.is_short;
}

bool nt_blob_read(struct nt_bytes *block, uint32_t version, bool is_compressed,
		  struct nt_blob *blob)
{
	if (is_compressed)
		return read_compressed(block, version, blob);
	return version >= 6 ? read_blob_v6(block, blob) : read_blob_v4(block, blob);
}
