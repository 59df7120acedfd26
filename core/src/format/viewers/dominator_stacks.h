/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_DOMINATOR_STACKS_H
#define HEAPDUMP_SRC_FORMAT_DOMINATOR_STACKS_H

#include "format/string_table.h"
#include "graph/dominators.h"
#include "graph/heap_graph.h"

/** Branches below this depth are not told apart. */
#define STACK_DEPTH_MAX 250u
/** A branch smaller than this part of all bytes is not told apart from others like it. */
#define STACK_SMALL_PART 10000u
/** There are never more branches, but for those of the roots' names. */
#define STACK_BRANCHES_MAX 50000u

enum stack_level {
	STACK_ALL,  /**< no frame: all that is live */
	STACK_KIND, /**< roots of a kind */
	STACK_ROOT, /**< roots of a name */
	STACK_TYPE  /**< objects of a type */
};

/** What is dominated along one path of names. */
struct stack_branch {
	uint32_t parent; /**< HD_NONE: the first branch */
	uint32_t frame;  /**< number in dominator_stacks.frames */
	uint32_t first_child, child_count;
	uint32_t members; /**< nodes to be looked at: the first, + 1 */
	uint16_t depth;
	uint8_t level;  /**< enum stack_level */
	bool is_run;    /**< objects of the type dominate others of it, which are here as well */
	uint64_t total; /**< bytes, of all branches below as well */
	uint64_t self;  /**< of the objects themselves */
	uint64_t other; /**< of what is below and not told apart */
};

/**
 * The dominator tree with equal paths of type names merged, below the roots' kinds and names.  The
 * sum of self and other of all branches is the size of all live objects.
 */
struct dominator_stacks {
	struct string_table frames;
	struct stack_branch *branches; /**< parents before children, siblings side by side */
	size_t branches_count, branches_capacity;
	uint32_t other_frame; /**< "(other)" */
	uint64_t size;        /**< live bytes */
};

/**
 * Merge: O(nodes), level by level.  8 bytes per node while it runs.
 *
 * @param[out] ret To be given to dominator_stacks_deinit(), on failure as well.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status dominator_stacks_init(struct dominator_stacks *ret,
						  const struct hd_graph *graph,
						  const struct dominators *dominators,
						  struct job *job, struct hd_error *err);
/** A zeroed struct is allowed. */
void dominator_stacks_deinit(struct dominator_stacks *stacks);

/** The branch behind @p branch in preorder, where 0 is the first, or HD_NONE. */
uint32_t dominator_stacks_next(const struct dominator_stacks *stacks, uint32_t branch);

/** Branches from below the first one to @p branch; @return how many, at most STACK_DEPTH_MAX. */
uint32_t dominator_stacks_path(const struct dominator_stacks *stacks, uint32_t branch,
			       uint32_t path[STACK_DEPTH_MAX]);

#endif
