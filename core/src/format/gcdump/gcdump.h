/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_GCDUMP_H
#define HEAPDUMP_SRC_FORMAT_GCDUMP_H

#include "format/format.h"
#include "format/gcdump/gcdump_cint.h"

struct arena;

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
	int32_t size; /**< of its first node; -1: it has none */
	/* null in the file, and given here by the region of deferred types: */
	bool has_deferred_name, has_deferred_module;
};

/** A GCHeapDumpSegment; ends[] of generations 0 to 4, version 0 has no [4]. */
struct gcdump_segment {
	uint64_t start, end, ends[5];
};

/** A DotNetHeapInfo: where objects lie. */
struct gcdump_heap {
	bool is_there;
	int64_t bytes;                   /**< of all segments */
	int32_t version;                 /**< of the segments */
	struct gcdump_segment *segments; /**< pages */
	uint32_t segment_count;
};

/** How the objects were sampled: each stands for so many. */
struct gcdump_sampling {
	float average_count, average_size;
	const uint8_t *multipliers; /**< multiplier_count little-endian floats, by type */
	uint32_t multiplier_count;
};

/** An InteropInfo, which is not looked into. */
struct gcdump_interop {
	bool is_there;         /**< the tagged region is, its object may be null: */
	const uint8_t *fields; /**< as they are, or NULL */
	uint64_t size;
};

/** What a GCHeapDump has apart from its graph. */
struct gcdump_about {
	int32_t version, min_reader; /**< of the GCHeapDump */
	bool is_64bit, has_is_64bit; /**< the graph's */
	struct gcdump_sampling sampling;
	struct gcdump_heap heap;
	struct gcdump_text log, machine, process, tool;
	bool has_tool;
	int64_t time; /**< .NET ticks */
	int32_t process_id;
	int64_t commit, working_set;
	struct gcdump_interop interop;
};

/** A parsed file; everything but what is marked as pages lies in its bytes. */
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
	bool has_wide_counts;    /**< i64 in place of i32: some builds of 2022 */
	const uint8_t *deferred; /**< the region of deferred types as it is, the reference to its
				     end first; or NULL */
	uint64_t deferred_size;
	struct arena *arena;    /**< names of deferred types */
	bool is_cut;            /**< the file ends early: what stands behind its nodes is missing */
	bool lacks_records;     /**< and so does the end of the blob: blob_size is what is there */
	uint8_t *padded;        /**< pages: the addresses that there are, and zeros; or NULL */
	uint32_t address_count; /**< of a file that is cut among them */
	struct gcdump_about about;
};

/** A node's record. */
struct gcdump_record {
	uint32_t type;
	int32_t size;
	bool has_size; /**< in the record; if not it is the type's */
	uint32_t child_count;
	const uint8_t *children; /**< child_count differences from the node's index, as cint */
	const uint8_t *end;      /**< of the blob */
};

/**
 * Parse all but the node records; every count is checked against what is left of the file.
 *
 * @param bytes Borrowed until gcdump_deinit().
 * @retval HD_OK
 * @retval HD_ERR_FORMAT err->address is the offset
 * @retval HD_ERR_UNSUPPORTED of a newer version than there is
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status gcdump_parse(const uint8_t *bytes, uint64_t size, const char *path,
					 struct gcdump *ret, struct hd_error *err);

/**
 * The same of a file that may be cut among the records of its nodes or behind them: is_cut says that it
 * is.  Nodes whose addresses are missing have 0; their offsets may lie behind the blob.
 */
HD_NODISCARD enum hd_status gcdump_parse_cut(const uint8_t *bytes, uint64_t size, const char *path,
					     struct gcdump *ret, struct hd_error *err);
/** A zeroed struct is allowed. */
void gcdump_deinit(struct gcdump *gcdump);

/** The record at @p offset of the blob, checked but for its children; false if it is none. */
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

/** Does a file begin like one? (format.detect) */
bool gcdump_detect(const char *bytes, size_t size);
/** Read one into a graph (format.read). */
HD_NODISCARD enum hd_status gcdump_read(int fd, uint64_t size, const char *path,
					const struct format_options *options, struct job *job,
					struct hd_graph **ret, struct hd_error *err);
/** The same of bytes in memory, which the caller keeps. */
HD_NODISCARD enum hd_status gcdump_read_bytes(const uint8_t *bytes, uint64_t size, const char *path,
					      const struct format_options *options, struct job *job,
					      struct hd_graph **ret, struct hd_error *err);
/** Write a graph (format.write). */
HD_NODISCARD enum hd_status gcdump_write(const struct hd_graph *graph,
					 const struct write_options *options, struct job *job,
					 format_write_fn write, void *arg, struct hd_error *err);

/**
 * Write what the file @p path holds as a .gcdump without loss: a .gcdump byte for byte as it is, by
 * decoding and encoding it; a .nettrace as dotnet-gcdump converts it.
 *
 * @param fd The file is open as this descriptor, which stays the caller's; NULL: it is opened by @p path.
 * @retval HD_ERR_UNSUPPORTED it is neither of them
 */
HD_NODISCARD enum hd_status gcdump_copy(const char *path, const int *fd,
					const struct format_options *options, struct job *job,
					format_write_fn write, void *arg, struct hd_error *err);

/** Before the kind of each finding that our log of the collection keeps: kind, count, detail. */
#define GCDUMP_LOG_FINDING "heapdump: finding "

/** Does the log keep findings of @p kind? */
bool gcdump_is_logged(enum finding_kind kind);

#endif
