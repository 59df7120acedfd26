/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_GRAPH_H
#define HEAPDUMP_GRAPH_H

#include <heapdump/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The objects of one heap, their types, references and roots; immutable.
 *
 * Nodes 0 .. hd_graph_object_count()-1 are the objects in ascending order of id.  After them, up to
 * hd_graph_node_count()-1, come the *missing* nodes: ids that references or roots name but that the
 * file does not define.  A NULL graph is empty: it has no objects, and every index is out of range.
 * A NULL ret or buf gives the same result as an index out of range.  Every function takes time O(1)
 * unless its comment says otherwise.
 */
struct hd_graph;

/** In place of the index of a node or type: there is none. */
#define HD_NONE UINT32_MAX

/** The kind of a root.  The numbers are those of root records in the RPM / XNA text format. */
enum hd_root_kind {
	HD_ROOT_INTERNAL = 0,  /**< a root of the runtime itself */
	HD_ROOT_STACK = 1,     /**< a local variable */
	HD_ROOT_FINALIZER = 2, /**< an object that waits on the finalizer queue */
	HD_ROOT_HANDLE = 3,    /**< a GC handle */
	HD_ROOT_STATIC = 4,    /**< a static variable; the root has a container */
	HD_ROOT_GC = 5, /**< a root of the collector itself: frozen objects, interned strings, class
		    * descriptions */
	HD_ROOT_THREAD_STATIC = 6, /**< a static variable of one thread; the text format has 4 for
				    * it */
};

/** Bits of hd_root.flags, as in the text format. */
enum hd_root_flag {
	HD_ROOT_PINNED = 1,
	HD_ROOT_WEAK = 2, /**< keeps nothing alive, whatever its kind is */
	HD_ROOT_INTERIOR = 4,
	/** A word on a stack that may be a reference; the text format calls it pinned. */
	HD_ROOT_CONSERVATIVE = 8,
};

/** One object. */
struct hd_object {
	uint64_t id;      /**< address or id, as the file gives it */
	uint64_t size;    /**< bytes; 0 for a missing node */
	uint32_t type;    /**< index for hd_graph_type(); HD_NONE for a missing node */
	uint32_t missing; /**< 1 when the file refers to the id but does not define it */
	uint64_t reference_count;
};

/** One type. */
struct hd_type {
	uint64_t id;
	const char *name; /**< not NUL-terminated, may hold any byte; NULL when the type is never
			   * defined */
	size_t name_size; /**< bytes */
	uint64_t object_count;
	uint64_t object_size; /**< bytes of all its objects */
};

/** One root record. */
struct hd_root {
	uint32_t node;
	uint32_t container; /**< type that declares the static variable, or HD_NONE */
	uint32_t kind;      /**< enum hd_root_kind */
	uint32_t flags;     /**< of enum hd_root_flag */
};

HD_API uint32_t hd_graph_object_count(const struct hd_graph *graph);
HD_API uint32_t hd_graph_node_count(const struct hd_graph *graph);
HD_API uint32_t hd_graph_type_count(const struct hd_graph *graph);
HD_API uint32_t hd_graph_root_count(const struct hd_graph *graph);
HD_API uint64_t hd_graph_reference_count(const struct hd_graph *graph);

/** Node that has the id, which may be a missing node, or HD_NONE.  Cost: at most O(log objects). */
HD_API uint32_t hd_graph_find(const struct hd_graph *graph, uint64_t id);

/** Fill @p ret; @return 0, or -1 and @p ret untouched when @p node is out of range. */
HD_API int hd_graph_object(const struct hd_graph *graph, uint32_t node, struct hd_object *ret);

/** Fill @p ret (its name is borrowed from the graph); @return 0, or -1 when out of range. */
HD_API int hd_graph_type(const struct hd_graph *graph, uint32_t type, struct hd_type *ret);

/** Fill @p ret; @return 0, or -1 when out of range. */
HD_API int hd_graph_root(const struct hd_graph *graph, uint32_t index, struct hd_root *ret);

/**
 * Copy references of @p node to @p buf, beginning with number @p first.
 *
 * @return how many were copied, at most @p capacity; 0 after the last.
 */
HD_API size_t hd_graph_references(const struct hd_graph *graph, uint32_t node, uint64_t first,
				  uint32_t *buf, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
