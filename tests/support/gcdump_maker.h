/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uchar.h>

/** Texts are UTF-16; NULL is a null string. */
struct made_gcdump_type {
	const char16_t *name;
	int32_t size; /**< -1: that of its first node */
	const char16_t *module;
};

#define MADE_CHILDREN 8u
/** For .children of a node. */
#define CHILDREN1(a)    .children = { a }, .child_count = 1
#define CHILDREN2(a, b) .children = { a, b }, .child_count = 2

struct made_gcdump_node {
	uint32_t type;
	int32_t size;
	uint64_t address;
	uint32_t children[MADE_CHILDREN];
	uint32_t child_count;
	bool is_undefined; /**< it has no record */
};

struct made_gcdump_segment {
	uint64_t start, end, ends[5];
};

/** Its heap, when it has segments. */
struct made_gcdump_heap {
	const struct made_gcdump_segment *segments;
	uint32_t segment_count;
	int32_t version;
};

/** How its objects are said to be sampled. */
struct made_gcdump_sampling {
	float average_count; /**< 0: 1 */
	const float *multipliers;
	uint32_t multiplier_count;
};

/** A text and numbers about the process. */
struct made_gcdump_process {
	const char16_t *name, *machine;
	int64_t time;
	int32_t id;
};

/** A .gcdump file; all pointers are borrowed. */
struct made_gcdump {
	const struct made_gcdump_type *types;
	const struct made_gcdump_node *nodes;
	uint32_t type_count, node_count, root;
	int32_t version;     /**< of the GCHeapDump; 0: 10 */
	int32_t min_reader;  /**< 0: 8, or that of old versions */
	int width;           /**< 32, 64; 0: the file does not tell */
	bool is_wide;        /**< 8 bytes for the counts of nodes and addresses */
	bool has_deferred;   /**< types whose name is NULL are 0x1000 + index of the module */
	bool has_interop;    /**< an RCW, a CCW, an interface and a module */
	bool has_more_items; /**< tagged items of all kinds after those that are known */
	int64_t total_error; /**< added to the sum of sizes */
	struct made_gcdump_heap heap;
	struct made_gcdump_sampling sampling;
	struct made_gcdump_process process;
	const char16_t *log, *tool;
};

/** Its bytes, of which it says how many; to be given to free(). */
uint8_t *gcdump_make(const struct made_gcdump *spec, size_t *ret_size);
