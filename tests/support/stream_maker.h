/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/text.h"

/** Makes a NetTrace stream, version 4, as a runtime sends it. */
struct stream_maker {
	struct text bytes;   /**< the stream; to be given to text_deinit() */
	struct text content; /**< of the block that is open */
	uint64_t thread;     /**< that sends the next events; 7 at first */
};

/** Metadata ids that stream_maker_begin() defines, of provider Microsoft-Windows-DotNETRuntime. */
enum {
	MADE_GC_START = 1,
	MADE_GC_END,
	MADE_NODES,
	MADE_EDGES,
	MADE_OTHER, /**< GCEnd's number, of another provider */
};

/** Header, Trace, and the metadata of the above. */
void stream_maker_begin(struct stream_maker *maker);
/** Begin a block whose blobs have compressed headers. */
void stream_maker_block(struct stream_maker *maker);
/** An event with a whole header, of @p size payload bytes whose first words are @p a and @p b. */
void stream_maker_event(struct stream_maker *maker, unsigned int metadata, uint32_t sequence,
			uint32_t a, uint32_t b, uint32_t size);
/** End the block and append it as one of that name: "EventBlock". */
void stream_maker_end_block(struct stream_maker *maker, const char *name);
/** An SPBlock about one thread. */
void stream_maker_point(struct stream_maker *maker, uint64_t thread, uint32_t sequence);
/** The end of the stream. */
void stream_maker_end(struct stream_maker *maker);
