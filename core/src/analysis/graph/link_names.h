/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/graph/hash_index.h"
#include "graph/heap_graph.h"
#include "util/text.h"

/** The number of the name "": the name is not known. */
#define LINK_NONE 0u

/**
 * Names of links and roots as numbers: equal names have one number.  All elements of arrays are
 * "[]".
 */
struct link_names {
	const struct hd_graph *graph;
	struct text text; /**< all names, with a NUL after each */
	size_t *names;    /**< where in text each name begins */
	size_t names_count, names_capacity;
	struct hash_index index;
	struct text scratch;
	uint64_t work; /**< references looked at for the links of one object */
};

/** @retval HD_OK  @retval HD_ERR_NOMEM */
HD_NODISCARD enum hd_status link_names_init(struct link_names *names, const struct hd_graph *graph,
					    struct hd_error *err);
void link_names_deinit(struct link_names *names);

/** Text of a name; valid until the next name is added. */
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
 * Name the links from @p from to each of @p links, which change their order.  If an object has many
 * references, only some links to each type are looked at: if these all have one name, all others
 * get it; else the links of an array are "[]".
 */
HD_NODISCARD enum hd_status link_names_of(struct link_names *names, uint32_t from,
					  struct named_link *links, size_t count,
					  struct hd_error *err);
