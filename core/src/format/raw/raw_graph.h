/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/**
 * Objects in any order, which become a graph.  Fill the arrays; then raw_graph_finish() sorts them
 * by id and moves them into a graph, for which the caller makes types, domains, findings, info and
 * arena.
 */
struct raw_graph {
	uint32_t object_count;
	uint64_t edge_count;
	uint64_t *ids;            /**< pages, object_count */
	uint32_t *types;          /**< pages, object_count: indices of the graph's types, or: */
	const uint32_t *type_map; /**< borrowed: gives the graph's type for each value of types[];
				   * NULL: they are the same */
	uint32_t *sizes;          /**< pages, object_count; SIZE_LARGE: in large */
	struct large_size *large; /**< pages; its node is an index in these arrays, ascending */
	size_t large_count, large_capacity;
	uint32_t *degrees; /**< pages, object_count */
	uint32_t *targets; /**< pages, edge_count: the references of all objects, one after the
			    * other, as indices in these arrays; object_count + i: extra[i] of
			    * raw_graph_finish(); HD_NONE: the reference is left out */
	/**
	 * If set, targets is only allocated, and this function gives the ids that references
	 * [begin, begin + count) lead to, also on other threads; ids without an object become
	 * missing nodes.
	 */
	void (*read_ids)(const void *arg, uint64_t begin, size_t count, uint64_t *ret);
	const void *read_arg;
	/** Objects with id 0, or with the id of an earlier one, are kept under new ids. */
	bool keeps_repeated;
	bool ascends;    /**< the ids ascend, and none is 0: this need not be checked */
	bool all_inside; /**< all targets are indices in these arrays: this need not be checked */
	/* made by raw_graph_finish(); NULL: the orders are the same */
	uint32_t *order; /**< pages: node -> index in these arrays */
	uint32_t *rank;  /**< pages, object_count: index in these arrays -> node */
};

/**
 * Allocate the arrays.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when it would exceed the job's memory limit
 */
HD_NODISCARD enum hd_status raw_graph_init(struct raw_graph *raw, uint32_t object_count,
					   uint64_t edge_count, struct job *job,
					   struct hd_error *err);

/** Change the number of references, before they are filled in. */
HD_NODISCARD enum hd_status raw_graph_set_edge_count(struct raw_graph *raw, uint64_t edge_count,
						     struct job *job, struct hd_error *err);

/** Set the size of an object. */
HD_NODISCARD bool raw_graph_set_size(struct raw_graph *raw, uint32_t index, uint64_t size);

/**
 * Give @p graph its ids, node_types, sizes, large, index, forward, the counts, count and size of
 * its types, and total_size.  If several objects have one id, the first stays, and a finding
 * "repeated-id" is added; but see keeps_repeated, with its finding "synthetic-id".  @p extra has
 * further ids that must exist as missing nodes, such as those of roots; it may contain ids of
 * objects and repeated ones.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED over 4 billion nodes
 * @retval HD_ERR_FORMAT all sizes together exceed 64 bits
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status raw_graph_finish(struct raw_graph *raw, const uint64_t *extra,
					     size_t extra_count, struct hd_graph *graph,
					     struct job *job, struct hd_error *err);

/**
 * In raw->ids and raw->order, which are sorted and stay so: give new ids, the lowest numbers that
 * are not used, to objects with id 0 or with the same id as the one before; adds "synthetic-id"
 * (for raw_graph_finish()).
 */
HD_NODISCARD enum hd_status raw_graph_renumber(struct raw_graph *raw, struct hd_graph *graph,
					       struct hd_error *err);

/** A zeroed struct is allowed. */
void raw_graph_deinit(struct raw_graph *raw);

/** A root that will be put into a graph. */
struct raw_root {
	uint64_t id;       /**< id of an object, or of a missing node */
	uint64_t address;  /**< address of its slot, as in graph_root_detail; 0: not known */
	uint32_t declarer; /**< for statics: index of the declaring type + 1; 0: the name tells */
	uint8_t kind;      /**< enum hd_root_kind */
	uint8_t flags;     /**< of enum hd_root_flag */
	uint8_t handle;    /**< enum graph_handle */
	/**
	 * In the graph's root_arena: "Namespace.Type.field" for statics, else what it is; or NULL.
	 */
	const char *name;
};

/** A type without objects that will be put into a graph, for raw_graph_add_types(). */
struct raw_type {
	const char *name; /**< copied; never empty */
	uint32_t name_size;
	const char *module; /**< as in graph_type */
};

/**
 * Add types of which the file only has the name, such as those that declare statics.  They come
 * after the existing types, in their order; their ids are the lowest numbers that no type has.
 */
HD_NODISCARD enum hd_status raw_graph_add_types(struct hd_graph *graph,
						const struct raw_type *types, size_t count,
						struct hd_error *err);

/**
 * Give @p graph its roots and details.  The container is the static's declarer; without one, it is
 * the first type whose name is the part of the static's name before the last dot outside of <>; if
 * no type has that name, it is added.  Roots that say the same are marked; roots of missing nodes
 * are a finding "unresolved-root", and roots without a node are left out.
 */
HD_NODISCARD enum hd_status raw_graph_roots(struct hd_graph *graph, const struct raw_root *roots,
					    size_t count, struct hd_error *err);

/** Where frozen objects lie, as the runtime says it. */
struct raw_frozen {
	uint64_t *starts, *ends; /**< mem; ascending, not overlapping */
	size_t count;
	bool is_known;
};

/**
 * For a graph whose roots a runtime has sent, which sends none for the objects of its frozen segments: give
 * each of them a root (HD_ROOT_GC) where they, or the generations, are known, else set origins.lacks_frozen.
 * Does nothing if the graph has such roots.  graph_use_ranges() and raw_graph_roots() come before.
 *
 * @param frozen NULL: the runtime has not said it.
 */
HD_NODISCARD enum hd_status raw_graph_frozen(struct hd_graph *graph,
					     const struct raw_frozen *frozen, struct hd_error *err);

/** Mark each root that says the same as an earlier one. */
HD_NODISCARD enum hd_status raw_graph_mark_repeated(struct hd_graph *graph, struct hd_error *err);

/**
 * Add up count and size of each type, and total_size.
 *
 * @param map If not NULL, node_types are indices in @p map, and are replaced by the values there.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_FORMAT a sum exceeds 64 bits; the message names the file @p path, if there is one
 */
HD_NODISCARD enum hd_status raw_graph_count_types(struct hd_graph *graph, const uint32_t *map,
						  const char *path, struct job *job,
						  struct hd_error *err);

/** Add a finding to a graph that is being made; the detail is copied. */
HD_NODISCARD enum hd_status raw_graph_finding(struct hd_graph *graph, enum finding_kind kind,
					      uint64_t count, const char *detail,
					      struct hd_error *err);
