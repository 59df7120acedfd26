/* SPDX-License-Identifier: MIT */
/* The bytes of an HPROF file on their way out: big endian, in records whose sizes come first. */
#pragma once

#include <string.h>

#include "format/format.h"
#include "format/hprof/hprof.h"

/** Bytes of an id in the files that are written. */
#define HPROF_ID 8u

/** The most bytes that hprof_room() gives at once. */
#define HPROF_ROOM ((size_t)1 << 16)

/** Largest record in a segment, which has 32 bits for its size. */
#define HPROF_SUB_MAX ((uint64_t)UINT32_MAX)

struct hprof_out {
	format_write_fn write;
	void *arg;
	uint8_t *bytes; /**< the buffer */
	size_t used;
	size_t segment; /**< where the header of the open segment is in it; SIZE_MAX: none is open */
	bool stopped;   /**< a write failed: nothing more is written */
};

/** HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status hprof_out_init(struct hprof_out *out, format_write_fn write, void *arg,
					   struct hd_error *err);
/** A zeroed struct is allowed. */
void hprof_out_deinit(struct hprof_out *out);

/** Write what is in the buffer, and end the open segment. */
void hprof_flush(struct hprof_out *out);

/** Begin a record of the file with @p size bytes, which must follow. */
void hprof_record(struct hprof_out *out, enum hprof_tag tag, uint32_t size);

/**
 * Begin a record in a segment: its tag and @p size bytes (less than HPROF_SUB_MAX), which must follow.  A segment is
 * begun where there is no room in the open one; a large record has one of its own.
 */
void hprof_sub(struct hprof_out *out, enum hprof_sub tag, uint64_t size);

/** Append @p size bytes (at most HPROF_ROOM) that the caller fills in. */
uint8_t *hprof_room(struct hprof_out *out, size_t size);

/** Append bytes as they are. */
void hprof_put(struct hprof_out *out, const void *bytes, size_t size);

/** Append @p size zeros. */
void hprof_zeros(struct hprof_out *out, uint64_t size);

static inline void store_u16(uint8_t *to, uint16_t value)
{
	value = __builtin_bswap16(value);
	memcpy(to, &value, sizeof(value));
}

static inline void store_u32(uint8_t *to, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void store_u64(uint8_t *to, uint64_t value)
{
	value = __builtin_bswap64(value);
	memcpy(to, &value, sizeof(value));
}

static inline void hprof_u8(struct hprof_out *out, uint8_t value)
{
	*hprof_room(out, 1) = value;
}

static inline void hprof_u16(struct hprof_out *out, uint16_t value)
{
	store_u16(hprof_room(out, sizeof(value)), value);
}

static inline void hprof_u32(struct hprof_out *out, uint32_t value)
{
	store_u32(hprof_room(out, sizeof(value)), value);
}

static inline void hprof_u64(struct hprof_out *out, uint64_t value)
{
	store_u64(hprof_room(out, sizeof(value)), value);
}
