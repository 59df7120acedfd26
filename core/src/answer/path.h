/* SPDX-License-Identifier: MIT */
/* Paths of references between objects. */
#pragma once

#include "analysis/graph/path_tree.h"
#include "answer/answering.h"
#include "util/job.h"

/** A run of this many objects of one type, or more, is folded. */
#define FOLD_RUN_MIN 5u
/** How many elements a path of more than 200 links shows, at its beginning and at its end. */
#define FOLD_ENDS 100u
#define FOLD_TAIL 101u

/** Options for writing the paths of one answer. */
struct path_report {
	const struct hd_graph *graph;
	struct answer *answer;
	struct job *job;
	bool full;       /**< fold nothing */
	uint64_t *shown; /**< bitmap of the nodes shown so far, at which later paths end; or NULL */
};

/** "path": its objects, and what is folded between them. */
extern const struct schema path_schema;

/** Write a link, ".field" or "[3].field", with the names that its fields have in the code: data has those of metadata. */
void link_put(struct out *out, const struct cell *link);

/**
 * Write the path from @p node, which must reach the tree's target, to it: the rows of a table of
 * path_schema that is begun.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status path_write(struct path_report *report, const struct path_tree *tree,
				       uint32_t node, struct hd_error *err);
