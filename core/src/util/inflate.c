/* SPDX-License-Identifier: MIT */
#include "util/inflate.h"

#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#include "util/alloc.h"

/* Deflate without a header. */
#define RAW_WINDOW (-MAX_WBITS)

static void *take_memory(void *unused, unsigned int count, unsigned int size)
{
	(void)unused;
	return mem_alloc(count, size);
}

static void give_back_budget(void *unused, void *memory)
{
	(void)unused;
	mem_free(memory);
}

bool inflate_raw(const uint8_t *bytes, size_t size, uint8_t *ret, size_t ret_size)
{
	z_stream stream = { .zalloc = take_memory, .zfree = give_back_budget };
	if (size > UINT_MAX || ret_size > UINT_MAX || inflateInit2(&stream, RAW_WINDOW) != Z_OK)
		return false;
	stream.next_in = bytes;
	stream.avail_in = (unsigned int)size;
	stream.next_out = ret;
	stream.avail_out = (unsigned int)ret_size;
	int result = inflate(&stream, Z_FINISH);
	bool is_whole = result == Z_STREAM_END && !stream.avail_out;
	(void)inflateEnd(&stream);
	return is_whole;
}
