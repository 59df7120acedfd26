/* SPDX-License-Identifier: MIT */
/* The readers of collections share this. */
#pragma once

#include "analysis/collections/collection.h"
#include "framework/collection_layout.h"
#include "inspect/value.h"

/** One pass over the items of a collection. */
struct collection_walk {
	struct heap *heap;
	struct members *members;
	struct job *job;                    /**< may be NULL */
	const struct item_visitor *visitor; /**< NULL: items are only counted */
	const char *within;                 /**< see struct collection_part */
	struct collection_facts facts;
	uint64_t bytes_left; /**< of the heap, for nodes and slots */
	uint64_t steps;      /**< nodes and slots so far */
	enum hd_status status;
	struct hd_error *err;
};

/** Begin a pass over no more nodes and slots than the heap has room for. */
void collection_walk_init(struct collection_walk *walk, struct heap *heap, struct members *members,
			  struct job *job);

/** The least bytes of a node. */
#define NODE_SIZE_MIN 16u

/**
 * Count a node or slot of @p bytes that is looked at; false: the pass ends, because there are more
 * than the heap has room for, or because it was cancelled.
 */
bool walk_step(struct collection_walk *walk, uint32_t bytes);
/** Give an item to the visitor; false: the pass ends. */
bool walk_item(struct collection_walk *walk, const struct collection_item *item);
/**
 * The same for the key and value that a node has in the fields @p key (NULL: it has none) and
 * @p value; false also when they cannot be read, which the walk then knows.
 */
bool walk_node(struct collection_walk *walk, const struct holder *node,
	       const struct item_fields *fields);
/** The collection cannot be read any further. */
void walk_broken(struct collection_walk *walk);
/** Does the pass end? */
bool walk_has_ended(const struct collection_walk *walk);
/** Add to what the collection says about itself. */
void walk_add_count(struct collection_walk *walk, uint64_t count);
void walk_add_capacity(struct collection_walk *walk, uint64_t capacity);

/** The object at @p address, with the fields of its own class; false: there is none. */
bool holder_at(struct collection_walk *walk, uint64_t address, struct holder *ret);
/** A field; @p path NULL: MEMBER_ABSENT. */
struct member holder_member(struct members *members, const struct holder *holder, const char *path);
/** The same by a row of the framework's facts: the heap's ledger notes what is not there. */
struct member holder_fact(struct members *members, const struct holder *holder, enum fact fact);
/** A field with a count, as it is; false when it is not there, or negative. */
bool holder_count(struct collection_walk *walk, const struct holder *holder, const char *path,
		  uint64_t *ret);
/** The same of a field that was read. */
bool member_count(const struct member *member, uint64_t *ret);
/**
 * The array that a field refers to; @p path NULL: the holder itself.  null is an array without
 * elements.  False when it cannot be read.
 */
bool holder_array(struct collection_walk *walk, const struct holder *holder, const char *path,
		  struct array_info *ret);
/** The same for a field that was read. */
bool member_array(struct collection_walk *walk, const struct member *member,
		  struct array_info *ret);

/** An element of an array; @p field not NULL: that field of the struct that it is. */
struct item_value element_value(struct collection_walk *walk, const struct array_info *array,
				uint64_t index, const char *field);
/** A field as a key or value; element_type 0 when it was not read. */
struct item_value member_value(const struct member *member);

/** Follows references from object to object; a circle ends it (Floyd). */
struct link_chain {
	const char *next; /**< the field that refers to the next one */
	uint64_t at, slow;
	uint64_t count; /**< objects so far */
	bool is_circle; /**< this was the last object that was not met before, or nearly so */
};

/** Begin with the object at @p first; 0: none. */
void link_chain_init(struct link_chain *chain, uint64_t first, const char *next);
/**
 * The object of this step; false after the last one, or when the chain is broken, which the walk
 * then knows.  The chain is at the next object when it returns.
 */
bool link_chain_next(struct collection_walk *walk, struct link_chain *chain, struct holder *ret);

/* The readers, by the shape of a layout. */
void walk_array(struct collection_walk *walk, const struct collection_part *part);
void walk_links(struct collection_walk *walk, const struct collection_part *part);
void walk_chains(struct collection_walk *walk, const struct collection_part *part);
void walk_tree(struct collection_walk *walk, const struct collection_part *part);
void walk_segments(struct collection_walk *walk, const struct collection_part *part);
void walk_rings(struct collection_walk *walk, const struct collection_part *part);
void walk_bag(struct collection_walk *walk, const struct collection_part *part);
void walk_weak_table(struct collection_walk *walk, const struct collection_part *part);

/** The segments of a ConcurrentQueue, of which the first one is at @p first (0: none). */
void walk_queue_segments(struct collection_walk *walk, uint64_t first);
