/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_RAW_GRAPH_H
#define HEAPDUMP_SRC_FORMAT_RAW_GRAPH_H

#include "graph/heap_graph.h"

/**
 * Objects in any order, on their way into a graph.  Fill the arrays, then raw_graph_finish() sorts them
 * by id and moves them into a graph, whose types, domains, findings, info and arena are the caller's.
 */
struct raw_graph {
	uint32_t object_count;
	uint64_t edge_count;
	uint64_t *ids;            /**< pages, object_count */
	uint32_t *types;          /**< pages, object_count: of the graph's types, or: */
	const uint32_t *type_map; /**< borrowed: of the graph's types by types[]; NULL: the same */
	uint32_t *sizes;          /**< pages, object_count; SIZE_LARGE: in large */
	struct large_size *large; /**< pages; node is the index here, ascending */
	size_t large_count, large_capacity;
	uint32_t *degrees; /**< pages, object_count */
	uint32_t *targets; /**< pages, edge_count: the references of all objects, one behind the
				other, as indexes here; object_count + i: extra[i] of raw_graph_finish();
				HD_NONE: none, the reference is left out */
	/**
	 * If set, targets is only room: this gives the ids that references [begin, begin + count) are
	 * to, also on other threads; those of no object become missing nodes.
	 */
	void (*read_ids)(const void *arg, uint64_t begin, size_t count, uint64_t *ret);
	const void *read_arg;
	/** Objects with id 0, or that of another one before them, stay, under ids of their own. */
	bool keeps_repeated;
	bool ascends;    /**< the ids do, and none is 0: there is no need to look */
	bool all_inside; /**< no targets but indexes here: there is no need to look */
	/* made by raw_graph_finish(); NULL: the same */
	uint32_t *order; /**< pages: node -> index here */
	uint32_t *rank;  /**< pages, object_count: index here -> node */
};

/**
 * Allocate the arrays.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when it would pass the job's memory limit
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
 * Give @p graph ids, node_types, sizes, large, index, forward, the counts, and of its types count and
 * size; total_size.  Of objects with one id the first stays, and a finding "repeated-id" is added;
 * but see keeps_repeated, with its finding "synthetic-id".
 * Further ids that must be there as missing nodes, such as those of roots, are @p extra; any that
 * are those of objects, or repeated, do no harm.
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
 * Of raw->ids and raw->order, which are sorted and stay so: give ids of their own, the lowest numbers
 * that are none, to objects with id 0 or that of the one before; adds "synthetic-id" (for
 * raw_graph_finish()).
 */
HD_NODISCARD enum hd_status raw_graph_renumber(struct raw_graph *raw, struct hd_graph *graph,
					       struct hd_error *err);

/** A zeroed struct is allowed. */
void raw_graph_deinit(struct raw_graph *raw);

/** A root on its way into a graph. */
struct raw_root {
	uint64_t id;       /**< of an object, or of a missing node */
	uint64_t address;  /**< of its slot, as graph_root_detail has it; 0: not known */
	uint32_t declarer; /**< of statics: the type that declares it, index + 1; 0: by its name */
	uint8_t kind;      /**< enum hd_root_kind */
	uint8_t flags;     /**< of enum hd_root_flag */
	uint8_t handle;    /**< enum graph_handle */
	/** In the graph's root_arena: "Namespace.Type.field" of statics, or what it is; or NULL. */
	const char *name;
};

/** A type without objects on its way into a graph, for raw_graph_add_types(). */
struct raw_type {
	const char *name; /**< copied; never empty */
	uint32_t name_size;
	const char *module; /**< as graph_type has it */
};

/**
 * Add types that the file tells of by their names alone, as those that declare statics: behind all
 * that are there, in their order, with the lowest numbers that are no ids of types for ids.
 */
HD_NODISCARD enum hd_status raw_graph_add_types(struct hd_graph *graph,
						const struct raw_type *types, size_t count,
						struct hd_error *err);

/**
 * Give @p graph its roots and details: container is the static's declarer; without one the first type
 * whose name is what stands in the static's before its last dot outside of <>, which is added if there
 * is none.  Roots that say the same are marked; roots of missing nodes are a finding
 * "unresolved-root", and those of no node at all are left out.
 */
HD_NODISCARD enum hd_status raw_graph_roots(struct hd_graph *graph, const struct raw_root *roots,
					    size_t count, struct hd_error *err);

/** Mark each root that says what an earlier one says. */
HD_NODISCARD enum hd_status raw_graph_mark_repeated(struct hd_graph *graph, struct hd_error *err);

/**
 * Add up count and size of each type, and total_size.
 *
 * @param map If not NULL, node_types are indexes of it, and become what it has there.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_FORMAT a sum exceeds 64 bits; the message is of the file @p path, if there is one
 */
HD_NODISCARD enum hd_status raw_graph_count_types(struct hd_graph *graph, const uint32_t *map,
						  const char *path, struct job *job,
						  struct hd_error *err);

/** Add a finding to a graph that is being made; the detail is copied. */
HD_NODISCARD enum hd_status raw_graph_finding(struct hd_graph *graph, enum finding_kind kind,
					      uint64_t count, const char *detail,
					      struct hd_error *err);

#endif
