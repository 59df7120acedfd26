/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_LINK_NAMES_H
#define HEAPDUMP_SRC_ANALYSIS_LINK_NAMES_H

#include "analysis/graph/hash_index.h"
#include "graph/heap_graph.h"
#include "util/text.h"

/** The name "" of what is not known. */
#define LINK_NONE 0u

/** Names of links and roots as numbers: equal ones are one.  Elements of arrays are all "[]". */
struct link_names {
	const struct hd_graph *graph;
	struct text text; /**< all names, NUL behind each */
	size_t *names;    /**< where in text each is */
	size_t names_count, names_capacity;
	struct hash_index index;
	struct text scratch;
};

/** @retval HD_OK  @retval HD_ERR_NOMEM */
HD_NODISCARD enum hd_status link_names_init(struct link_names *names, const struct hd_graph *graph,
					    struct hd_error *err);
void link_names_deinit(struct link_names *names);

/** Text of a name; good until the next is added. */
static inline const char *link_name(const struct link_names *names, uint32_t name)
{
	return names->text.bytes + names->names[name];
}

/** The number of @p text; NULL is "". */
HD_NODISCARD enum hd_status link_names_add(struct link_names *names, const char *text,
					   uint32_t *ret, struct hd_error *err);

/** An object that a link leads to, and the link's name. */
struct named_link {
	uint32_t node;
	uint32_t name;
};

/** Name the link from @p from to @p to.  Cost: the references of @p from; none of the graph's are needed. */
HD_NODISCARD enum hd_status link_names_one(struct link_names *names, uint32_t from, uint32_t to,
					   uint32_t *ret, struct hd_error *err);

/**
 * Name the links from @p from to each of @p links, which get into another order.  Of an object with
 * many references only some links to each type are looked at: where these have one name all have;
 * else those of an array are "[]".
 */
HD_NODISCARD enum hd_status link_names_of(struct link_names *names, uint32_t from,
					  struct named_link *links, size_t count,
					  struct hd_error *err);

#endif
