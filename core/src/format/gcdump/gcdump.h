/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"
#include "format/gcdump/gcdump_cint.h"

/*
 * A .gcdump file: a FastSerialization.1 stream whose entry object is a GCHeapDump (doc/formats.md 2;
 * TraceEvent's MemoryGraph.cs, GCHeapDump.cs).
 */

/** A text as the file has it: UTF-16 units in 1 to 3 bytes each. */
struct gcdump_text {
	const uint8_t *bytes; /**< NULL: a null string */
	uint32_t size;        /**< bytes */
	uint32_t units;       /**< UTF-16 units */
};

/** A type of a MemoryGraph. */
struct gcdump_type {
	struct gcdump_text name, module;
	int32_t size; /**< size of its first node; -1: it has no node */
	/* null in the file; filled in here from the region of deferred types: */
	bool has_deferred_name, has_deferred_module;
};

/** A GCHeapDumpSegment; ends[] of generations 0 to 4, version 0 has no [4]. */
struct gcdump_segment {
	uint64_t start, end, ends[5];
};

/** A DotNetHeapInfo: where objects lie. */
struct gcdump_heap {
	bool is_there;
	int64_t bytes;                   /**< total of all segments */
	int32_t version;                 /**< version of the segments */
	struct gcdump_segment *segments; /**< pages */
	uint32_t segment_count;
};

/** How the objects were sampled: each one represents a number of objects. */
struct gcdump_sampling {
	float average_count, average_size;
	const uint8_t *multipliers; /**< multiplier_count little-endian floats, by type */
	uint32_t multiplier_count;
};

/** An InteropInfo, which is not looked into. */
struct gcdump_interop {
	bool is_there;         /**< the tagged region exists; its object may be null: */
	const uint8_t *fields; /**< its bytes, not decoded, or NULL */
	uint64_t size;
};

/** The parts of a GCHeapDump besides its graph. */
struct gcdump_about {
	int32_t version, min_reader; /**< versions of the GCHeapDump */
	bool is_64bit, has_is_64bit; /**< members of the graph */
	struct gcdump_sampling sampling;
	struct gcdump_heap heap;
	struct gcdump_text log, machine, process, tool;
	bool has_tool;
	int64_t time; /**< .NET ticks */
	int32_t process_id;
	int64_t commit, working_set;
	struct gcdump_interop interop;
};

/** About a file that ends early: what comes after its nodes is missing. */
struct gcdump_cut {
	bool is_cut;
	bool lacks_records;     /**< the end of the blob is missing, too: blob_size is what the file
				 * has of it */
	uint8_t *padded;        /**< pages: the addresses that the file has, then zeros; or NULL */
	uint32_t address_count; /**< how many addresses a file has that ends among them */
};

/** A parsed file; everything that is not marked as pages lies in the file's bytes. */
struct gcdump {
	const uint8_t *bytes;
	uint64_t size;
	const char *path; /**< borrowed, for messages */
	int64_t total_size;
	uint32_t root;
	struct gcdump_type *types; /**< pages, type_count */
	uint32_t type_count;
	const uint8_t *offsets; /**< node_count little-endian u32, unaligned: into the blob */
	const uint8_t *blob;
	const uint8_t *addresses; /**< node_count little-endian u64, unaligned */
	uint32_t node_count, blob_size;
	bool has_wide_counts;    /**< counts are i64 instead of i32: some builds of 2022 */
	const uint8_t *deferred; /**< the bytes of the region of deferred types, which begins with
				  * the reference to its end; or NULL */
	uint64_t deferred_size;
	struct arena *arena; /**< names of deferred types */
	struct gcdump_cut cut;
	struct gcdump_about about;
};

/** A node's record. */
struct gcdump_record {
	uint32_t type;
	int32_t size;
	bool has_size; /**< the record has a size; if not, it is that of the type */
	uint32_t child_count;
	const uint8_t *children; /**< child_count differences from the node's index, as cint */
	const uint8_t *end;      /**< end of the blob */
};

/**
 * Parse everything except the node records; every count is checked against the rest of the file.
 *
 * @param bytes Borrowed until gcdump_deinit().
 * @retval HD_OK
 * @retval HD_ERR_FORMAT err->address is the offset
 * @retval HD_ERR_UNSUPPORTED a version newer than all that are known
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status gcdump_parse(const uint8_t *bytes, uint64_t size, const char *path,
					 struct gcdump *ret, struct hd_error *err);

/**
 * The same for a file that may end among the records of its nodes or after them: is_cut says so.
 * Nodes whose addresses are missing have 0; their offsets may be outside the blob.
 */
HD_NODISCARD enum hd_status gcdump_parse_cut(const uint8_t *bytes, uint64_t size, const char *path,
					     struct gcdump *ret, struct hd_error *err);
/** A zeroed struct is allowed. */
void gcdump_deinit(struct gcdump *gcdump);

/**
 * Decode the record at @p offset of the blob and check it, except its children; false if it is not
 * a record.
 */
__attribute__((always_inline)) static inline bool gcdump_record(const struct gcdump *gcdump,
								uint32_t offset,
								struct gcdump_record *ret)
{
	if (offset >= gcdump->blob_size)
		return false;
	const uint8_t *end = gcdump->blob + gcdump->blob_size;
	int32_t type, children;
	const uint8_t *at = gcdump_cint(gcdump->blob + offset, end, &type);
	if (!at || type < 0 || (uint32_t)type >> 1 >= gcdump->type_count)
		return false;
	ret->type = (uint32_t)type >> 1;
	ret->has_size = type & 1;
	ret->size = gcdump->types[ret->type].size;
	if (ret->has_size)
		at = gcdump_cint(at, end, &ret->size);
	if (at)
		at = gcdump_cint(at, end, &children);
	if (!at || children < 0 || children > end - at)
		return false;
	ret->child_count = (uint32_t)children;
	ret->children = at;
	ret->end = end;
	return true;
}

/** Bytes before the entry object. */
#define GCDUMP_HEAD_SIZE 24u

/** Does a file begin like a .gcdump?  (format.detect) */
bool gcdump_detect(const char *bytes, size_t size);
/** Read a .gcdump into a graph (format.read). */
HD_NODISCARD enum hd_status gcdump_read(const struct dump_input *input,
					const struct format_options *options, struct job *job,
					struct hd_graph **ret, struct hd_error *err);
/** The same for bytes in memory, which the caller keeps. */
HD_NODISCARD enum hd_status gcdump_read_bytes(const struct dump_input *input,
					      const struct format_options *options, struct job *job,
					      struct hd_graph **ret, struct hd_error *err);
/** Write a graph (format.write). */
HD_NODISCARD enum hd_status gcdump_write(const struct hd_graph *graph,
					 const struct write_options *options, struct job *job,
					 format_write_fn write, void *arg, struct hd_error *err);

/**
 * Write the content of a file as a .gcdump without loss: a .gcdump is decoded and encoded
 * to the same bytes; a .nettrace is converted as dotnet-gcdump does it.
 *
 * @retval HD_ERR_UNSUPPORTED it is neither format
 */
HD_NODISCARD enum hd_status gcdump_copy(const struct dump_input *input,
					const struct format_options *options, struct job *job,
					format_write_fn write, void *arg, struct hd_error *err);

/**
 * The text in front of each finding in our log of the collection: its kind, count and detail
 * follow.
 */
#define GCDUMP_LOG_FINDING "heapdump: finding "

/** Does the log contain findings of @p kind? */
bool gcdump_is_logged(enum finding_kind kind);
