/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/graph/gcroot.h"
#include "analysis/graph/type_tree.h"

/**
 * Merge the paths from all strong roots to one object: by the name of the root, then link by link by field and type.
 * Counts and sizes of the branches are numbers of roots; the branches with most roots are opened first.  Where a path
 * comes to a type by a link as it did before, what is between is left out, and the branch repeats.
 *
 * @param[in] gcroot Without older objects (gcroot_options.is_young).
 * @param limit Branches to open.
 * @param[out] ret To be given to type_tree_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: for each branch that is opened, the links that its paths have left at the most; usually one for each root.
 */
HD_NODISCARD enum hd_status root_tree_init(const struct hd_graph *graph,
					   const struct gcroot *gcroot, uint64_t limit,
					   struct job *job, struct type_tree *ret,
					   struct hd_error *err);
