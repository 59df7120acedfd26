/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_GCDUMP_READING_H
#define HEAPDUMP_SRC_FORMAT_GCDUMP_READING_H

#include "format/gcdump/fast_serialization.h"
#include "format/gcdump/gcdump.h"
#include "format/gcdump/gcdump_cint.h"
#include "format/gcdump/gcdump_starts.h"
#include "format/raw/raw_graph.h"
#include "util/bitmap.h"

/** Nodes that gcdump_numbers.shifts tells of together. */
#define GCDUMP_BLOCK 256u

struct text;

/** In map: an undefined node with an address, whose number in missing are the other bits. */
#define GCDUMP_MISSING 0x80000000u

/** A pseudo-node: one of those that the roots hang from. */
struct gcdump_pseudo_node {
	uint32_t node;
	uint32_t parent; /**< in tree; of the first itself */
};

/** The nodes that stand for no object: in the tree of roots, where no reference of an object leads. */
struct gcdump_pseudo_nodes {
	uint64_t *nodes;                 /**< bitmap of them */
	struct gcdump_pseudo_node *tree; /**< pages: the root, then parents before children */
	size_t tree_count, tree_capacity;
};

/** The nodes that are only named, or whose record is no good. */
struct gcdump_undefined {
	bool is_zero; /**< the record at 0 is that of UNDEFINED, which all those named share */
	uint64_t *
		bad; /**< bitmap of nodes whose record is damaged, or not there; NULL: not looked */
	uint64_t lost; /**< of them those whose record the end of the file cuts off */
};

/**
 * Which object each node is, and which node an object.  Objects are first numbered in the order of
 * nodes; if their addresses do not ascend so, they are numbered again, by address (gcdump_sort()).
 */
struct gcdump_numbers {
	size_t blocks; /**< of GCDUMP_BLOCK nodes */
	uint32_t
		*shifts; /**< pages, of each block: all of them are objects, in raw at node - shift;
				HD_NONE: map tells */
	uint32_t *firsts; /**< pages, of each block: objects before it */
	/** Consecutive nodes that are consecutive objects, most of them in a file of one order. */
	uint32_t main_node, main_object, main_count;
	uint32_t *map; /**< pages, node_count: index in raw, GCDUMP_MISSING, or HD_NONE */
	uint32_t *
		order; /**< raw.types, which are the nodes of objects by address until their records are
				read; NULL: they ascend with their nodes, and there is no need of it */
	struct gcdump_starts starts; /**< with an order */
	uint64_t *missing;           /**< pages: addresses of undefined nodes */
	size_t missing_count, missing_capacity;
};

/** What the records of objects add up to. */
struct gcdump_sums {
	int64_t total_size; /**< of all nodes, as they are in the file */
	uint64_t cut_sizes; /**< objects whose size is negative */
};

/** A .gcdump on its way into a graph: the stages of gcdump_read.c fill it from top to bottom. */
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
	uint8_t *used;          /**< pages, type_count: objects are of the type */
	uint32_t *type_map;     /**< pages, type_count: type of the graph */
	struct raw_root *roots; /**< pages; before raw_graph_finish() id is what map says */
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

/** Is a node only named, or damaged? */
static inline bool gcdump_is_undefined(const struct gcdump *file,
				       const struct gcdump_undefined *undefined, uint32_t node)
{
	return (undefined->is_zero && !gcdump_offset(file, node)) ||
	       (undefined->bad && bitmap_has(undefined->bad, node));
}

/** HD_ERR_FORMAT: the record of @p node is no good. */
enum hd_status gcdump_bad_record(const struct gcdump_reading *reading, uint32_t node);

/** Where a node is in raw, GCDUMP_MISSING and its number in missing, or HD_NONE. */
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

/** The node of an object, while there is no order. */
uint32_t gcdump_node_of(const struct gcdump_numbers *numbers, uint32_t object);

/**
 * Make raw of the records of all objects, and the types.
 *
 * @param[out] ret_met_pseudo Do objects refer to pseudo-nodes?
 */
HD_NODISCARD enum hd_status gcdump_read_nodes(struct gcdump_reading *reading, bool *ret_met_pseudo);

/** Find the pseudo-nodes. */
HD_NODISCARD enum hd_status gcdump_find_pseudo(struct gcdump_reading *reading);

/**
 * Make objects of those that objects refer to.
 *
 * @param[out] ret_found Were there any?
 */
HD_NODISCARD enum hd_status gcdump_check_pseudo(struct gcdump_reading *reading, bool *ret_found);

/** Collect the roots that the pseudo-nodes are. */
HD_NODISCARD enum hd_status gcdump_collect_roots(struct gcdump_reading *reading);

/**
 * Append the name of a type as the heap's types are named: "Dictionary<A,B[]> (Bytes > 1K)" becomes
 * "Dictionary<A, B[]>", "[]c" "<>c".
 */
void gcdump_type_name(struct text *text, const char *name, size_t size);
/** Did another tool write the file, and are names to be those of the heap? */
bool gcdump_is_foreign(const struct gcdump_reading *reading);

/**
 * Give the graph the types of its objects; fills type_map.  Those that are of one name and module are
 * one, unless names stay as they are.
 */
HD_NODISCARD enum hd_status gcdump_make_types(struct gcdump_reading *reading);

/** Give the objects whose size the format has no room for the one that the log tells. */
HD_NODISCARD enum hd_status gcdump_true_sizes(struct gcdump_reading *reading);

/** Give the graph its domain, info, and findings about all of the file. */
HD_NODISCARD enum hd_status gcdump_make_info(struct gcdump_reading *reading);

/**
 * A text of the file as UTF-8 in @p arena, with a NUL behind it and U+FFFD for each one in it;
 * surrogates without their other half are three bytes each.
 */
HD_NODISCARD bool gcdump_utf8(struct arena *arena, const struct gcdump_text *text, char **ret,
			      uint32_t *ret_size);

/** The next child of a record: a node, or HD_NONE when there is none at *@p at. */
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

#endif
