/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/string_table.h"
#include "graph/dominators.h"
#include "graph/heap_graph.h"

/** Branches below this depth are not distinguished. */
#define STACK_DEPTH_MAX 250u
/** Branches smaller than this part of all bytes are added up. */
#define STACK_SMALL_PART 10000u
/** Most branches, not counting those for the roots' names. */
#define STACK_BRANCHES_MAX 50000u

enum stack_level {
	STACK_ALL,  /**< not a frame: everything that is live */
	STACK_KIND, /**< roots of one kind */
	STACK_ROOT, /**< roots with one name */
	STACK_TYPE  /**< objects of one type */
};

/** The objects that are dominated along one path of names, counted. */
struct stack_branch {
	uint32_t parent; /**< HD_NONE: the first branch */
	uint32_t frame;  /**< number in dominator_stacks.frames */
	uint32_t first_child, child_count;
	uint32_t members; /**< first of the nodes that wait to be looked at, + 1 */
	uint16_t depth;
	uint8_t level;  /**< enum stack_level */
	bool is_run;    /**< objects of the type dominate other ones of it, which are also counted
			 * here */
	uint64_t total; /**< bytes, including all branches below */
	uint64_t self;  /**< bytes of the objects themselves */
	uint64_t other; /**< bytes below that have no branch of their own */
};

/**
 * The dominator tree with equal paths of type names merged, below the roots' kinds and names.  The
 * sum of self and other of all branches is the size of all live objects.
 */
struct dominator_stacks {
	struct string_table frames;
	struct stack_branch *branches; /**< parents before children, siblings next to each other */
	size_t branches_count, branches_capacity;
	uint32_t other_frame; /**< "(other)" */
	uint64_t size;        /**< live bytes */
};

/**
 * Merge them level by level, in O(nodes). 8 bytes per node while it runs.
 *
 * @param[out] ret To be given to dominator_stacks_deinit(), also on failure.
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

/** The branch after @p branch in preorder, or HD_NONE; 0 is the first. */
uint32_t dominator_stacks_next(const struct dominator_stacks *stacks, uint32_t branch);

/**
 * The branches on the path to @p branch, without the first one; @return how many, at most
 * STACK_DEPTH_MAX.
 */
uint32_t dominator_stacks_path(const struct dominator_stacks *stacks, uint32_t branch,
			       uint32_t path[STACK_DEPTH_MAX]);
