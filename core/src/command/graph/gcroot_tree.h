/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/graph/filter.h"
#include "analysis/graph/gcroot.h"
#include "command/call.h"

/** The options of gcroot -type and -mt. */
struct gcroot_tree_options {
	struct filter filter; /**< type_part, mt */
	bool no_stacks;
	uint64_t limit;
};

/** Answer with the merged paths to all objects of some types. */
HD_NODISCARD enum hd_status gcroot_tree_write(struct call *call,
					      const struct gcroot_tree_options *options);

/** Write the paths from all strong roots to one object, merged; as text, and without older objects. */
HD_NODISCARD enum hd_status gcroot_merged_write(struct call *call, const struct gcroot *gcroot);
