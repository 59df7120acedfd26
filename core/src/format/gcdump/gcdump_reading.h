/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/gcdump/fast_serialization.h"
#include "format/gcdump/gcdump.h"
#include "format/gcdump/gcdump_cint.h"
#include "format/gcdump/gcdump_starts.h"
#include "format/raw/raw_graph.h"
#include "util/bitmap.h"

/** How many nodes share one element of gcdump_numbers.shifts. */
#define GCDUMP_BLOCK 256u

/**
 * A bit in map: it is an undefined node with an address; the other bits are its number in missing.
 */
#define GCDUMP_MISSING 0x80000000u

/** A pseudo-node: a node of the tree whose leaves are the roots. */
struct gcdump_pseudo_node {
	uint32_t node;
	uint32_t parent; /**< its parent's index in tree; for the first node, its own */
};

/** The nodes that are not objects: those in the tree of roots to which no object refers. */
struct gcdump_pseudo_nodes {
	uint64_t *nodes;                 /**< bitmap of them */
	struct gcdump_pseudo_node *tree; /**< pages: the root, then parents before children */
	size_t tree_count, tree_capacity;
};

/** The nodes that are only mentioned, or whose record is damaged. */
struct gcdump_undefined {
	bool is_zero;  /**< the record at 0 is that of UNDEFINED, which all mentioned nodes share */
	uint64_t *bad; /**< bitmap of nodes whose record is damaged or missing; NULL: not checked */
	uint64_t lost; /**< how many of these the end of the file cuts off */
};

/**
 * Which object each node is, and which node each object is.  Objects are first numbered in the
 * order of nodes; if their addresses do not ascend in this order, they are numbered again, by
 * address (gcdump_sort()).
 */
struct gcdump_numbers {
	size_t blocks;    /**< number of blocks of GCDUMP_BLOCK nodes */
	uint32_t *shifts; /**< pages, for each block: if all its nodes are objects, they are in raw
			  * at (node - shift); HD_NONE: see map */
	uint32_t *firsts; /**< pages, for each block: how many objects come before it */
	/**
	 * Consecutive nodes that are consecutive objects: most nodes, if the file has only one
	 * order.
	 */
	uint32_t main_node, main_object, main_count;
	uint32_t *map;   /**< pages, node_count: index in raw, GCDUMP_MISSING, or HD_NONE */
	uint32_t *order; /**< this is raw.types: until records are read, it holds the nodes of the
		        * objects by address; NULL: addresses ascend in the order of nodes, so it is
		        * not needed */
	struct gcdump_starts starts; /**< used if there is an order */
	uint64_t *missing;           /**< pages: addresses of undefined nodes */
	size_t missing_count, missing_capacity;
};

/** Sums over the records of objects. */
struct gcdump_sums {
	int64_t total_size; /**< sizes of all nodes, as the file has them */
	uint64_t cut_sizes; /**< objects whose size is negative */
};

/**
 * A .gcdump that is being made into a graph: the stages of gcdump_read.c fill it from top to
 * bottom.
 */
struct gcdump_reading {
	struct gcdump file;
	bool lenient;
	bool exact; /**< names of types stay as they are */
	struct job *job;
	struct hd_error *err;
	struct hd_graph *graph;
	struct gcdump_undefined undefined;
	struct gcdump_pseudo_nodes pseudo;
	struct gcdump_numbers numbers;
	struct raw_graph raw;
	struct gcdump_sums sums;
	uint8_t *used;          /**< pages, type_count: whether the type has objects */
	uint32_t *type_map;     /**< pages, type_count: type of the graph */
	struct raw_root *roots; /**< pages; before raw_graph_finish(), id is what map says */
	size_t roots_count, roots_capacity;
};

static inline uint64_t gcdump_address(const struct gcdump *file, uint32_t node)
{
	return load_u64(file->addresses + (size_t)node * 8);
}

static inline uint32_t gcdump_offset(const struct gcdump *file, uint32_t node)
{
	return load_u32(file->offsets + (size_t)node * 4);
}

/** Is a node only mentioned, or damaged? */
static inline bool gcdump_is_undefined(const struct gcdump *file,
				       const struct gcdump_undefined *undefined, uint32_t node)
{
	return (undefined->is_zero && !gcdump_offset(file, node)) ||
	       (undefined->bad && bitmap_has(undefined->bad, node));
}

/** HD_ERR_FORMAT: the record of @p node is damaged. */
enum hd_status gcdump_bad_record(const struct gcdump_reading *reading, uint32_t node);

/** The index of a node in raw; or GCDUMP_MISSING with its number in missing; or HD_NONE. */
static inline uint32_t gcdump_object(const struct gcdump_numbers *numbers, uint32_t node)
{
	uint32_t shift = numbers->shifts[node / GCDUMP_BLOCK];
	return shift != HD_NONE ? node - shift : numbers->map[node];
}

/**
 * Number the objects in the order of nodes, and collect the addresses of undefined nodes: fills map
 * and missing; makes raw.
 */
HD_NODISCARD enum hd_status gcdump_number(struct gcdump_reading *reading);

/** Number them again, by address: fills map, order and the ids of raw. */
HD_NODISCARD enum hd_status gcdump_sort(struct gcdump_reading *reading);

/** The node of an object; only while there is no order. */
uint32_t gcdump_node_of(const struct gcdump_numbers *numbers, uint32_t object);

/**
 * Fill raw and the types from the records of all objects.
 *
 * @param[out] ret_met_pseudo Whether objects refer to pseudo-nodes.
 */
HD_NODISCARD enum hd_status gcdump_read_nodes(struct gcdump_reading *reading, bool *ret_met_pseudo);

/** Find the pseudo-nodes. */
HD_NODISCARD enum hd_status gcdump_find_pseudo(struct gcdump_reading *reading);

/**
 * Turn the pseudo-nodes that objects refer to into objects.
 *
 * @param[out] ret_found Whether there were any.
 */
HD_NODISCARD enum hd_status gcdump_check_pseudo(struct gcdump_reading *reading, bool *ret_found);

/** Collect the roots that the pseudo-nodes describe. */
HD_NODISCARD enum hd_status gcdump_collect_roots(struct gcdump_reading *reading);

/** Did another tool write the file, and shall names be changed to those of the heap? */
bool gcdump_is_foreign(const struct gcdump_reading *reading);

/**
 * Give the graph the types of its objects; fills type_map.  Those that the
 * large objects of a type have become that type, unless names stay as they are.
 */
HD_NODISCARD enum hd_status gcdump_make_types(struct gcdump_reading *reading);

/** A text of the file as UTF-8 in the graph's arena; NULL if it is null or empty. */
HD_NODISCARD enum hd_status gcdump_keep_text(struct gcdump_reading *reading,
					     const struct gcdump_text *text, const char **ret);

/** Give the objects whose size is too large for the format the size that the log has. */
HD_NODISCARD enum hd_status gcdump_true_sizes(struct gcdump_reading *reading);

/** Give the graph its domain, info, and findings about the whole file. */
HD_NODISCARD enum hd_status gcdump_make_info(struct gcdump_reading *reading);

/**
 * A text of the file as UTF-8 in @p arena, followed by a NUL, with U+FFFD in place of each NUL in
 * it; each surrogate without its other half becomes three bytes.
 */
HD_NODISCARD bool gcdump_utf8(struct arena *arena, const struct gcdump_text *text, char **ret,
			      uint32_t *ret_size);

/** The next child of a record, at *@p at: a node, or HD_NONE when there are no more. */
static inline uint32_t gcdump_child(const uint8_t **at, const uint8_t *end, uint32_t node,
				    uint32_t node_count)
{
	int32_t difference;
	const uint8_t *next = gcdump_cint(*at, end, &difference);
	if (!next)
		return HD_NONE;
	*at = next;
	uint32_t child = node + (uint32_t)difference;
	return child < node_count ? child : HD_NONE;
}
