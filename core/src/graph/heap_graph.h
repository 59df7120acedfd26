/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <heapdump/graph.h>

#include "graph/csr.h"
#include "graph/id_index.h"
#include "graph/root.h"
#include "graph/short_names.h"
#include "util/fail.h"
#include "util/finding_kind.h"
#include "util/job.h"

/** Whose type it is, by its module. */
enum type_owner {
	TYPE_OWNER_UNKNOWN, /**< only its name, or the name of its module's file, tells */
	TYPE_OF_FRAMEWORK,
	TYPE_OF_PROGRAM,
};

/** One type.  All names are in the graph's arena. */
struct graph_type {
	uint64_t id;
	const char *name;   /**< NULL: never defined (a finding); never empty */
	uint32_t name_size; /**< bytes */
	uint32_t domain;    /**< section that the id belongs to */
	const char *module; /**< path of its assembly, ends with NUL; NULL: not known */
	uint64_t count;     /**< objects */
	uint64_t size;      /**< bytes of all objects */
	uint8_t owner;      /**< enum type_owner */
};

/** One AppDomain section.  Every graph has at least one; it is empty if the dump file has none. */
struct graph_domain {
	const char *name; /**< NULL: not known */
	uint32_t name_size;
	uint32_t version;
	uint64_t start, end; /**< timestamps, milliseconds */
	bool has_start, has_end;
};

/** Something that `info` reports about the input: a count, and its first place. */
struct graph_finding {
	enum finding_kind kind;
	uint64_t count;
	uint64_t line; /**< line of the first one; 0 = it is not about a line */
	char *detail;  /**< one line, owned by the graph */
};

/** Addresses of one generation: 0, 1, 2, 3 (large), 4 (pinned). */
struct graph_range {
	uint64_t start, end;
	unsigned int generation;
};

/** About the process that has the heap; texts end with NUL and are in the graph's arena. */
struct graph_info {
	const char *process, *machine; /**< name of its executable; NULL: not known */
	const char *command;           /**< the command line; NULL: not known */
	const char *
		program; /**< name of the assembly that began, or of its executable; NULL: not known */
	const char *tool; /**< what made the dump file; NULL: not known */
	uint64_t pid;     /**< 0: not known */
	/**
	 * 100 ns since 0001-01-01 in the machine's local time, for a .nettrace in UTC; 0: not
	 * known.
	 */
	uint64_t time;
	bool is_32bit;
	bool is_partial;            /**< the file lacks objects: a finding says so */
	struct graph_range *ranges; /**< pages; ascending, not overlapping */
	size_t range_count;
};

/** An object of SIZE_LARGE bytes or more; the table is sorted by node. */
struct large_size {
	uint32_t node;
	uint64_t size;
};

/** Marks such an object in hd_graph.sizes. */
#define SIZE_LARGE UINT32_MAX

struct arena;
struct text;

/**
 * How nodes are found when their ids are not stored: for a heap, by the rank of the object starts.
 */
struct graph_places {
	uint64_t (*id)(const void *arg, uint32_t node);
	/**
	 * Ids of @p count nodes, beginning with @p first, faster than one by one; NULL: not
	 * available.
	 */
	void (*ids)(const void *arg, uint32_t first, uint64_t *ret, size_t count);
	/** First node whose id is at least @p id; object_count when there is none. */
	uint32_t (*lower_bound)(const void *arg, uint64_t id);
	/**
	 * Append how object @p from refers to @p to: ".field", "[3]", ".items[2].key", "
	 * (dependent handle)"; appends nothing when that is not known.
	 */
	void (*link)(const void *arg, uint32_t from, uint32_t to, struct text *text);
	/** Generation: 0, 1, 2, 3 (large), 4 (pinned), 5 (frozen); NULL: not known. */
	unsigned int (*generation)(const void *arg, uint32_t node);
	/**
	 * Size of the object, while graph->sizes does not exist; slower, and only for one thread at
	 * a time.
	 */
	uint64_t (*size)(const void *arg, uint32_t node);
	/**
	 * Make graph->forward with sizes and large, or graph->reverse, which must not exist yet;
	 * the first of them makes node_types.
	 */
	enum hd_status (*forward)(struct hd_graph *graph, struct job *job, struct hd_error *err);
	enum hd_status (*reverse)(struct hd_graph *graph, struct job *job, struct hd_error *err);
	void (*destroy)(void *arg);
	void *arg;
};

/** About the roots of a graph, besides the records of them. */
struct graph_origins {
	struct graph_root_detail *details; /**< one per root; NULL: the file does not have them */
	bool has_slots;    /**< for a dump file: some roots have the address of a slot */
	bool lacks_frozen; /**< for a dump file: frozen objects have no roots, and which ones
			    * they are is not known */
	struct graph_thread *threads;
	struct graph_frame *frames;
	size_t thread_count, frame_count;
	struct arena *arena; /**< owns the texts of details, threads, frames */
};

/** Objects of SIZE_LARGE bytes or more. */
struct graph_large {
	struct large_size *rows;
	size_t count;
};

/** The AppDomain sections of a dump file. */
struct graph_domains {
	struct graph_domain *rows;
	uint32_t count;
};

/** Findings about the input. */
struct graph_findings {
	struct graph_finding *rows;
	size_t count;
	struct short_names short_names; /**< findings with is_of_names say why */
};

/**
 * Immutable when a builder returns it; only what is marked as cache changes later.  Per object:
 * types 4, sizes 4, forward 4, reverse 4 bytes (and ids 8, index 4 or 0); per reference 4 + 4.
 */
struct hd_graph {
	uint32_t object_count, node_count;
	uint32_t type_count, root_count;
	uint64_t total_size; /**< bytes of all objects */
	uint64_t
		*ids; /**< node_count: ascending up to object_count, and again after it; or NULL: */
	struct graph_places places; /**< used instead of ids and index; then there are no missing
				     * nodes */
	/*
	 * For a heap these three are caches: types exist when its edges were made in any direction,
	 * and sizes when they were made forward.
	 */
	uint32_t *node_types;
	uint32_t *sizes;
	struct graph_large large;
	struct id_index index;
	struct csr forward; /**< for a heap a cache: see graph_forward() */
	struct csr reverse; /**< cache: see graph_reverse(); offsets is NULL until then */
	struct graph_type *types;
	struct graph_domains domains;
	struct graph_root *roots;
	struct graph_origins origins;
	struct graph_findings findings;
	struct graph_info info;
	struct arena *arena; /**< owns all names */
};

/** Is it the graph of a core or a process, and not of a dump file? */
static inline bool graph_is_heap(const struct hd_graph *graph)
{
	return graph->places.id != NULL;
}

/** Free everything; NULL is allowed. */
void graph_destroy(struct hd_graph *graph);

/** Hand over a graph that was made, or destroy it if making it has failed; @return @p status. */
static inline enum hd_status graph_hand_over(struct hd_graph *graph, enum hd_status status,
					     struct hd_graph **ret)
{
	if (status == HD_OK) {
		*ret = graph;
	} else {
		graph_destroy(graph);
	}
	return status;
}

/**
 * Free roots, details, threads, frames and root_arena, so that new ones of the same heap can be
 * set.
 */
void graph_clear_roots(struct hd_graph *graph);

/** Size of a node in bytes; 0 for a missing one.  O(1) below 4 GiB. */
uint64_t graph_size(const struct hd_graph *graph, uint32_t node);

/** Id of a node, which must be less than node_count. */
static inline uint64_t graph_id(const struct hd_graph *graph, uint32_t node)
{
	return graph->ids ? graph->ids[node] : graph->places.id(graph->places.arg, node);
}

/** Let places tell the generations of a dump file's nodes, if info has ranges. */
void graph_use_ranges(struct hd_graph *graph);

/** First object whose id is at least @p id; object_count when there is none. */
uint32_t graph_lower_bound(const struct hd_graph *graph, uint64_t id);

static inline bool graph_is_missing(const struct hd_graph *graph, uint32_t node)
{
	return node >= graph->object_count;
}

/**
 * The edges, graph->forward: dump files have them from the start, for a heap the first call makes
 * them.  Statuses as graph_reverse().
 */
HD_NODISCARD enum hd_status graph_forward(struct hd_graph *graph, struct job *job,
					  const struct csr **ret, struct hd_error *err);

/** Do they exist? */
static inline bool graph_has_forward(const struct hd_graph *graph)
{
	return graph->forward.offsets != NULL;
}

/**
 * The reverse edges, which the first call builds (sources ascend in each row).
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED a block of nodes has 2^32 edges or more
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status graph_reverse(struct hd_graph *graph, struct job *job,
					  const struct csr **ret, struct hd_error *err);
